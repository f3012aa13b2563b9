// SPDX-License-Identifier: SHL-2.1
/// rdma_read between any sequence of transfers and a bus that answers what it was asked, whenever it likes.
///
/// The bursts of a transfer are its beats, each once, in order; the reference is where the next one must
/// begin and how many beats are left.
module rdma_read_props #(
  parameter int unsigned Places = 2
) (
  input logic        clk_i,
  input logic        read_valid_i,
  input logic [63:3] read_addr_i,
  input logic [9:0]  read_beats_i,
  input logic        arready_i,
  input logic        rvalid_i,
  input logic [63:0] rdata_i,
  input logic [1:0]  rresp_i,
  input logic        rearly_i,
  input logic        data_ready_i,
  input logic        watch_i        // this beat is the one to follow
);
  logic rst_ni, read_ready_o, arvalid_o, rready_o, data_valid_o, bad_o, coming_o, issued_o, idle_o;
  logic [63:0] araddr_o, data_o;
  logic [7:0]  arlen_o;
  logic [12:0] aruser_o;

  rdma_read #(.Places(Places)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- the transfer in progress
  logic [63:3] next_q;
  logic [9:0]  left_q;
  logic [2:0]  wait_q;   // clocks since a burst could be offered
  logic        fresh_q;  // no burst of it was taken
  logic        came_q;
  logic        told_q;   // of a beat that has not come
  logic        take, burst;
  assign take  = read_valid_i && read_ready_o;
  assign burst = arvalid_o && arready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= '0;
      wait_q <= '0;
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
      wait_q <= (left_q != '0 && !arvalid_o) ? wait_q + 3'(wait_q != '1) : '0;
    end
  end

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
      bad_q   <= rresp_i != 2'b00;
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
        // As long as may be: to the transfer's end, a boundary, or 256 beats.
        assert (10'(arlen_o) + 10'd1 == left_q || arlen_o == 8'd255 ||
                10'(araddr_o[11:3]) + 10'(arlen_o) == 10'd511);
      end
      // A transfer is taken when the one before it is all asked for; it is asked for at once.
      assert (read_ready_o == (left_q == '0));
      assert (wait_q <= 3'd1);
      // The first burst a clock after it was taken, where no boundary cuts it.
      if (fresh_q && left_q != '0 && !arvalid_o) begin
        assert (10'(next_q[11:3]) + (left_q < 10'd256 ? left_q : 10'd256) > 10'd512);
      end
      assert (issued_o == (burst && fresh_q));
      // Beats are announced, and pass unchanged, in order.
      assert (coming_o == (came || rearly_i || told_q));
      if (came_q) assert (data_valid_o);
      if (live_q && ahead_q == '0) begin
        assert (data_valid_o && data_o == beat_q && bad_o == bad_q);
      end
      assert (rready_o == (dut.u_data.usage_o < 2'(Places)));

      // Inductive strengthening.
      assert (dut.early_q == told_q);
      assert (left_q <= 10'd512);
      assert (dut.state_q != 2'd3);
      if (left_q != '0) begin
        assert (dut.page_q + 52'(dut.at_q[9]) == next_q[63:12] && dut.at_q[8:0] == next_q[11:3]);
        assert (dut.left_q == left_q && dut.first_q == fresh_q);
        assert (12'(dut.at_q) + 12'(left_q) < 12'd1024);
      end
      if (dut.state_q == 2'd1) assert (wait_q == '0);
      if (arvalid_o) begin
        assert (dut.chunk_q != '0 && dut.chunk_q <= 10'd256 && arlen_o == 8'(dut.chunk_q - 10'd1));
      end
      assert (dut.u_data.usage_o <= 2'(Places));
      if (live_q) begin
        assert (ahead_q < dut.u_data.usage_o);
        assert (dut.u_data.mem_q[1'(dut.u_data.rptr_q + ahead_q)] == {bad_q, beat_q});
      end

      cover (burst && !fresh_q && left_q == 10'(arlen_o) + 10'd1 && arlen_o == 8'd0);
      cover (burst && fresh_q && left_q == 10'd512 && arlen_o != 8'd255);
      cover (told_q && came);
      cover (went && live_q && bad_o && ahead_q == '0);
    end
  end
endmodule
