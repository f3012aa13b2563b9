# SPDX-License-Identifier: Apache-2.0
# Quartus: names hold the entity, so this holds for every instance of link_elastic

# Write pointer to the reader: one bit at a time, so all bits within a period of the faster clock
# (here 3.2 ns, 312.5 MHz: a slower design may say more).
set_max_skew -from [get_registers {*|link_elastic:*|wgray_q[*]}] \
    -to [get_registers {*|link_elastic:*|rsync_q[0][*]}] 3.2
set_net_delay -max 3.2 -from [get_registers {*|link_elastic:*|wgray_q[*]}] \
    -to [get_registers {*|link_elastic:*|rsync_q[0][*]}]
set_false_path -from [get_registers {*|link_elastic:*|wgray_q[*]}] \
    -to [get_registers {*|link_elastic:*|rsync_q[0][*]}]

# Read pointer to the writer: one bit at a time, so all bits within a period of the faster clock
# (here 3.2 ns, 312.5 MHz: a slower design may say more).
set_max_skew -from [get_registers {*|link_elastic:*|rgray_q[*]}] \
    -to [get_registers {*|link_elastic:*|wsync_q[0][*]}] 3.2
set_net_delay -max 3.2 -from [get_registers {*|link_elastic:*|rgray_q[*]}] \
    -to [get_registers {*|link_elastic:*|wsync_q[0][*]}]
set_false_path -from [get_registers {*|link_elastic:*|rgray_q[*]}] \
    -to [get_registers {*|link_elastic:*|wsync_q[0][*]}]

# A word is read asynchronously, two read periods or more behind the pointer that says that it is
# there (here of 78.125 MHz, a word of 2.5 Gbit/s).
set_max_delay -from [get_registers {*|link_elastic:*|mem_q*}] 25.6
