# SPDX-License-Identifier: Apache-2.0
# Vivado, scoped to each instance: read_xdc -unmanaged -ref sync_reset sync_reset.xdc

# The reset comes at any time; only its release is synchronized, by the stages themselves.
set_false_path -to [get_pins -filter {REF_PIN_NAME == CLR || REF_PIN_NAME == PRE} -of_objects \
    [get_cells {meta_nq_reg[*] rst_nq_reg}]]
