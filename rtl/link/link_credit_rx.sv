// SPDX-License-Identifier: SHL-2.1
/// A receiver's credits: words received for each buffer, words freed of it, and what to tell and when.
///
/// `freed = received - stored`: a word that came and is not in its buffer has been read, refused or
/// lost. So there is no second count that could disagree with the buffer.
///
/// A scan compares `freed` with what was told last, id after id, and offers a CREDIT: while packets wait
/// for one of CreditWords words or more, else for any. Every RefreshWords cycles a CREDIT or a CHECK is
/// due of the next id whatever was told; if packets leave no room, one in 16 of them is pressing.
///
///   Handshake   offer_valid_o stays until take_i; its count may move on meanwhile
///   Ordering    ids in turn
///   Latency     4 cycles from stored_i to the offer when the scan is there; NumRxIds to come round
///   Throughput  one word counted a cycle
///   Parameters  NumRxIds and NumTxIds 1..64, CreditWords 1..512, RefreshWords 16..4096 (a power of two)
module link_credit_rx
  import link_pkg::*;
#(
  parameter int unsigned NumRxIds     = 8,
  parameter int unsigned NumTxIds     = 1,
  parameter int unsigned CreditWords  = 64,
  parameter int unsigned RefreshWords = 64
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,       // for NumRxIds cycles at least
  // Words that come: link_rx's outputs.
  input  logic                  sync_i,        // received := field_count_i
  input  id_t                   field_id_i,
  input  count_t                field_count_i,
  input  logic                  word_i,        // a data or end flit
  input  id_t                   word_id_i,
  input  count_t [NumRxIds-1:0] stored_i,      // a register; shows a word one cycle after word_i
  // Words to send.
  input  logic                  busy_i,        // packets want the link
  output logic                  offer_valid_o, // a CREDIT is offered
  output logic                  pressing_o,    // it, or the CHECK, is worth making packets wait for
  output id_t                   offer_id_o,
  output count_t                offer_count_o, // may be sent again after take_i, but not before any
  output logic                  check_o,       // a CHECK is due, of check_id_o
  output logic                  check_first_o, // it goes before the CREDIT
  output id_t                   check_id_o,
  input  logic                  take_credit_i,
  input  logic                  take_check_i
);
  localparam int unsigned AddrWidth  = NumRxIds > 1 ? $clog2(NumRxIds) : 1;
  localparam int unsigned TimerWidth = $clog2(RefreshWords);
  typedef logic [AddrWidth-1:0] addr_t;

  if (NumRxIds < 1 || NumRxIds > 64 || NumTxIds < 1 || NumTxIds > 64) begin : gen_ids_check
    $error("link_credit_rx: NumRxIds %0d, NumTxIds %0d, legal is 1..64", NumRxIds, NumTxIds);
  end
  if (CreditWords < 1 || CreditWords > DepthMax) begin : gen_credit_check
    $error("link_credit_rx: CreditWords is %0d, legal is 1..%0d", CreditWords, DepthMax);
  end
  if (RefreshWords < 16 || RefreshWords > 4096 || RefreshWords != 1 << TimerWidth)
  begin : gen_refresh_check
    $error("link_credit_rx: RefreshWords is %0d, legal is a power of two, 16..4096", RefreshWords);
  end

  // Words received, one cycle behind, so that SOP and CHECK have a cycle of their own.
  logic   sync_q, word_q;
  count_t op_count_q;
  addr_t  op_id_q, clear_addr_q, received_addr;
  count_t received_q[NumRxIds];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sync_q       <= 1'b0;
      word_q       <= 1'b0;
      clear_addr_q <= '0;
    end else begin
      sync_q       <= sync_i;
      word_q       <= word_i;
      clear_addr_q <= clear_addr_q == addr_t'(NumRxIds - 1) ? '0 : clear_addr_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    op_id_q    <= addr_t'(sync_i ? field_id_i : word_id_i);
    op_count_q <= field_count_i;
  end

  assign received_addr = clear_i ? clear_addr_q : op_id_q;

  always_ff @(posedge clk_i) begin
    if (clear_i) received_q[received_addr] <= '0;
    else if (sync_q) received_q[received_addr] <= op_count_q;
    else if (word_q) received_q[received_addr] <= received_q[received_addr] + 1'b1;
  end

  // The scan: id, then freed, then how much of it is untold.
  addr_t  scan_q, scan1_q, scan2_q, scan3_q;
  logic   valid1_q, valid2_q, valid3_q, restart;
  count_t stored1_q, freed2_q, told2_q, freed3_q, untold3_q;
  count_t told_q[NumRxIds];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scan_q   <= '0;
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end else begin
      valid1_q <= !restart;
      valid2_q <= valid1_q && !restart;
      valid3_q <= valid2_q && !restart;
      if (take_credit_i) begin
        scan_q <= addr_t'(offer_id_o) == addr_t'(NumRxIds - 1) ? '0 : addr_t'(offer_id_o) + 1'b1;
      end else begin
        scan_q <= scan_q == addr_t'(NumRxIds - 1) ? '0 : scan_q + 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    scan1_q   <= scan_q;
    stored1_q <= stored_i[scan_q];
    scan2_q   <= scan1_q;
    freed2_q  <= received_q[scan1_q] - stored1_q;
    told2_q   <= told_q[scan1_q];
    scan3_q   <= scan2_q;
    freed3_q  <= freed2_q;
    untold3_q <= freed2_q - told2_q;
  end

  // After a take the scan goes on behind it; what was read before is stale.
  assign restart = clear_i || take_credit_i;

  addr_t told_addr;
  assign told_addr = clear_i ? clear_addr_q : addr_t'(offer_id_o);
  // Cleared to what no buffer's fill can make equal to freed = -stored: every id is told at the start.
  always_ff @(posedge clk_i) begin
    if (clear_i) told_q[told_addr] <= count_t'(DepthMax - 1);
    else if (take_credit_i) told_q[told_addr] <= offer_count_o;
  end

  // What is due of which id, whatever was told.
  logic [TimerWidth+3:0] timer_q;
  logic                  due_q, late_q, due_check_q;
  id_t                   due_id_q;
  logic                  due_credit_done, due_done, more_rx, more_tx;

  assign more_rx = 32'(due_id_q) + 1 < NumRxIds;
  assign more_tx = 32'(due_id_q) + 1 < NumTxIds;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      timer_q     <= '0;
      due_q       <= 1'b0;
      late_q      <= 1'b0;
      due_check_q <= 1'b0;
      due_id_q    <= '0;
    end else begin
      timer_q <= timer_q + 1'b1;
      if (due_done) begin
        due_q  <= 1'b0;
        late_q <= 1'b0;
        // CREDIT then CHECK of an id, as far as there are both; then the next id.
        if (!due_check_q && 32'(due_id_q) < NumTxIds) begin
          due_check_q <= 1'b1;
        end else if (more_rx || more_tx) begin
          due_check_q <= !more_rx;
          due_id_q    <= due_id_q + 1'b1;
        end else begin
          due_check_q <= 1'b0;
          due_id_q    <= '0;
        end
      end else begin
        if (&timer_q[TimerWidth-1:0]) due_q <= 1'b1;
        if (&timer_q) late_q <= due_q;
      end
    end
  end

  assign check_o       = due_q && due_check_q;
  assign check_first_o = check_o && late_q;
  assign check_id_o    = due_id_q;
  assign due_done      = due_q && (due_check_q ? take_check_i : due_credit_done);

  // The offer.
  logic any, urgent, due_here, same, load, urgent_q, due_offer_q;

  assign any      = untold3_q != '0;
  assign urgent   = untold3_q >= count_t'(CreditWords);
  assign due_here = due_q && !due_check_q && addr_t'(due_id_q) == scan3_q;
  assign same     = offer_valid_o && addr_t'(offer_id_o) == scan3_q;

  always_comb begin
    load = 1'b0;
    if (valid3_q && !restart) begin
      if (same) load = 1'b1;
      else if (!offer_valid_o) load = urgent || due_here || (any && !busy_i);
      else if (!urgent_q) load = urgent || (due_here && late_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      offer_valid_o <= 1'b0;
      urgent_q      <= 1'b0;
      due_offer_q   <= 1'b0;
    end else if (restart) begin
      offer_valid_o <= 1'b0;
      urgent_q      <= 1'b0;
      due_offer_q   <= 1'b0;
    end else if (load) begin
      offer_valid_o <= 1'b1;
      urgent_q      <= urgent;
      due_offer_q   <= due_here;
    end
  end
  always_ff @(posedge clk_i) begin
    if (load) begin
      offer_id_o    <= id_t'(scan3_q);
      offer_count_o <= freed3_q;
    end
  end

  assign due_credit_done = take_credit_i && due_offer_q;
  assign pressing_o      = (offer_valid_o && urgent_q) || (late_q && (due_offer_q || check_o));
endmodule
