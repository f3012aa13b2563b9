# SPDX-License-Identifier: Apache-2.0
# Quartus: names hold the entity, so this holds for every instance of sync_reset

# The reset comes at any time; only its release is synchronized, by the stages themselves.
set_false_path -to [get_pins -compatibility_mode {*|sync_reset:*|meta_nq[*]|clrn}]
set_false_path -to [get_pins -compatibility_mode {*|sync_reset:*|rst_nq|clrn}]
