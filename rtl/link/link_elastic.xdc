# SPDX-License-Identifier: Apache-2.0
# Vivado, scoped to each instance: read_xdc -unmanaged -ref link_elastic link_elastic.xdc

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
# there.
set read [get_property PERIOD [get_clocks -of_objects [get_cells {rsync_q_reg[0][0]}]]]
set stages [llength [get_cells {rsync_q_reg[*][0]}]]
set_max_delay -datapath_only -from [get_cells -hierarchical -filter {NAME =~ *mem_q_reg*}] \
    [expr {$stages * $read}]
