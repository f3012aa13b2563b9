// SPDX-License-Identifier: SHL-2.1
/// coherence_directory_tbes: a transaction is what the last change of it made it, with the bytes
/// that were stored last and its atomic's old value, whatever is done with the others; the one that
/// goes on and the free one are the lowest; the transaction of a line is found with the change of
/// this cycle.
///
/// One transaction is watched, any.
module coherence_directory_tbes_props
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
#(
  parameter int unsigned NumTbe = 4
) (
  input logic        clk_i,
  input logic        run_i,
  input tbe_id_t     resume_id_i,
  input index_t      index_i,
  input tbe_id_t     at_id_i,
  input tbe_change_t change_i,
  input logic        store_i,
  input mask_t       mask_i,
  input line_t       data_i,
  input logic        old_valid_i,
  input tbe_id_t     old_id_i,
  input logic [63:0] old_i,
  input tbe_id_t     watch  // stays
);
  localparam int unsigned TbeWidth = $clog2(NumTbe);
  typedef logic [TbeWidth-1:0] own_t;
  logic rst_ni, ready_some_o, free_some_o, open_o;
  tbe_id_t ready_id_o, free_id_o, open_id_o;
  what_t   resume_what_o, at_what_o;
  mask_t   resume_mask_o;
  line_t   resume_data_o;
  tbe_phase_e   at_phase_o;
  flags_t       at_flags_o;
  logic [127:0] at_operands_o;
  logic [63:0]  at_old_o;

  coherence_directory_tbes #(.NumTbe(NumTbe)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // The watched transaction; of its contents only what was written.
  tbe_id_t     watch_q;
  tbe_phase_e  phase_q;
  what_t       what_q;
  flags_t      flags_q;
  mask_t       mask_q;
  line_t       data_q;
  logic [63:0] old_q;
  logic        made_q, stored_q, kept_q;
  logic        changes;
  assign changes = change_i.write && change_i.at == watch;
  always_ff @(posedge clk_i) begin
    watch_q <= watch;
    if (!started_q) begin
      phase_q <= TbeFree;
      {made_q, stored_q, kept_q} <= '0;
    end else begin
      if (changes) begin
        {phase_q, what_q, flags_q} <= {change_i.phase, change_i.what, change_i.flags};
        made_q <= 1'b1;
      end else if (run_i && ready_id_o == watch) begin
        phase_q <= TbeRuns;
      end
      if (changes && store_i) {stored_q, mask_q, data_q} <= {1'b1, mask_i, data_i};
      if (old_valid_i && old_id_i == watch) {kept_q, old_q} <= {1'b1, old_i};
    end
  end

  logic mine;  // it is of the line, with this cycle's change
  assign mine = changes ? change_i.phase != TbeFree && change_i.what.index == index_i :
                          phase_q != TbeFree && what_q.index == index_i;
  // The lowest: none below it.
  logic lower_ready, lower_free;
  always_comb begin
    lower_ready = 1'b0;
    lower_free  = 1'b0;
    for (int unsigned i = 0; i < NumTbe; i++) begin
      if (tbe_id_t'(i) < watch && dut.phase_q[i] == TbeReady) lower_ready = 1'b1;
      if (tbe_id_t'(i) < watch && dut.phase_q[i] == TbeFree) lower_free = 1'b1;
    end
  end

  always_comb begin
    assume (32'(watch) < NumTbe && 32'(resume_id_i) < NumTbe && 32'(at_id_i) < NumTbe);
    assume (32'(old_id_i) < NumTbe && 32'(change_i.at) < NumTbe);
    if (started_q) begin
      assume (watch == watch_q);
      if (run_i) assume (ready_some_o);
      // One transaction a line.
      for (int unsigned i = 0; i < NumTbe; i++)
        for (int unsigned k = 0; k < i; k++)
          assume (!(dut.open[i] && dut.open[k]));
      if (change_i.write && change_i.phase != TbeFree && change_i.what.index == index_i)
        assume (dut.open == '0);

      assert (at_id_i != watch || at_phase_o == phase_q);
      if (made_q) begin
        assert (at_id_i != watch || (at_flags_o == flags_q && at_what_o == what_q));
        assert (resume_id_i != watch || resume_what_o == what_q);
      end
      if (stored_q) begin
        assert (resume_id_i != watch || (resume_mask_o == mask_q && resume_data_o == data_q));
        assert (at_id_i != watch || at_operands_o == data_q[127:0]);
      end
      assert (!kept_q || at_id_i != watch || at_old_o == old_q);
      if (phase_q == TbeReady) assert (ready_some_o && ready_id_o <= watch);
      if (phase_q == TbeFree) assert (free_some_o && free_id_o <= watch);
      if (ready_some_o && ready_id_o == watch) assert (phase_q == TbeReady && !lower_ready);
      if (free_some_o && free_id_o == watch) assert (phase_q == TbeFree && !lower_free);
      assert (32'(ready_id_o) < NumTbe && 32'(free_id_o) < NumTbe);
      assert (ready_some_o || ready_id_o == '0);
      assert (free_some_o || free_id_o == '0);
      assert ((open_o && open_id_o == watch) == mine);
      assert (32'(open_id_o) < NumTbe && (open_o || open_id_o == '0));
      // What makes the above inductive.
      assert (dut.phase_q[watch[TbeWidth-1:0]] == phase_q);
      if (phase_q != TbeFree) assert (made_q);
      if (made_q) assert (dut.what_q[watch[TbeWidth-1:0]] == what_q);
      if (made_q) assert (dut.flags_q[watch[TbeWidth-1:0]] == flags_q);
      if (stored_q) assert (dut.mask_q[watch[TbeWidth-1:0]] == mask_q);
      if (stored_q) assert (dut.data_q[watch[TbeWidth-1:0]] == data_q);
      if (kept_q) assert (dut.old_q[watch[TbeWidth-1:0]] == old_q);
      cover (ready_some_o && ready_id_o == watch && watch == 6'd2 && kept_q && stored_q);
      cover (open_o && !changes && watch == 6'd3 && mine && phase_q == TbeRuns);
    end
  end
endmodule
