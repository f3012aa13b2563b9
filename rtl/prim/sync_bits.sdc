# SPDX-License-Identifier: Apache-2.0
# Quartus: names hold the entity, so this holds for every instance of sync_bits

# Bits of another clock: any time will do, the stages behind resolve it.
set_false_path -to [get_registers {*|sync_bits:*|sync_q[0][*]}]
