// SPDX-License-Identifier: SHL-2.1
/// apenet_put: no read leaves the put memory, what is refused is neither read nor sent, a get of
/// another node is read only with the key of the put memory, no packet is longer than
/// MaxPayload or crosses a page of the remote memory, and no two gets have one number. What brings
/// its payload is one packet out of the slot of its post, and reads nothing.
///
/// Any posts, gets, targets and stalls, a memory that answers whatever and whenever it likes, any
/// CRC. The put memory is any that does not wrap; the host sets it while the interface is disabled,
/// so it stays.
/// That the buffer has room for what was asked for is axi_read_engine's proof, and taken from it.
module apenet_put_props
  import apenet_pkg::*;
(
  input logic         clk_i,
  input logic [63:0]  time_cycles_i,
  input logic         enable_i,
  input logic         post_we,
  input logic [60:0]  post,
  input logic         get_valid_i,
  input logic [$bits(get_t)-1:0] asked,
  input logic         target_we,
  input logic [3:0]   target_index,
  input logic [74:0]  target,
  input logic [14:0]  here_i,
  input logic         freed_i,
  input logic [127:0] payload_i,
  input logic         event_ready_i,
  input logic         full_i,
  input logic         arready_i,
  input logic         rvalid_i,
  input logic [511:0] rdata_i,
  input logic [1:0]   rresp_i,
  input logic         rlast_i
);
  // Never assigned another value and not initialised: any constants.
  logic [57:0] base;
  logic [16:0] blocks;
  logic        serves;
  logic [15:0] serve_key, land_key;
  logic [3:0]  one;     // of the targets
  always_ff @(posedge clk_i) begin
    base   <= base;
    blocks <= blocks;
    one    <= one;
    serves    <= serves;
    serve_key <= serve_key;
    land_key  <= land_key;
  end
  logic [58:0] until_;  // behind the put memory
  assign until_ = 59'(base) + 59'(blocks);

  logic rst_ni, event_valid_o, arvalid_o, idle_o, flit_valid_o, flit_head_o, flit_tail_o;
  nanet_ctrl_pkg::put_t      put_i;
  nanet_ctrl_pkg::put_done_t done_o;
  logic [31:0]               asked_o;
  nanet_pkg::event_t         event_o;
  axi_pkg::address_t         ar_o;
  logic [FlitWidth-1:0]      flit_o;
  step_t                     posted_o, sent_o;
  asked_t                    open_o;
  logic                      room_o;
  logic [CarriedW-1:0]       slot_o;
  logic [1:0]                at_o;
  assign put_i = '{
      base: base, blocks: blocks, target_we: target_we, target_index: target_index,
      target: nanet_ctrl_pkg::target_t'(target), post_we: post_we,
      post: nanet_ctrl_pkg::put_post_t'(post), land_key: land_key, serves: serves,
      serve_key: serve_key, lists: 1'b0, list_key: '0
  };
  get_t get_i;
  assign get_i = get_t'(asked);

  apenet_put #(
    .DataWidth(512),
    .Depth    (32),
    .Credits  (4)
  ) dut (.*);

  // As its states.
  localparam logic [1:0] StIdle = 2'd0, StCheck = 2'd1, StCut = 2'd2, StBare = 2'd3;
  logic [1:0] state;
  assign state = dut.state_q;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  // A get's number is that of the one before and one, whatever is disabled between them.
  logic [31:0] asked_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) asked_q <= '0;
    else if (dut.post_take && dut.post.get) asked_q <= asked_q + 32'd1;
  end
  assign rst_ni = started_q;

  always_comb begin
    assume (!until_[58]);
    assume (!dut.beat || dut.stored_ready);
    assume (!(dut.beat && dut.beat_end && dut.tag) || dut.u_done.u_ends.read_ready);
    assume (!freed_i || dut.u_frames.credit_q != 3'd4);
  end

  // The target as it was set last, and as it was when the put under check was taken.
  logic known_q, checked_q, allowed_q;  // the last: the get under check has the key
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      known_q   <= 1'b0;
      checked_q <= 1'b0;
      allowed_q <= 1'b0;
    end else begin
      if (target_we && target_index == one) known_q <= put_i.target.valid;
      if (dut.post_take) checked_q <= known_q;
      if (dut.get_take) allowed_q <= serves && dut.get.wanted.key == serve_key;
    end
  end

  // What is cut into bursts: its next byte, and what follows its last one.
  logic        cut;
  logic [63:0] at;
  logic [64:0] end_, limit;
  logic [12:0] past;
  assign cut   = dut.u_read.cut_valid;
  assign at    = dut.u_read.u_cut.gen_stored.addr_q;
  assign past  = dut.u_read.u_cut.gen_stored.past_q;
  assign end_  = {1'b0, at[63:9], 9'd0} + 65'(past);
  assign limit = {until_, 6'd0};

  logic [63:0] low;  // of a read
  logic [64:0] high;
  assign low  = ar_o.addr;
  assign high = 65'(ar_o.addr) + {51'd0, ar_o.len, 6'd0} + 65'd64;

  always_comb begin
    if (started_q) begin
      if (arvalid_o) assert (low >= {base, 6'd0} && high <= limit);
      if (dut.cut) begin
        assert (dut.bytes != '0 && dut.bytes <= LengthW'(MaxPayload));
        assert (13'(dut.remote_q[11:0]) + dut.bytes <= 13'd4096);
        if (dut.post_q.carried) begin
          // One packet, out of the post's own slot; nothing is read for it.
          assert (dut.first_q && dut.last && 23'(dut.bytes) == dut.post_q.bytes);
          assert (dut.bytes <= LengthW'(MaxCarried) && !dut.answer_q && !dut.u_read.cmd_valid_i);
          assert (dut.packet.carried && dut.packet.slot == CarriedW'(dut.post_q.offset));
        end else begin
          assert (dut.addr_q >= {base, 6'd0} && !dut.packet.carried);
          assert (65'(dut.addr_q) + 65'(dut.bytes) <= limit);
        end
        if (!dut.answer_q && dut.post_q.target == one) assert (checked_q);
        if (dut.answer_q) assert (allowed_q);
        assert (!dut.post_q.get);
        // A message is one packet, whatever place was named.
        if (dut.target_q.list) begin
          assert (dut.first_q && dut.last && 23'(dut.bytes) == dut.post_q.bytes && !dut.answer_q);
          assert (dut.packet.what == KindMessage && dut.packet.address == 48'(dut.job_q));
        end
      end
      if (event_valid_o) assert (enable_i && !full_i && (event_o.list == DoneList ||
                                                               event_o.list == AnswerList));
      // A flit leaves with a credit.
      if (dut.u_frames.send) assert (dut.u_frames.credit_q != '0);

      // What makes the above inductive.
      assert (dut.known_q[one] == known_q);
      assert (dut.u_frames.credit_q <= 3'd4);
      assert (asked_o == asked_q);
      if (state == StCheck) begin
        assert (dut.addr_q == {base + 58'(dut.post_q.offset), 6'd0});
        assert (dut.until_q == 18'(dut.post_q.offset) +
                               18'((24'(dut.post_q.bytes) + 24'd63) >> 6));
        assert (dut.left_q == dut.post_q.bytes);
      end
      if (state != StIdle && !dut.answer_q && dut.post_q.target == one) begin
        assert (dut.target_q.valid == checked_q);
      end
      if (state != StIdle && dut.answer_q) begin
        assert (dut.target_q.valid == allowed_q && !dut.post_q.get);
      end
      // A packet of header and footer is a get, or says why one was refused.
      if (state != StIdle && dut.answer_q) assert (!dut.post_q.carried);
      if (state == StBare) assert (!dut.post_q.carried || dut.post_q.get);
      if (state == StBare) assert (dut.post_q.get || (dut.answer_q && dut.refusal_q != PutTaken));
      assert (!(dut.post_take && dut.get_take));
      // A get may be answered that leaves then, under its number; no other.
      if (open_o.valid) begin
        assert (enable_i && state == StCheck && dut.post_q.get && !dut.answer_q && !dut.refused);
        assert (open_o.number == asked_q - 32'd1 && open_o.key == land_key);
        assert (open_o.land == dut.post_q.offset && open_o.bytes == dut.post_q.bytes);
        cover (open_o.bytes == 23'd64);
      end
      if (dut.bare && dut.post_q.get) assert (dut.packet.put == asked_q - 32'd1);
      if (state != StIdle && dut.post_q.get) assert (dut.job_q == asked_q - 32'd1 && !dut.answer_q);
      assert (asked_o == asked_q);
      if (state == StCut) begin
        if (!dut.post_q.carried) begin
          assert (dut.addr_q >= {base, 6'd0} && dut.addr_q[5:0] == '0);
          assert (65'(dut.addr_q) + 65'(dut.left_q) <= limit);
        end else begin
          assert (dut.first_q && dut.left_q == dut.post_q.bytes && !dut.answer_q);
          assert (dut.left_q <= 23'(MaxCarried));
        end
        assert (dut.left_q != '0 && dut.remote_q[5:0] == '0 && dut.target_q.valid);
        assert (!dut.post_q.get);
        if (dut.target_q.list) begin
          assert (dut.first_q && dut.remote_q == '0 && dut.left_q <= 23'(MaxPayload));
          assert (dut.left_q == dut.post_q.bytes && !dut.answer_q);
        end
      end
      if (state != StIdle && dut.answer_q) assert (!dut.target_q.list);
      if (arvalid_o) assert (cut);
      if (cut) begin
        assert (at >= {base, 6'd0} && end_ <= limit);
        assert (past > 13'(at[8:0]) && past <= 13'd511 + 13'(MaxPayload));
      end
      cover (arvalid_o && high == limit && blocks == 17'd3);
      cover (event_valid_o && event_o.reserved == 7'(PutOutside));
      cover (state == StBare && dut.refusal_q == PutTarget);
      cover (dut.cut && dut.answer_q && dut.last);
      cover (dut.cut && dut.packet.carried && dut.bytes == LengthW'(MaxCarried));
      cover (event_valid_o && dut.u_done.sending.post.carried && event_o.reserved == '0);
    end
  end
endmodule
