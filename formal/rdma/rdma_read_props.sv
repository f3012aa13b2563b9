// SPDX-License-Identifier: SHL-2.1
/// rdma_read between any sequence of transfers and a bus that answers what it was asked,
/// whenever it likes.
///
/// The bursts of a transfer are its beats, each once, in order; the reference is where the next one
/// must begin and how many beats are left. No more transfers are under way than the block is made
/// for.
module rdma_read_props #(
  parameter int unsigned Places    = 2,
  parameter int unsigned Transfers = 1
) (
  input logic        clk_i,
  input logic        read_valid_i,
  input logic [63:3] read_addr_i,
  input logic [9:0]  read_beats_i,
  input logic        arready_i,
  input logic        rvalid_i,
  input logic [63:0] rdata_i,
  input logic [1:0]  rresp_i,
  input logic        rlast_i,
  input logic        rearly_i,
  input logic        data_ready_i,
  input logic        watch_i        // this beat is the one to follow
);
  logic rst_ni, read_ready_o, arvalid_o, rready_o, data_valid_o, bad_o, coming_o, issued_o, idle_o;
  logic [63:0] araddr_o, data_o;
  logic [7:0]  arlen_o;
  logic [12:0] aruser_o;

  rdma_read #(.Places(Places), .Transfers(Transfers)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- the transfer in progress
  logic [63:3] next_q;
  logic [9:0]  left_q;
  logic        fresh_q;  // no burst of it was taken
  logic        came_q;
  logic        told_q;   // of a beat that has not come
  logic        take, burst;
  assign take  = read_valid_i && read_ready_o;
  assign burst = arvalid_o && arready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= '0;
    end else begin
      if (take) begin
        next_q  <= read_addr_i;
        left_q  <= read_beats_i;
        fresh_q <= 1'b1;
      end else if (burst) begin
        next_q  <= next_q + 61'(arlen_o) + 61'd1;
        left_q  <= left_q - 10'(arlen_o) - 10'd1;
        fresh_q <= 1'b0;
      end
    end
  end

  // ---------------------------------------------------------------- bursts that are not answered
  localparam int unsigned MaxBursts = 1 << $clog2(3 * Transfers);
  logic [2:0] shapes, windows;
  assign shapes  = dut.u_engine.u_shapes.usage_o;
  assign windows = 3'((11'(next_q[10:3]) + 11'(left_q) + 11'd255) >> 8);  // that the transfer is in

  // ---------------------------------------------------------------- one beat on its way through
  logic        live_q, bad_q;
  logic [1:0]  ahead_q;   // beats before it
  logic [63:0] beat_q;
  logic        begin_watch, came, went;
  assign came = rvalid_i && rready_o;
  assign went = data_valid_o && data_ready_i;
  assign begin_watch = came && watch_i && !live_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      live_q <= 1'b0;
    end else if (begin_watch) begin
      live_q  <= 1'b1;
      beat_q  <= rdata_i;
      bad_q   <= rresp_i[1];
      ahead_q <= dut.u_data.usage_o - 2'(went);
    end else if (live_q && went) begin
      live_q  <= ahead_q != '0;
      ahead_q <= ahead_q - 2'd1;
    end
  end

  // ---------------------------------------------------------------- a clock ago
  logic arvalid_q, arready_q;
  logic [63:0] araddr_q;
  logic [7:0]  arlen_q;
  logic [12:0] aruser_q;
  always_ff @(posedge clk_i) begin
    arvalid_q <= started_q && arvalid_o;
    arready_q <= arready_i;
    araddr_q  <= araddr_o;
    arlen_q   <= arlen_o;
    aruser_q  <= aruser_o;
    came_q    <= started_q && came;
    told_q    <= started_q && (told_q || rearly_i) && !came && !take;
  end

  always_comb begin
    if (started_q) begin
      if (read_valid_i) assume (read_beats_i >= 10'd1 && read_beats_i <= 10'd512);
      // The last burst of the transfer before Transfers others is answered.
      if (read_valid_i) assume (shapes <= 3'(MaxBursts - 3));

      // An offer is held.
      if (arvalid_q && !arready_q) begin
        assert (arvalid_o && araddr_o == araddr_q && arlen_o == arlen_q && aruser_o == aruser_q);
      end
      if (arvalid_o) begin
        // The next beats of the transfer, no more than it has, and within 4 KiB.
        assert (left_q != '0 && araddr_o == {next_q, 3'd0});
        assert (10'(arlen_o) + 10'd1 <= left_q);
        assert (10'(araddr_o[11:3]) + 10'(arlen_o) <= 10'd511);
        assert (aruser_o == {left_q, 3'd0});
        // As long as may be: to the transfer's end, or a multiple of 2 KiB.
        assert (10'(arlen_o) + 10'd1 == left_q || 9'(araddr_o[10:3]) + 9'(arlen_o) == 9'd255);
      end
      // A transfer is taken when the one before it is all asked for; it is asked for at once.
      assert (read_ready_o == (left_q == '0));
      assert (arvalid_o == (left_q != '0));
      assert (issued_o == (burst && fresh_q));
      // Beats are announced, and pass unchanged, in order.
      assert (coming_o == (came || rearly_i || told_q));
      if (came_q) assert (data_valid_o);
      if (live_q && ahead_q == '0) begin
        assert (data_valid_o && data_o == beat_q && bad_o == bad_q);
      end
      assert (rready_o == (dut.u_data.usage_o < 2'(Places)));
      // Idle: no burst to ask for, nothing offered, coming or leaving. Beats that wait are no work.
      assert (idle_o == (left_q == '0 && !read_valid_i && !rvalid_i && !rearly_i && !went));

      // Inductive strengthening.
      assert (dut.early_q == told_q);
      assert (left_q <= 10'd512);
      assert (dut.u_engine.cut_valid == dut.busy_q);
      assert (shapes <= 3'(MaxBursts));
      if (left_q != '0) begin
        assert (shapes + windows <= 3'(MaxBursts));
        assert (dut.u_engine.u_cut.gen_stored.addr_q == next_q);
        assert (10'(dut.u_engine.u_cut.gen_stored.past_q) == 10'(next_q[10:3]) + left_q);
        assert (dut.left_q == left_q && dut.first_q == fresh_q);
      end
      assert (dut.u_data.usage_o <= 2'(Places));
      if (live_q) begin
        assert (ahead_q < dut.u_data.usage_o);
        assert (dut.u_data.mem_q[1'(dut.u_data.rptr_q + ahead_q)] == {bad_q, beat_q});
      end

      cover (burst && !fresh_q && left_q == 10'(arlen_o) + 10'd1 && arlen_o == 8'd0);
      cover (burst && fresh_q && left_q == 10'd512 && arlen_o != 8'd255 && shapes != '0);
      cover (told_q && came);
      cover (went && live_q && bad_o && ahead_q == '0);
    end
  end
endmodule
