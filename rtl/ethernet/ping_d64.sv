// SPDX-License-Identifier: SHL-2.1
/// ICMP echo of a 10 Gb/s stack: stores a request's data while it comes and hands its reply to the
/// transmit side, in another clock.
///
/// The reply has the request's data, so its check sum is the request's and the difference of the
/// two types: the data is not summed again.
///
///   Handshake   from eth_rx_d64: start_i begins a request, with busy_o low; valid_i brings 8 bytes
///               of its data, never stalled; end_i, exactly one, says whether it was good. To
///               eth_tx_d64: reply_valid_o until reply_ready_i; data_o is the next word of the data
///               from 3 cycles behind that on; next_i, a strobe, shows the one behind it; done_i, a
///               strobe, when the last word has been taken
///   Ordering    one at a time: busy_o from start_i until its reply has been read, or it was bad
///   Latency     end_i to reply_valid_o: as async_fifo; done_i to busy_o low: as strobe_cross
///   Throughput  a word a cycle, both sides
///   Parameters  none
///   Not done    a second request while a reply waits: it is counted as busy
module ping_d64
  import eth_pkg::*;
  import eth_d64_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  udp_meta_t   meta_i,    // with start_i: the sender, and bytes of data
  input  logic        valid_i,
  input  logic [63:0] data_i,    // the first byte in [7:0]; with start_i: the ICMP header
  input  logic        end_i,
  input  logic        good_i,    // with end_i: all checks hold
  output logic        busy_o,

  input  logic        tx_clk_i,
  input  logic        tx_rst_ni,
  output logic        reply_valid_o,
  input  logic        reply_ready_i,
  output ping_t       reply_o,
  output logic [63:0] data_o,    // the first byte in [7:0]
  input  logic        next_i,
  input  logic        done_i,
  output logic        idle_o     // nothing changes until an input does
);
  // Of a frame of 1522 bytes: more words than come.
  localparam int unsigned Depth = 256;
  localparam int unsigned AddrW = $clog2(Depth);

  // ---------------------------------------------------------------- store
  logic [AddrW-1:0] write_q;
  logic        sum_valid_q, done, settled, unused_ready;
  logic [15:0] csum_q;
  logic [16:0] sum;
  ping_t       ping_q;
  // The type goes from 8 to 0: 0800 is added to the check sum, with its carry.
  assign sum = {1'b0, csum_q} + 17'h0800;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_o      <= 1'b0;
      sum_valid_q <= 1'b0;
    end else begin
      if (start_i) busy_o <= 1'b1;
      else if ((end_i && !good_i) || done) busy_o <= 1'b0;
      sum_valid_q <= start_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      ping_q.mac    <= meta_i.mac;
      ping_q.ip     <= meta_i.ip;
      ping_q.len    <= meta_i.len[10:0];
      ping_q.id_seq <= {data_i[39:32], data_i[47:40], data_i[55:48], data_i[63:56]};
      csum_q        <= {data_i[23:16], data_i[31:24]};
      write_q       <= '0;
    end else if (valid_i) begin
      write_q <= write_q + AddrW'(1);
    end
    if (sum_valid_q) ping_q.csum <= sum[15:0] + 16'(sum[16]);
  end

  // ---------------------------------------------------------------- crossing
  async_fifo #(
    .Width($bits(ping_t)),
    .Depth(8)
  ) u_cross (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (end_i && good_i),
    .wready_o (unused_ready),
    .wdata_i  (ping_q),
    .rclk_i   (tx_clk_i),
    .rrst_ni  (tx_rst_ni),
    .rvalid_o (reply_valid_o),
    .rready_i (reply_ready_i),
    .rdata_o  (reply_o),
    .settled_o(settled)
  );
  logic unused_done;
  strobe_cross u_done (
    .src_clk_i (tx_clk_i),
    .src_rst_ni(tx_rst_ni),
    .strobe_i  (done_i),
    .ready_o   (unused_done),
    .dst_clk_i (clk_i),
    .dst_rst_ni(rst_ni),
    .strobe_o  (done)
  );

  // ---------------------------------------------------------------- read
  // The memory is one word ahead of the register behind it: two steps fill both.
  logic [AddrW-1:0] read_q;
  logic [1:0]  fill_q;
  logic [63:0] ahead;
  logic        step;
  assign step = next_i || fill_q != '0;
  always_ff @(posedge tx_clk_i or negedge tx_rst_ni) begin
    if (!tx_rst_ni) begin
      read_q <= '0;
      fill_q <= '0;
    end else begin
      fill_q <= {fill_q[0], reply_ready_i};
      if (reply_ready_i) read_q <= '0;
      else if (step) read_q <= read_q + AddrW'(1);
    end
  end
  always_ff @(posedge tx_clk_i) begin
    if (step) data_o <= ahead;
  end
  ram_2clk #(
    .Width(64),
    .Depth(Depth)
  ) u_data (
    .wclk_i (clk_i),
    .we_i   (valid_i),
    .waddr_i(write_q),
    .wdata_i(data_i),
    .rclk_i (tx_clk_i),
    .re_i   (step),
    .raddr_i(read_q),
    .rdata_o(ahead)
  );

  assign idle_o = settled && !busy_o && !reply_valid_o;

  logic unused;
  assign unused = ^{unused_ready, unused_done, meta_i};
endmodule
