// SPDX-License-Identifier: SHL-2.1
/// Types of AXI4 that do not depend on the width of the bus, and the bus of a BAR.
///
/// Fields have the names of the ports that a board top flattens them to, and their order: a top
/// concatenates its ports. A signal of the request goes from master to slave.
// verilator lint_off UNUSEDPARAM
package axi_pkg;
  localparam logic [1:0] BurstIncr = 2'b01;

  /// A read's or a write's address channel, less its ID and handshake.
  typedef struct packed {
    logic [63:0] addr;   // aligned to the bus
    logic [7:0]  len;    // beats less one
    logic [2:0]  size;   // logarithm of a beat's bytes
    logic [1:0]  burst;
  } address_t;

  /// A master of one ID, less its data and strobes.
  typedef struct packed {
    logic     awvalid;
    address_t aw;
    logic     wvalid;
    logic     wlast;
    logic     bready;
    logic     arvalid;
    address_t ar;
    logic     rready;
  } request_t;
  typedef struct packed {
    logic       awready;
    logic       wready;
    logic       bvalid;
    logic [1:0] bresp;
    logic       arready;
    logic       rvalid;
    logic [1:0] rresp;
    logic       rlast;
  } response_t;

  /// A host's accesses to a BAR: 64 bits, bursts of kind INCR; a device looks at the low bits of
  /// the addresses that its BAR has.
  typedef struct packed {
    logic        awvalid;
    logic [3:0]  awid;
    logic [31:0] awaddr;
    logic [2:0]  awsize;
    logic        wvalid;
    logic [63:0] wdata;
    logic [7:0]  wstrb;
    logic        wlast;
    logic        bready;
    logic        arvalid;
    logic [3:0]  arid;
    logic [31:0] araddr;
    logic [7:0]  arlen;
    logic [2:0]  arsize;
    logic        rready;
  } bar_request_t;
  typedef struct packed {
    logic        awready;
    logic        wready;
    logic        bvalid;
    logic [3:0]  bid;
    logic [1:0]  bresp;
    logic        arready;
    logic        rvalid;
    logic [3:0]  rid;
    logic [63:0] rdata;
    logic [1:0]  rresp;
    logic        rlast;
  } bar_response_t;
endpackage
// verilator lint_on UNUSEDPARAM
