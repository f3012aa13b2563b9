# SPDX-License-Identifier: Apache-2.0
# Vivado, scoped to each instance: read_xdc -unmanaged -ref async_fifo async_fifo.xdc

# Write pointer to the reader: one bit at a time, so all bits within a period of the faster clock.
set from [get_cells {wgray_q_reg[*]}]
set to [get_cells {rsync_q_reg[0][*]}]
set periods [concat \
    [get_property PERIOD [get_clocks -of_objects $from]] \
    [get_property PERIOD [get_clocks -of_objects $to]]]
set period [lindex [lsort -real $periods] 0]
set_max_delay -datapath_only -from $from -to $to $period
set_bus_skew -from $from -to $to $period

# Read pointer to the writer: one bit at a time, so all bits within a period of the faster clock.
set from [get_cells {rgray_q_reg[*]}]
set to [get_cells {wsync_q_reg[0][*]}]
set periods [concat \
    [get_property PERIOD [get_clocks -of_objects $from]] \
    [get_property PERIOD [get_clocks -of_objects $to]]]
set period [lindex [lsort -real $periods] 0]
set_max_delay -datapath_only -from $from -to $to $period
set_bus_skew -from $from -to $to $period

# A word is read asynchronously, SyncStages read periods behind the pointer that says that it is
# there. With EarlyPointer it enters the memory a write period later, which is at most 1.25 read
# periods.
set read [get_property PERIOD [get_clocks -of_objects [get_cells {rsync_q_reg[0][0]}]]]
set stages [llength [get_cells {rsync_q_reg[*][0]}]]
if {[llength [get_cells -quiet {gen_early.wen_q_reg}]]} {
  set stages [expr {$stages - 1.25}]
}
set_max_delay -datapath_only -from [get_cells -hierarchical -filter {NAME =~ *mem_q_reg*}] \
    [expr {$stages * $read}]
