// SPDX-License-Identifier: SHL-2.1
/// What an RDMA network interface takes from and gives to its registers (rtl/regs/rdma.rdl).
// verilator lint_off UNUSEDPARAM
package rdma_ctrl_pkg;
  typedef struct packed {
    logic        enable;
    logic        bench;
    logic [3:0]  links;
    logic [6:0]  host;
    logic [7:0]  session;
    logic [31:0] probe_cycles;
    logic [31:0] lost_cycles;
    logic [63:0] err_base;
    logic [3:0]  err_size;
    logic [15:0] err_tail;
  } control_t;

  // 32 bits, wrapping.
  typedef struct packed {
    logic [31:0] granted;
    logic [31:0] packets_sent;
    logic [31:0] packets_taken;
    logic [31:0] packets_refused;
    logic [31:0] packets_known;
    logic [31:0] packets_stray;
    logic [31:0] packets_retired;
    logic [31:0] packets_lost;
    logic [31:0] sessions_opened;
    logic [31:0] sessions_failed;
    logic [31:0] probes;
    logic [31:0] posts_bad;
    logic [31:0] write_errors;
    logic [31:0] records_lost;
  } counters_t;

  typedef struct packed {
    logic             running;
    logic             ready;
    logic [3:0]       up;
    logic [7:0]       irq;           // strobes
    counters_t        counters;
    logic [3:0][15:0] link_bad;
    logic [3:0][15:0] link_invalid;
  } state_t;
endpackage
// verilator lint_on UNUSEDPARAM
