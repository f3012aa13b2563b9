// SPDX-License-Identifier: SHL-2.1
/// Probe points of an FPGA that reads and writes host memory by DMA over PCIe.
package ccix_dma_fpga_pkg;
  /// In the order of the bits of `probe_o`. The tag is the task's at the ends.
  typedef enum logic [1:0] {
    Taken,  // a descriptor is taken
    Asked,  // a read burst's address is taken by the hard block
    Posted, // a write burst's last beat is
    Done    // the task's end
  } probe_e;
  localparam int unsigned NumProbes = 4;
endpackage
