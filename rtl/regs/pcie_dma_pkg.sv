// SPDX-License-Identifier: SHL-2.1
/// What the stream DMA engine takes from and gives to its registers (rtl/regs/pcie_dma.rdl).
// verilator lint_off UNUSEDPARAM
package pcie_dma_pkg;
  typedef struct packed {
    logic        enable;
    logic        irq;
    logic [63:0] req_base;
    logic [4:0]  req_size;       // logarithm to base 2 of bytes
    logic [63:0] rep_base;
    logic [4:0]  rep_size;
    logic [63:0] status;
    logic [31:0] tail;           // with a strobe in the clock in which it is new
    logic        tail_new;
    logic [31:0] consumed;
    logic        consumed_new;
  } control_t;

  typedef struct packed {
    logic config_bad;
    logic tail_bad;
    logic consumed_bad;
    logic push_refused;
    logic read_response;
    logic write_response;
  } errors_t;

  typedef struct packed {
    logic [31:0] ring_words;
    logic [31:0] push_words;
    logic [31:0] reply_words;
    logic [31:0] read_bursts;
    logic [31:0] write_bursts;
    logic [31:0] status_writes;
    logic [31:0] push_refused;
    logic [31:0] axi_errors;
  } counters_t;

  typedef struct packed {
    logic        running;
    logic        draining;
    errors_t     errors;         // strobes
    logic [31:0] head;           // of the request ring
    logic [31:0] tail;           // of the reply ring
    counters_t   counters;
  } state_t;
  /// Counters of an Etherbone service.
  typedef struct packed {
    logic [31:0] records;
    logic [31:0] bus_errors;
    logic [31:0] timeouts;
    logic [31:0] malformed;
  } service_t;
endpackage
// verilator lint_on UNUSEDPARAM
