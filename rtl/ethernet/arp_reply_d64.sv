// SPDX-License-Identifier: SHL-2.1
/// Answers ARP requests: from what a request says to a frame for xgmii_tx, in another clock.
///
///   Handshake   req_valid_i: a strobe, with busy_o low; out_*: as xgmii_tx takes a frame
///   Ordering    requests in their order
///   Latency     req_valid_i to out_valid_o: as async_fifo, and 1 cycle
///   Throughput  a reply in 6 words; 8 requests may wait
///   Parameters  none
///   Not done    asking
module arp_reply_d64 (
  input  logic        req_clk_i,
  input  logic        req_rst_ni,
  input  logic        req_valid_i,
  input  logic [47:0] req_mac_i,   // of the station that asks
  input  logic [31:0] req_ip_i,
  output logic        busy_o,

  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [47:0] cfg_mac_i,
  input  logic [31:0] cfg_ip_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic        out_last_o,
  output logic [3:0]  out_bytes_o,
  output logic [63:0] out_o,
  output logic        idle_o
);
  localparam logic [2:0] LastWord = 3'd5;

  logic ready, valid, take, settled;
  logic [47:0] mac;
  logic [31:0] ip;
  async_fifo #(
    .Width(80),
    .Depth(8)
  ) u_cross (
    .wclk_i   (req_clk_i),
    .wrst_ni  (req_rst_ni),
    .wvalid_i (req_valid_i),
    .wready_o (ready),
    .wdata_i  ({req_mac_i, req_ip_i}),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (valid),
    .rready_i (take),
    .rdata_o  ({mac, ip}),
    .settled_o(settled)
  );
  assign busy_o = !ready;

  logic [2:0]  at_q;       // of the word that goes into the register
  logic        next, last;
  logic [63:0] net, word;  // in network byte order; as it is sent
  always_comb begin
    unique case (at_q)
      3'd0:    net = {mac, cfg_mac_i[47:32]};
      3'd1:    net = {cfg_mac_i[31:0], 16'h0806, 16'h0001};
      3'd2:    net = {48'h0800_0604_0002, cfg_mac_i[47:32]};
      3'd3:    net = {cfg_mac_i[31:0], cfg_ip_i};
      3'd4:    net = {mac, ip[31:16]};
      default: net = {ip[15:0], 48'd0};
    endcase
    for (int unsigned i = 0; i < 8; i++) word[8*i+:8] = net[56-8*i+:8];
  end
  assign next        = !out_valid_o || out_ready_i;
  assign last        = at_q == LastWord;
  assign take        = next && last;
  assign out_bytes_o = out_last_o ? 4'd2 : 4'd8;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q        <= '0;
      out_valid_o <= 1'b0;
      out_last_o  <= 1'b0;
    end else if (next) begin
      if (valid) at_q <= last ? '0 : at_q + 3'd1;
      out_valid_o <= valid;
      out_last_o  <= last;
    end
  end
  always_ff @(posedge clk_i) begin
    if (next) out_o <= word;
  end
  assign idle_o = settled && !valid && !out_valid_o;
endmodule
