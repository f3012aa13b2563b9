# SPDX-License-Identifier: Apache-2.0
# Vivado, scoped to each instance: read_xdc -unmanaged -ref gray_counter gray_counter.xdc

# The count: one bit at a time, so all bits within a period of the faster clock.
set from [get_cells {gray_q_reg[*]}]
set to [get_cells {sync_q_reg[0][*]}]
set periods [concat \
    [get_property PERIOD [get_clocks -of_objects $from]] \
    [get_property PERIOD [get_clocks -of_objects $to]]]
set period [lindex [lsort -real $periods] 0]
set_max_delay -datapath_only -from $from -to $to $period
set_bus_skew -from $from -to $to $period
