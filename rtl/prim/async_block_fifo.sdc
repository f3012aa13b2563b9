# SPDX-License-Identifier: Apache-2.0
# Quartus: names hold the entity, so this holds for every instance of async_block_fifo

# Write pointer to the reader: one bit at a time, so all bits within a period of the faster clock
# (here 3.2 ns, 312.5 MHz: a slower design may say more).
set_max_skew -from [get_registers {*|async_block_fifo:*|wgray_q[*]}] \
    -to [get_registers {*|async_block_fifo:*|rsync_q[0][*]}] 3.2
set_net_delay -max 3.2 -from [get_registers {*|async_block_fifo:*|wgray_q[*]}] \
    -to [get_registers {*|async_block_fifo:*|rsync_q[0][*]}]
set_false_path -from [get_registers {*|async_block_fifo:*|wgray_q[*]}] \
    -to [get_registers {*|async_block_fifo:*|rsync_q[0][*]}]

# Read pointer to the writer: one bit at a time, so all bits within a period of the faster clock
# (here 3.2 ns, 312.5 MHz: a slower design may say more).
set_max_skew -from [get_registers {*|async_block_fifo:*|rgray_q[*]}] \
    -to [get_registers {*|async_block_fifo:*|wsync_q[0][*]}] 3.2
set_net_delay -max 3.2 -from [get_registers {*|async_block_fifo:*|rgray_q[*]}] \
    -to [get_registers {*|async_block_fifo:*|wsync_q[0][*]}]
set_false_path -from [get_registers {*|async_block_fifo:*|rgray_q[*]}] \
    -to [get_registers {*|async_block_fifo:*|wsync_q[0][*]}]
