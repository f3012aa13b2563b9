// SPDX-License-Identifier: SHL-2.1
/// What a Gigabit Ethernet device gives to and takes from its control registers.
// verilator lint_off UNUSEDPARAM
package gige_ctrl_pkg;
  localparam int unsigned NumAllow = 4;

  /// Statistics, each a counter that wraps; names and order are those of rtl/regs/gige_ctrl.rdl.
  typedef struct packed {
    logic [31:0] rx_good;
    logic [31:0] drop_fcs;
    logic [31:0] drop_size;
    logic [31:0] drop_mac;
    logic [31:0] drop_ip;
    logic [31:0] drop_udp;
    logic [31:0] drop_port;
    logic [31:0] drop_denied;
    logic [31:0] drop_refused;
    logic [31:0] drop_align;
    logic [31:0] drop_overflow;
    logic [31:0] drop_malformed;
    logic [31:0] arp_replies;
    logic [31:0] icmp_replies;
    logic [31:0] tx_frames;
    logic [31:0] eb_records;
    logic [31:0] eb_bus_errors;
    logic [31:0] eb_timeouts;
    logic [31:0] drop_broadcast;
  } stats_t;

  /// A sender passes when an enabled entry has (sender & mask) == (ip & mask).
  typedef struct packed {
    logic        enable;
    logic [31:0] ip;
    logic [31:0] mask;
  } allow_t;
endpackage
// verilator lint_on UNUSEDPARAM
