// SPDX-License-Identifier: SHL-2.1
/// nanet_send: no read leaves the send memory, and what is refused is neither read nor sent.
///
/// Any posts, peers and stalls, a memory that answers whatever and whenever it likes, a port of any
/// room. The send memory is any that does not wrap; the host sets it while the interface is
/// disabled, so it stays.
module nanet_send_props
  import nanet_pkg::*;
(
  input logic        clk_i,
  input logic [63:0] time_cycles_i,
  input logic        enable_i,
  input logic        post_we,
  input logic [30:0] post,
  input logic        peer_we,
  input logic [3:0]  peer_index,
  input logic [96:0] peer,
  input logic        head_ready,
  input logic [15:0] used,
  input logic        event_ready_i,
  input logic        full_i,
  input logic        arready_i,
  input logic        rvalid_i,
  input logic [63:0] rdata_i,
  input logic [1:0]  rresp_i,
  input logic        rlast_i
);
  // Never assigned another value and not initialised: any constants.
  logic [57:0] base;
  logic [16:0] blocks;
  logic [3:0]  one;     // of the peers
  always_ff @(posedge clk_i) begin
    base   <= base;
    blocks <= blocks;
    one    <= one;
  end
  logic [58:0] until_;  // behind the send memory
  assign until_ = 59'(base) + 59'(blocks);

  logic rst_ni, event_valid_o, arvalid_o, rready_o, idle_o;
  send_t              send_i;
  departure_t         departure_o;
  departed_t          departed_i;
  eth_pkg::udp_meta_t meta_o;
  logic [63:0]        data_o;
  event_t             event_o;
  axi_pkg::address_t  ar_o;
  logic [15:0]        sent_o, refused_o, lost_o;
  assign send_i = '{
      base: base, blocks: blocks, peer_we: peer_we, peer_index: peer_index, peer: peer_t'(peer),
      post_we: post_we, post: post_t'(post)
  };
  assign departed_i = '{head_ready: head_ready, used: used, spoiled: '0};

  nanet_send #(.DataWidth(64)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  always_comb begin
    assume (!until_[58]);
    // No read ends that was not begun: the benches hold it.
    assume (!(dut.beat && dut.last) || dut.u_ends.read_ready);
  end

  // The peer as it was set last, and as it was when the datagram under check was taken.
  logic known_q, checked_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      known_q   <= 1'b0;
      checked_q <= 1'b0;
    end else begin
      if (peer_we && peer_index == one) known_q <= send_i.peer.valid;
      if (dut.post_take) checked_q <= known_q;
    end
  end

  // What is cut into bursts: its next byte, and what follows its last one.
  logic        cut;
  logic [63:0] at;
  logic [64:0] end_, limit;
  logic [11:0] past;
  assign cut  = dut.u_read.cut_valid;
  assign at   = dut.u_read.u_cut.gen_stored.addr_q;
  assign past = dut.u_read.u_cut.gen_stored.past_q;
  assign end_ = {1'b0, at[63:8], 8'd0} + 65'(past);
  assign limit = {until_, 6'd0};

  logic [63:0] low;  // of a read
  logic [64:0] high;
  assign low  = ar_o.addr;
  assign high = 65'(ar_o.addr) + {54'd0, ar_o.len, 3'd0} + 65'd8;

  always_comb begin
    if (started_q) begin
      if (arvalid_o) assert (low >= {base, 6'd0} && high <= limit);
      if (dut.cmd_valid || departure_o.head_valid) begin
        assert (dut.post_q.bytes <= 11'(MaxPayload));
        assert (dut.addr_q >= {base, 6'd0});
        assert (65'(dut.addr_q) + 65'(dut.post_q.bytes) <= limit);
        if (dut.post_q.peer == one) assert (checked_q);
      end
      // A head and its read are taken together.
      if (dut.cmd_valid && dut.cmd_ready) assert (departure_o.head_valid);
      if (departure_o.head_valid) begin
        assert (head_ready && meta_o.len == 16'(dut.post_q.bytes));
        assert (meta_o.len == '0 || (dut.cmd_valid && dut.cmd_ready));
      end
      if (event_valid_o) assert (enable_i && !full_i && event_o.list == SendList);

      // What makes the above inductive.
      assert (dut.known_q[one] == known_q);
      if (dut.check_q) begin
        assert (dut.addr_q == {base + 58'(dut.post_q.offset), 6'd0});
        assert (dut.until_q == 18'(dut.post_q.offset) +
                               18'((12'(dut.post_q.bytes) + 12'd63) >> 6));
        if (dut.post_q.peer == one) assert (dut.peer_q.valid == checked_q);
      end
      if (arvalid_o) assert (cut);
      if (cut) begin
        assert (at >= {base, 6'd0} && end_ <= limit);
        assert (past > 12'(at[7:0]) && past <= 12'd255 + 12'(MaxPayload));
      end
      cover (arvalid_o && high == limit && blocks == 17'd3);
      cover (event_valid_o && event_o.reserved == 7'(SendOutside));
    end
  end
endmodule
