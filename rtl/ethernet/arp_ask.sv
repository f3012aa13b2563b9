// SPDX-License-Identifier: SHL-2.1
/// Asks for the MAC address of a station by ARP: the request's changing bytes, and its reply.
///
///   Handshake   ask_i and ask_ready_o valid/ready: the next one is taken when the request before
///               has been sent, and replaces it. pending_o is a level until done_i, and begins only
///               while busy_i is low: then the frame that eth_tx sends is this one. answer_o is a
///               strobe
///   Ordering    one answer a request at most: a second reply, or one that was not asked for, is
///               not taken
///   Checks      Ethernet and IPv4 ARP, a reply, from the address that was asked for, to ours, in a
///               frame to us that was received whole
///   Latency     ask taken to pending_o 1 cycle; verdict to answer 1
///   Parameters  none
///   Not done    retries, timeouts, a cache: those are the program's
module arp_ask
  import arp_pkg::*;
  import eth_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [31:0]  cfg_ip_i,

  input  ask_t         ask_i,
  output logic         ask_ready_o,
  output answer_t      answer_o,

  // As eth_rx
  input  byte_t        byte_i,
  input  logic         verdict_valid_i,
  input  eth_verdict_e verdict_i,

  // The request, beside the replies that eth_rx asks for
  input  logic         busy_i,      // a reply waits or is sent
  output logic         pending_o,
  input  logic         done_i,
  input  logic [3:0]   addr_i,      // as eth_tx; its byte is there in the next cycle
  output logic         select_o,    // and is used instead of the reply's
  output logic [7:0]   data_o,

  output logic         idle_o
);
  // ---------------------------------------------------------------- request
  logic wanted_q, asked_q, take, answered;
  logic [31:0] ip_q;

  assign ask_ready_o = !wanted_q && !pending_o;
  assign take        = ask_i.valid && ask_ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wanted_q  <= 1'b0;
      pending_o <= 1'b0;
      select_o  <= 1'b0;
    end else begin
      if (take) wanted_q <= 1'b1;
      else if (!busy_i) wanted_q <= 1'b0;
      if (wanted_q && !busy_i) pending_o <= 1'b1;
      else if (done_i) pending_o <= 1'b0;
      select_o <= pending_o;
    end
  end

  // To all stations; what a request has for the address that it asks for says nothing.
  always_ff @(posedge clk_i) begin
    if (take) ip_q <= ask_i.ip;
    unique case (addr_i)
      4'd12:   data_o <= ip_q[31:24];
      4'd13:   data_o <= ip_q[23:16];
      4'd14:   data_o <= ip_q[15:8];
      4'd15:   data_o <= ip_q[7:0];
      default: data_o <= 8'hFF;
    endcase
  end

  // ---------------------------------------------------------------- reply
  logic match_q, fixed;
  byte_t byte_q;
  logic [7:0] expected;
  logic [47:0] mac_q;

  always_comb begin
    fixed    = 1'b1;
    expected = 8'h00;
    unique case (byte_q.pos)
      11'd12:  expected = 8'h08;         // ARP
      11'd13:  expected = 8'h06;
      11'd14:  expected = 8'h00;         // Ethernet
      11'd15:  expected = 8'h01;
      11'd16:  expected = 8'h08;         // IPv4
      11'd17:  expected = 8'h00;
      11'd18:  expected = 8'h06;
      11'd19:  expected = 8'h04;
      11'd20:  expected = 8'h00;         // a reply
      11'd21:  expected = 8'h02;
      11'd28:  expected = ip_q[31:24];   // from the one that was asked
      11'd29:  expected = ip_q[23:16];
      11'd30:  expected = ip_q[15:8];
      11'd31:  expected = ip_q[7:0];
      11'd38:  expected = cfg_ip_i[31:24];
      11'd39:  expected = cfg_ip_i[23:16];
      11'd40:  expected = cfg_ip_i[15:8];
      11'd41:  expected = cfg_ip_i[7:0];
      default: fixed = 1'b0;
    endcase
  end

  // A frame that is whole, to us, and neither IPv4 nor a request, is Other. It has 64 bytes.
  assign answered = verdict_valid_i && verdict_i == VerdictOther && match_q && asked_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      byte_q   <= '0;
      match_q  <= 1'b0;
      asked_q  <= 1'b0;
      answer_o <= '0;
    end else begin
      byte_q <= byte_i;
      // Behind a tag, 12 comes again: then the frame begins here.
      if (byte_q.valid && byte_q.pos == 11'd12) match_q <= byte_q.data == expected;
      // A reply that comes across a new request is compared with neither.
      else if (take || (byte_q.valid && fixed && byte_q.data != expected)) match_q <= 1'b0;
      if (take) asked_q <= 1'b1;
      else if (answered) asked_q <= 1'b0;
      answer_o <= '{valid: answered && !take, ip: ip_q, mac: mac_q};
    end
  end
  always_ff @(posedge clk_i) begin
    if (byte_q.valid && byte_q.pos >= 11'd22 && byte_q.pos < 11'd28) begin
      mac_q <= {mac_q[39:0], byte_q.data};
    end
  end

  assign idle_o = !wanted_q && !pending_o && !answer_o.valid && !byte_q.valid && !ask_i.valid;
endmodule
