// SPDX-License-Identifier: SHL-2.1
/// ccix_retry_read before any port that answers in order: of any burst the master has each beat
/// once, in order, of its own address; a beat goes to it with SLVERR only behind Tries retries, or
/// behind such a beat of its burst; none is tried more often.
///
/// The port has the bursts that it was given and gives their beats in order, each with any
/// response. Data is the address, so a beat of another place would be seen.
module ccix_retry_read_props
  import axi_pkg::*;
(
  input logic       clk_i,
  input logic       arvalid_i,
  input address_t   ar_i,
  input logic       rready_i,
  input logic       arready_i,
  input logic       rvalid_i,
  input logic [1:0] rresp_i,
  input logic       watch_i  // the burst that is taken now is followed
);
  localparam int unsigned Bursts = 2;
  localparam int unsigned Tries  = 2;
  logic rst_ni, arready_o, rvalid_o, rlast_o, arvalid_o, rready_o, rlast_i, retry_o;
  logic [63:0] rdata_o, rdata_i;
  logic [1:0] rresp_o;
  address_t ar_o;
  ccix_retry_read #(.DataWidth(64), .Bursts(Bursts), .Tries(Tries), .Wait(2)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  function automatic logic fits(address_t a);
    return 10'(a.addr[11:3]) + 10'(a.len) <= 10'd511 && (a.len == '0 || a.addr[2:0] == '0);
  endfunction
  function automatic address_t beyond(address_t a, logic [7:0] beats);
    address_t made;
    made = a;
    made.addr[11:3] = a.addr[11:3] + 9'(beats);
    made.len = a.len - beats;
    return made;
  endfunction

  // ------------------------------------------------------------ the port
  address_t [1:0] asked_q;  // what is left of bursts, the first in 0
  logic [1:0] number_q;
  logic sent, came, ended;
  assign sent    = arvalid_o && arready_i;
  assign came    = rvalid_i && rready_o;
  assign ended   = came && rlast_i;
  assign rlast_i = asked_q[0].len == '0;
  assign rdata_i = asked_q[0].addr;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      number_q <= '0;
    end else begin
      number_q <= number_q + 2'(sent) - 2'(ended);
      if (ended) asked_q[0] <= asked_q[1];
      else if (came) asked_q[0] <= beyond(asked_q[0], 8'd1);
      if (sent) asked_q[1'(number_q - 2'(ended))] <= ar_o;
    end
  end

  // ------------------------------------------------------------ the burst that is followed
  logic mine_q, gave_q;
  address_t burst_q;
  logic [1:0] ahead_q;
  logic [7:0] beats_q;
  logic [1:0] refused_q;  // of the beat that the master waits for
  logic take, beat, start, turn;
  assign take  = arvalid_i && arready_o;
  assign beat  = rvalid_o && rready_i;
  assign start = take && watch_i && !mine_q;
  assign turn  = mine_q && ahead_q == '0;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      mine_q <= 1'b0;
    end else begin
      if (start) begin
        mine_q    <= 1'b1;
        burst_q   <= ar_i;
        ahead_q   <= 2'(dut.tail_q - dut.head_q) - 2'(beat && rlast_o);
        beats_q   <= '0;
        refused_q <= '0;
        gave_q    <= 1'b0;
      end else if (mine_q && ahead_q != '0) begin
        ahead_q <= ahead_q - 2'(beat && rlast_o);
      end else if (mine_q) begin
        if (retry_o) refused_q <= refused_q + 2'd1;
        if (beat) begin
          beats_q   <= beats_q + 8'd1;
          refused_q <= '0;
          gave_q    <= gave_q || rresp_o == 2'd2;
          mine_q    <= !rlast_o;
        end
      end
    end
  end

  logic offered_q, held_q;
  address_t ar_q, held_ar_q;
  logic [1:0] resp_q;
  logic rvalid_q;
  always_ff @(posedge clk_i) begin
    offered_q <= started_q && arvalid_o && !arready_i;
    ar_q      <= ar_o;
    held_q    <= started_q && arvalid_i && !arready_o;
    held_ar_q <= ar_i;
    rvalid_q  <= started_q && rvalid_i && !rready_o;
    resp_q    <= rresp_i;
  end

  logic [1:0] open, sends;
  address_t [1:0] kept;  // bursts of the master, the first in 0
  assign open  = 2'(dut.tail_q - dut.head_q);
  assign sends = 2'(dut.send_q - dut.head_q);
  assign kept  = {dut.ring_q[!dut.head_q[0]], dut.ring_q[dut.head_q[0]]};
  always_comb begin
    if (started_q) begin
      assume (fits(ar_i));
      if (held_q) assume (arvalid_i && ar_i == held_ar_q);
      assume (!rvalid_i || number_q != '0);
      if (rvalid_q) assume (rvalid_i && rresp_i == resp_q);

      // What is proved.
      if (turn && rvalid_o) begin
        beat_address : assert (rdata_o == beyond(burst_q, beats_q).addr);
        beat_last    : assert (rlast_o == (beats_q == burst_q.len));
        beat_error   : assert (rresp_o != 2'd2 || gave_q || refused_q == 2'(Tries));
      end
      bounded : assert (!mine_q || refused_q <= 2'(Tries));
      stable  : assert (!offered_q || (arvalid_o && ar_o == ar_q));

      // What makes it inductive.
      assert (open <= 2'(Bursts) && sends <= open && dut.state_q != 2'd3);
      assert (dut.open_q == number_q && number_q <= sends && dut.offered_q == offered_q);
      assert (!offered_q || sends != open);
      if (dut.state_q == 2'd0) assert (number_q == sends);
      if (dut.state_q == 2'd2) assert (number_q == '0 && !offered_q && dut.wait_q <= 2'd1);
      assert (dut.tries_q <= 2'(Tries));
      if (dut.gave_q) assert (dut.state_q == 2'd0 && dut.beats_q != '0 && sends != '0);
      assert (open != '0 || dut.beats_q == '0);
      for (int unsigned k = 0; k < 2; k++) begin
        if (open > 2'(k)) assert (fits(kept[k]));
        if (number_q > 2'(k)) begin
          assert (fits(asked_q[k]) || asked_q[k].len != '0);
          assert (10'(asked_q[k].addr[11:3]) + 10'(asked_q[k].len) <= 10'd511);
          if (dut.state_q == 2'd0) begin
            assert (asked_q[k] == (k == 0 ? beyond(kept[0], dut.beats_q) : kept[k]));
          end
        end
      end
      if (open != '0) assert (dut.beats_q <= kept[0].len);
      if (mine_q) begin
        assert (ahead_q < open && kept[ahead_q[0]] == burst_q);
        if (ahead_q == '0) begin
          assert (beats_q == dut.beats_q && gave_q == dut.gave_q && refused_q == dut.tries_q);
        end else begin
          assert (beats_q == '0 && !gave_q && refused_q == '0);
        end
      end
      if (open == '0) assert (dut.tries_q == '0);
      cover (turn && beat && rlast_o && beats_q == 8'd2 && refused_q == 2'd1);
      cover (turn && beat && rresp_o == 2'd2 && beats_q == 8'd1);
      cover (mine_q && ahead_q == 2'd1 && dut.state_q == 2'd1 && number_q == 2'd2);
    end
  end
endmodule
