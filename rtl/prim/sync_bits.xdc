# SPDX-License-Identifier: Apache-2.0
# Vivado, scoped to each instance: read_xdc -unmanaged -ref sync_bits sync_bits.xdc

# Bits of another clock: any time will do, the stages behind resolve it.
set_false_path -to [get_cells {sync_q_reg[0][*]}]
