# SPDX-License-Identifier: Apache-2.0
# Vivado, scoped to each instance: read_xdc -unmanaged -ref fx2_stream fx2_stream.xdc

# The service is there: any time will do, the stages behind resolve it.
set_false_path -to [get_cells {live_sync_q_reg[0]}]

# The service is busy: any time will do, the stages behind resolve it.
set_false_path -to [get_cells {busy_sync_q_reg[0]}]

# The host has opened: any time will do, the stages behind resolve it.
set_false_path -to [get_cells {open_q_reg[0]}]

# A packet was dropped: any time will do, the stages behind resolve it.
set_false_path -to [get_cells {stale_sync_q_reg[0]}]

# A packet has ended: any time will do, the stages behind resolve it.
set_false_path -to [get_cells {end_sync_q_reg[0]}]
