// SPDX-License-Identifier: SHL-2.1
/// Operations of a cache's core between acceptance and decision: those of one line keep their
/// order, those of others pass what waits.
///
/// An operation stays in its place until it is decided. It is shown if all older ones of its line
/// are in the pipeline. One that must wait makes the caller drop those of its line behind it; it is
/// shown again when an answer or a GACK has changed what it waited for, and then they are. While
/// one waits, hold_o says that another asks for no line, unless it has waited: so lines that both
/// sides want are asked for together, and an operation waits so for one answer at most.
///
///   Handshake   core: valid/ready; core_ready_o depends on no input, valid_o on none. take_i: what
///               is shown goes into stage 1, and into stage 2 a cycle later unless drop_o or
///               late_drop_o. done_i, again_i: strobes of what is in stage 2. wake_i: strobe
///   Ordering    those of a line in theirs; between lines none, and each that may be shown is taken
///               after Places - 1 others    (proved: formal/coherence/coherence_cache_pending.sby)
///   Latency     core_valid_i to valid_o 1 cycle; wake_i to valid_o 1
///   Throughput  an operation a cycle
///   Parameters  Bytes of a line, 1..128; Places 0: coherence_cache_window, in which all keep their
///               order; else 2..64. Atomics 0: atomic_o is never valid
///   Not done    choosing the oldest line first
module coherence_cache_pending
  import coherence_pkg::*;
#(
  parameter int unsigned Bytes   = LineBytes,
  parameter int unsigned Places  = 16,
  parameter bit          Atomics = 1'b0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               core_valid_i,
  output logic               core_ready_o,
  input  core_e              core_op_i,
  input  index_t             core_index_i,
  input  logic [7:0]         core_tag_i,
  input  logic [Bytes-1:0]   core_mask_i,
  input  logic [8*Bytes-1:0] core_data_i,
  input  coherence_atomic_pkg::atomic_t core_atomic_i,
  output logic               valid_o,
  output core_e              op_o,
  output index_t             index_o,
  output logic [7:0]         tag_o,
  output logic [Bytes-1:0]   mask_o,
  output logic [8*Bytes-1:0] data_o,
  output coherence_atomic_pkg::atomic_t atomic_o,
  input  logic               take_i,
  input  logic               done_i,
  input  logic               again_i,
  input  logic               wake_i,      // an answer has come, or an MSHR is free
  output logic               drop_o,      // by what is in stage 2
  output logic               late_drop_o, // by what was there a cycle before
  output logic               hold_o       // what is in stage 2 must wait if it is a miss
);
  logic again_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) again_q <= 1'b0;
    else again_q <= again_i;
  end

  if (Places == 0) begin : gen_order
    coherence_cache_window #(.Bytes(Bytes), .Atomics(Atomics)) u_window (
      .clk_i, .rst_ni, .core_valid_i, .core_ready_o, .core_op_i, .core_index_i, .core_tag_i,
      .core_mask_i, .core_data_i, .core_atomic_i, .valid_o, .op_o, .index_o, .tag_o, .mask_o,
      .data_o, .atomic_o, .take_i, .done_i, .again_i
    );
    assign drop_o      = again_i;
    assign late_drop_o = again_q;
    assign hold_o      = 1'b0;
    logic unused;
    assign unused = wake_i;
  end else begin : gen_places
    if (Places < 2 || Places > 64) begin : gen_places_check
      $error("coherence_cache_pending: Places is %0d, legal is 0, 2..64", Places);
    end
    localparam int unsigned PlaceWidth = $clog2(Places);
    typedef logic [Places-1:0] places_t;
    typedef logic [PlaceWidth-1:0] place_t;
    typedef struct packed {
      core_e              op;
      logic [7:0]         tag;
      logic [Bytes-1:0]   mask;
      logic [8*Bytes-1:0] data;
    } operation_t;

    places_t used_q, waits_q, woken_q;  // waits; has waited
    places_t s1_q, s2_q, after_q;       // in that stage, or zero; those whose turn is next
    places_t older_q [Places];  // of the same line, and came before
    index_t index_q [Places];
    operation_t pend_q [Places];
    places_t flying, may, first, shown, free, same;
    place_t at, put_at;
    logic put, wake_q;
    index_t s1_index_q, s2_index_q, s3_index_q;

    // ---------------------------------------------------------------- a free place
    assign free         = ~used_q & -(~used_q);
    assign core_ready_o = used_q != '1;
    assign put          = core_valid_i && core_ready_o;
    always_comb begin
      put_at = '0;
      for (int unsigned p = 0; p < Places; p++) begin
        same[p] = used_q[p] && index_q[p] == core_index_i;
        if (free[p]) put_at = put_at | place_t'(p);
      end
    end

    // ---------------------------------------------------------------- what is shown
    assign flying = s1_q | s2_q;
    always_comb begin
      at = '0;
      for (int unsigned p = 0; p < Places; p++) begin
        may[p] = used_q[p] && !flying[p] && !waits_q[p] && (older_q[p] & ~flying) == '0;
        if (shown[p]) at = at | place_t'(p);
      end
    end
    assign first   = may & after_q;
    assign shown   = first != '0 ? first & -first : may & -may;
    assign valid_o = may != '0;
    assign index_o = index_q[at];
    assign {op_o, tag_o, mask_o, data_o} = pend_q[at];

    // ---------------------------------------------------------------- what must wait
    assign drop_o      = again_i && s1_index_q == s2_index_q;
    assign late_drop_o = again_q && s1_index_q == s3_index_q;
    assign hold_o      = waits_q != '0 && (s2_q & woken_q) == '0;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        {used_q, waits_q, woken_q, s1_q, s2_q} <= '0;
        after_q <= '1;
        wake_q  <= 1'b0;
      end else begin
        wake_q <= wake_i;
        used_q <= (used_q | (put ? free : '0)) & ~(done_i ? s2_q : '0);
        s1_q   <= take_i ? shown : '0;
        s2_q   <= drop_o || late_drop_o ? '0 : s1_q;
        if (take_i) after_q <= ~(shown | (shown - 1'b1));
        woken_q <= (woken_q | (wake_i ? waits_q : '0)) & ~(done_i ? s2_q : '0);
        // What it waits for may have come since it was looked up.
        if (wake_i) waits_q <= '0;
        else if (again_i && !wake_q) waits_q <= waits_q | s2_q;
      end
    end
    always_ff @(posedge clk_i) begin
      s1_index_q <= index_o;
      s2_index_q <= s1_index_q;
      s3_index_q <= s2_index_q;
      for (int unsigned p = 0; p < Places; p++) begin
        older_q[p] <= (put && free[p] ? same : older_q[p]) & ~(done_i ? s2_q : '0);
      end
      if (put) begin
        index_q[put_at] <= core_index_i;
        pend_q[put_at]  <= '{
          op: core_op_i, tag: core_tag_i, mask: core_mask_i, data: core_data_i
        };
      end
    end
    if (Atomics) begin : gen_atomics
      coherence_atomic_pkg::atomic_t atomic_q [Places];
      assign atomic_o = atomic_q[at];
      always_ff @(posedge clk_i) if (put) atomic_q[put_at] <= core_atomic_i;
    end else begin : gen_none
      assign atomic_o = '0;
      logic unused;
      assign unused = ^core_atomic_i;
    end
  end
endmodule
