# SPDX-License-Identifier: Apache-2.0
# Quartus: names hold the entity, so this holds for every instance of fx2_stream

# The service is there: any time will do, the stages behind resolve it.
set_false_path -to [get_registers {*|fx2_stream:*|live_sync_q[0]}]

# The service is busy: any time will do, the stages behind resolve it.
set_false_path -to [get_registers {*|fx2_stream:*|busy_sync_q[0]}]

# The host has opened: any time will do, the stages behind resolve it.
set_false_path -to [get_registers {*|fx2_stream:*|open_q[0]}]

# A packet was dropped: any time will do, the stages behind resolve it.
set_false_path -to [get_registers {*|fx2_stream:*|stale_sync_q[0]}]

# A packet has ended: any time will do, the stages behind resolve it.
set_false_path -to [get_registers {*|fx2_stream:*|end_sync_q[0]}]
