// SPDX-License-Identifier: SHL-2.1
/// Open transactions (TBE) of a home: which line each holds, what it waits for, and its bytes.
///
///   Contract    ready_*: one that can go on, the lowest; run_i takes it. free_*: one that is free,
///               the lowest. resume_*: what entered with the transaction resume_id_i. open_o,
///               open_id_o: the transaction of the line index_i, with what change_i does in this
///               cycle. at_*: the transaction at_id_i. change_i is made at the cycle's end, with
///               mask_i and data_i where store_i. old_valid_i stores an atomic's old value, one
///               cycle behind the change that goes with it
///   Ordering    change_i of the transaction that run_i takes wins; it does not occur
///   Latency     0 cycles: all outputs are of this cycle's inputs and state
///   Parameters  NumTbe a power of two, 2..64
///   Not done    one transaction a line: the caller looks before it opens one (proved with the
///               directory)
module coherence_directory_tbes
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
#(
  parameter int unsigned NumTbe = 16
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic         ready_some_o,
  output tbe_id_t      ready_id_o,
  input  logic         run_i,
  output logic         free_some_o,
  output tbe_id_t      free_id_o,
  input  tbe_id_t      resume_id_i,
  output what_t        resume_what_o,
  output mask_t        resume_mask_o,
  output line_t        resume_data_o,
  input  index_t       index_i,
  output logic         open_o,
  output tbe_id_t      open_id_o,
  input  tbe_id_t      at_id_i,
  output tbe_phase_e   at_phase_o,
  output flags_t       at_flags_o,
  output what_t        at_what_o,
  output logic [127:0] at_operands_o,  // of an atomic
  output logic [63:0]  at_old_o,
  input  tbe_change_t  change_i,
  input  logic         store_i,
  input  mask_t        mask_i,
  input  line_t        data_i,
  input  logic         old_valid_i,
  input  tbe_id_t      old_id_i,
  input  logic [63:0]  old_i
);
  localparam int unsigned TbeWidth = $clog2(NumTbe);
  typedef logic [TbeWidth-1:0] id_low_t;

  tbe_phase_e phase_q [NumTbe];
  what_t  what_q [NumTbe];
  flags_t flags_q [NumTbe];
  mask_t  mask_q [NumTbe];
  line_t  data_q [NumTbe];
  logic [63:0] old_q [NumTbe];
  id_low_t resume_id, at_id, change_at, old_id;
  assign resume_id = resume_id_i[TbeWidth-1:0];
  assign at_id     = at_id_i[TbeWidth-1:0];
  assign change_at = change_i.at[TbeWidth-1:0];
  assign old_id    = old_id_i[TbeWidth-1:0];

  always_comb begin
    ready_some_o = 1'b0;
    ready_id_o   = '0;
    free_some_o  = 1'b0;
    free_id_o    = '0;
    for (int i = int'(NumTbe) - 1; i >= 0; i--) begin
      if (phase_q[i] == TbeReady) begin
        ready_some_o = 1'b1;
        ready_id_o   = tbe_id_t'(i);
      end
      if (phase_q[i] == TbeFree) begin
        free_some_o = 1'b1;
        free_id_o   = tbe_id_t'(i);
      end
    end
  end

  // Compared before what changes is known; one at most is of the line.
  logic [NumTbe-1:0] same, open;
  always_comb begin
    for (int unsigned i = 0; i < NumTbe; i++) begin
      same[i] = phase_q[i] != TbeFree && what_q[i].index == index_i;
    end
  end
  assign open = same & ~(NumTbe'(change_i.write) << change_at);
  always_comb begin
    open_o    = open != '0;
    open_id_o = '0;
    for (int unsigned i = 0; i < NumTbe; i++) begin
      if (open[i]) open_id_o = open_id_o | tbe_id_t'(i);
    end
    if (change_i.write && change_i.phase != TbeFree && change_i.what.index == index_i) begin
      open_o    = 1'b1;
      open_id_o = change_i.at;
    end
  end

  assign resume_what_o = what_q[resume_id];
  assign resume_mask_o = mask_q[resume_id];
  assign resume_data_o = data_q[resume_id];
  assign at_phase_o    = phase_q[at_id];
  assign at_flags_o    = flags_q[at_id];
  assign at_what_o     = what_q[at_id];
  assign at_operands_o = data_q[at_id][127:0];
  assign at_old_o      = old_q[at_id];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < NumTbe; i++) phase_q[i] <= TbeFree;
    end else begin
      if (run_i) phase_q[ready_id_o[TbeWidth-1:0]] <= TbeRuns;
      if (change_i.write) phase_q[change_at] <= change_i.phase;
    end
  end
  always_ff @(posedge clk_i) begin
    if (change_i.write) begin
      what_q[change_at]  <= change_i.what;
      flags_q[change_at] <= change_i.flags;
    end
    if (change_i.write && store_i) begin
      mask_q[change_at] <= mask_i;
      data_q[change_at] <= data_i;
    end
    if (old_valid_i) old_q[old_id] <= old_i;
  end
  logic unused;
  assign unused = ^{resume_id_i, at_id_i, old_id_i};
endmodule
