// SPDX-License-Identifier: SHL-2.1
/// Etherbone slave: the engine behind a bounded bus. The complete core on 32-bit word streams.
///
/// Contract: that of etherbone_core; in addition no slave can hang the stream: a bus that does not
/// answer for Timeout clocks times out. The rest of that bus cycle, up to its record with the CYC
/// flag or the end of its frame, gets err at one operation a clock (see wb_timeout).
///
///   Latency     first word in to first word out: 1. Last word in to last word out: 2 + slave
///               latency
///   Parameters  those of etherbone_core; Timeout 16..2^24 clocks
module etherbone_slave
  import etherbone_pkg::*;
#(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 32,
  parameter bit Stream = 1'b0,
  parameter admission_e Admission = ReadsEarly,
  parameter int unsigned Timeout = 6_250_000
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             rx_valid_i,  // rx_*: words of requests, held until rx_ready_o
  output logic             rx_ready_o,
  input  logic [Width-1:0] rx_data_i,  // big-endian: the first byte is the highest
  input  logic             rx_last_i,  // the frame's last word
  input  logic             rx_verified_i,  // the word's frame has passed all its checks
  input  logic             rx_open_i,  // level: a word was taken of a frame whose checks are open
  input  logic             rx_abort_i,  // strobe: that frame failed; no further word of it comes

  output logic             tx_valid_o,  // tx_*: words of replies, held until tx_ready_i
  input  logic             tx_ready_i,
  output logic [Width-1:0] tx_data_o,    // big-endian; a word for each of the request
  output logic             tx_end_o,     // the beat behind a frame's last word, without data
  output logic             tx_commit_o,  // with tx_end_o: the frame's words are a reply to send

  output logic               wb_cyc_o,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb & ~stall
  output logic               wb_stb_o,  // with cyc: an operation, held while wb_stall_i
  output logic               wb_we_o,  // of the operation: a write
  output logic [  Width-1:0] wb_adr_o,  // of a byte
  output logic [Width/8-1:0] wb_sel_o,  // bit n: byte in bits 8n+7:8n
  output logic [  Width-1:0] wb_dat_o,  // of a write
  input  logic               wb_stall_i,  // the operation is not taken in this cycle
  input  logic               wb_ack_i,  // done; one ack or err for each operation, in order
  input  logic               wb_err_i,  // instead of wb_ack_i: failed, for the error register
  input  logic [  Width-1:0] wb_dat_i,  // of a read, with wb_ack_i

  input logic [31:0] sdb_address_i,  // bus address of the SDB table; constant
  input logic [47:0] own_mac_i,      // MAC address, its first byte in 47:40; 0: no Ethernet
  input logic [31:0] own_ip_i,       // the same
  input logic [15:0] own_port_i,     // UDP port; 0: no UDP

  output logic frame_done_o,  // strobe: a frame has ended
  output logic malformed_o,   // strobe: a frame was no Etherbone
  output logic record_o,      // strobe: a record was executed
  output logic operation_o,   // strobe: an operation goes to the bus in the next cycle
  output logic bus_error_o,   // strobe: an operation was answered err
  output logic timeout_o,     // strobe: the bus did not answer for Timeout clocks
  output logic idle_o         // level: nothing changes until an input does
);
  logic cyc, stb, we, stall, ack, err;
  logic [Width-1:0] adr, dat_w, dat_r;
  logic [Width/8-1:0] sel;

  etherbone_core #(
    .Width(Width),
    .Depth(Depth),
    .Stream(Stream),
    .Admission(Admission)
  ) u_core (
    .clk_i,
    .rst_ni,
    .rx_valid_i,
    .rx_ready_o,
    .rx_data_i,
    .rx_last_i,
    .rx_verified_i,
    .rx_open_i,
    .rx_abort_i,
    .tx_valid_o,
    .tx_ready_i,
    .tx_data_o,
    .tx_end_o,
    .tx_commit_o,
    .wb_cyc_o  (cyc),
    .wb_stb_o  (stb),
    .wb_we_o   (we),
    .wb_adr_o  (adr),
    .wb_sel_o  (sel),
    .wb_dat_o  (dat_w),
    .wb_stall_i(stall),
    .wb_ack_i  (ack),
    .wb_err_i  (err),
    .wb_dat_i  (dat_r),
    .sdb_address_i,
    .own_mac_i,
    .own_ip_i,
    .own_port_i,
    .frame_done_o,
    .malformed_o,
    .record_o,
    .operation_o,
    .bus_error_o,
    .idle_o
  );

  wb_timeout #(
    .MaxOutstanding(Depth),
    .Timeout(Timeout),
    .AdrWidth(Width),
    .DatWidth(Width)
  ) u_timeout (
    .clk_i,
    .rst_ni,
    .m_cyc_i  (cyc),
    .m_stb_i  (stb),
    .m_we_i   (we),
    .m_adr_i  (adr),
    .m_sel_i  (sel),
    .m_dat_i  (dat_w),
    .m_stall_o(stall),
    .m_ack_o  (ack),
    .m_err_o  (err),
    .m_dat_o  (dat_r),
    .s_cyc_o  (wb_cyc_o),
    .s_stb_o  (wb_stb_o),
    .s_we_o   (wb_we_o),
    .s_adr_o  (wb_adr_o),
    .s_sel_o  (wb_sel_o),
    .s_dat_o  (wb_dat_o),
    .s_stall_i(wb_stall_i),
    .s_ack_i  (wb_ack_i),
    .s_err_i  (wb_err_i),
    .s_dat_i  (wb_dat_i),
    .timeout_o
  );
endmodule
