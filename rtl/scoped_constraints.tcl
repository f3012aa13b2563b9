# SPDX-License-Identifier: Apache-2.0
# Vivado, sourced in the build folder of FuseSoC: each NAME.xdc constrains every instance of the module NAME.
foreach file [lsort [glob -nocomplain src/*/*.xdc]] {
    read_xdc -unmanaged -ref [file rootname [file tail $file]] $file
}
