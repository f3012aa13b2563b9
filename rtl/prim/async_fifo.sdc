# SPDX-License-Identifier: Apache-2.0
# Quartus: names hold the entity, so this holds for every instance of async_fifo

# Write pointer to the reader: one bit at a time, so all bits within a period of the faster clock
# (here 3.2 ns, 312.5 MHz: a slower design may say more).
set_max_skew -from [get_registers {*|async_fifo:*|wgray_q[*]}] \
    -to [get_registers {*|async_fifo:*|rsync_q[0][*]}] 3.2
set_net_delay -max 3.2 -from [get_registers {*|async_fifo:*|wgray_q[*]}] \
    -to [get_registers {*|async_fifo:*|rsync_q[0][*]}]
set_false_path -from [get_registers {*|async_fifo:*|wgray_q[*]}] \
    -to [get_registers {*|async_fifo:*|rsync_q[0][*]}]

# Read pointer to the writer: one bit at a time, so all bits within a period of the faster clock
# (here 3.2 ns, 312.5 MHz: a slower design may say more).
set_max_skew -from [get_registers {*|async_fifo:*|rgray_q[*]}] \
    -to [get_registers {*|async_fifo:*|wsync_q[0][*]}] 3.2
set_net_delay -max 3.2 -from [get_registers {*|async_fifo:*|rgray_q[*]}] \
    -to [get_registers {*|async_fifo:*|wsync_q[0][*]}]
set_false_path -from [get_registers {*|async_fifo:*|rgray_q[*]}] \
    -to [get_registers {*|async_fifo:*|wsync_q[0][*]}]

# A word is read asynchronously, SyncStages read periods behind the pointer that says that it is
# there. With EarlyPointer it enters the memory a write period later, which is at most 1.25 read
# periods: 0.75 are left of two. Here 0.75 periods of 125 MHz; a faster reader says less.
set_max_delay -from [get_registers {*|async_fifo:*|mem_q*}] 6.0
