// SPDX-License-Identifier: SHL-2.1
/// A receiver's credits: words received for each buffer, words freed of it, and what to report and
/// when; and when to send the far end a CHECK.
///
/// `freed = received - stored`: a word that came and is not in its buffer has been read, refused or
/// lost. So there is no second count that could disagree with the buffer.
///
/// A scan compares `freed` with what was reported last, id after id, and offers a CREDIT: while
/// packets wait for one of CreditWords words or more, else for any, and for any id that a CHECK has
/// asked for. While the far end has not freed all that was sent to an id, a CHECK of it is due, ids
/// in turn, every RefreshWords cycles. Packets wait for a CHECK or its answer once in 16
/// RefreshWords cycles at most. Nothing stored, nothing untold, nothing due:
/// the scan and the timer rest.
///
///   Handshake   offer_valid_o stays until taken; its count may move on meanwhile
///   Ordering    ids in turn
///   Latency     4 cycles from stored_i to the offer when the scan is there, 5 with Early; NumRxIds
///               to come round
///   Throughput  one word counted a cycle
///   Parameters  NumRxIds and NumTxIds 1..64, CreditWords 1..512, RefreshWords 16..4096 (a power of
///               two). Early 1: flits come a cycle earlier than their words' other strobes (link_rx
///               without FlitRegister); what is reported, and when, is the same
module link_credit_rx
  import link_pkg::*;
#(
  parameter int unsigned NumRxIds     = 8,
  parameter int unsigned NumTxIds     = 1,
  parameter int unsigned CreditWords  = 64,
  parameter int unsigned RefreshWords = 64,
  parameter bit          Early        = 1'b0,
  parameter int unsigned CountWidth     = CountBits,
  localparam type        count_t        = logic [CountWidth-1:0]
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,       // for NumRxIds cycles at least
  // Words that come: link_rx's outputs.
  input  logic                  sync_i,        // SOP or CHECK: received := sync_count_i
  input  id_t                   sync_id_i,
  input  count_t                sync_count_i,
  input  logic                  ask_i,         // CHECK
  input  id_t                   ask_id_i,
  input  logic                  word_i,        // a data or end flit
  input  id_t                   word_id_i,
  input  count_t [NumRxIds-1:0] stored_i,      // shows a word one cycle after word_i
  // Words to send.
  input  logic                  busy_i,        // packets want the link
  input  logic [NumTxIds-1:0]   whole_i,       // everything sent to the id has been freed
  output logic                  offer_valid_o, // a CREDIT is offered
  output logic                  pressing_o,    // it, or the CHECK, is worth making packets wait for
  output id_t                   offer_id_o,
  output count_t                offer_count_o, // may be sent again after it was taken
  output logic                  check_o,       // a CHECK is due, of check_id_o
  output logic                  check_first_o, // it goes before the CREDIT
  output id_t                   check_id_o,
  input  logic                  take_credit_i,
  input  logic                  take_check_i,
  output logic                  idle_o
);
  localparam int unsigned AddrWidth   = NumRxIds > 1 ? $clog2(NumRxIds) : 1;
  localparam int unsigned TxAddrWidth = NumTxIds > 1 ? $clog2(NumTxIds) : 1;
  localparam int unsigned TimerWidth  = $clog2(RefreshWords);
  // Ids that are to be found at rest, one after the other, and those that the scan has in its
  // stages.
  localparam int unsigned RestCount   = NumRxIds + 4;
  localparam int unsigned RestWidth   = $clog2(RestCount + 1);
  typedef logic [AddrWidth-1:0] addr_t;
  typedef logic [TxAddrWidth-1:0] tx_addr_t;
  typedef logic [RestWidth-1:0] rest_t;

  logic unused;
  assign unused = &{1'b0, ask_id_i};

  if (NumRxIds < 1 || NumRxIds > 64 || NumTxIds < 1 || NumTxIds > 64) begin : gen_ids_check
    $error("link_credit_rx: NumRxIds %0d, NumTxIds %0d, legal is 1..64", NumRxIds, NumTxIds);
  end
  localparam int unsigned HalfRange = 1 << (CountWidth - 1);
  if (CreditWords < 1 || CreditWords > HalfRange) begin : gen_credit_check
    $error("link_credit_rx: CreditWords is %0d, legal is 1..%0d", CreditWords, HalfRange);
  end
  if (RefreshWords < 16 || RefreshWords > 4096 || RefreshWords != 1 << TimerWidth)
  begin : gen_refresh_check
    $error("link_credit_rx: RefreshWords is %0d, legal is a power of two, 16..4096", RefreshWords);
  end

  function automatic addr_t next(addr_t id);
    if (NumRxIds == 1 << AddrWidth) return id + 1'b1;
    return id == addr_t'(NumRxIds - 1) ? '0 : id + 1'b1;
  endfunction
  function automatic tx_addr_t tx_next(tx_addr_t id);
    if (NumTxIds == 1 << TxAddrWidth) return id + 1'b1;
    return id == tx_addr_t'(NumTxIds - 1) ? '0 : id + 1'b1;
  endfunction

  // Words received: like stored_i, a cycle behind the flits.
  logic   moved_q, moved2_q;
  count_t received;
  addr_t  clear_addr_q, received_addr;
  count_t received_q[NumRxIds];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      moved_q      <= 1'b0;
      moved2_q     <= 1'b0;
      clear_addr_q <= '0;
    end else begin
      moved_q  <= sync_i || word_i;
      moved2_q <= moved_q;
      if (!clear_i) clear_addr_q <= '0;
      else if (clear_addr_q != addr_t'(NumRxIds - 1)) clear_addr_q <= clear_addr_q + 1'b1;
    end
  end

  assign received_addr = clear_i ? clear_addr_q : addr_t'(sync_i ? sync_id_i : word_id_i);
  assign received      = received_q[received_addr];

  always_ff @(posedge clk_i) begin
    if (clear_i) received_q[received_addr] <= '0;
    else if (sync_i) received_q[received_addr] <= sync_count_i;
    else if (word_i) received_q[received_addr] <= received + 1'b1;
  end

  // An id that a CHECK has asked for: the newest; an older one is asked for again.
  logic  ask_q, ask_offer_q;
  addr_t ask_id_q;

  // The scan: id; what is freed of it; then, against what was reported of it last, how much is
  // untold. What was read before a take or a CHECK is stale. An early word waits one stage more: it
  // is read for the id that comes next.
  localparam int unsigned Stages = Early ? 4 : 3;
  addr_t  scan_d, scan_q, scan1_q, scan2_q, scan3_q, look;
  logic   valid1_q, valid2_q, valid3_q, stale, rest;
  count_t [Stages-1:0] freed_q;
  logic   [Stages-1:0] empty_q;
  count_t freed3, untold3;
  logic   empty3;
  count_t told_q[NumRxIds];

  assign stale = clear_i || take_credit_i || ask_i;
  assign look  = Early ? scan_d : scan_q;

  always_comb begin
    if (clear_i || rest) scan_d = '0;
    else if (take_credit_i) scan_d = next(addr_t'(offer_id_o));
    else scan_d = next(scan_q);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scan_q   <= '0;
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end else begin
      scan_q   <= scan_d;
      valid1_q <= !stale;
      valid2_q <= valid1_q && !stale;
      valid3_q <= valid2_q && !stale;
    end
  end
  // Stages that nothing is done in need no reset: where there are shift registers in LUTs, they are
  // that.
  always_ff @(posedge clk_i) begin
    scan1_q <= scan_q;
    scan2_q <= scan1_q;
    scan3_q <= scan2_q;
    freed_q <= {freed_q[Stages-2:0], received_q[look] - stored_i[look]};
    empty_q <= {empty_q[Stages-2:0], stored_i[look] == '0};
  end
  assign freed3  = freed_q[Stages-1];
  assign empty3  = empty_q[Stages-1];
  assign untold3 = freed3 - told_q[scan3_q];

  addr_t told_addr;
  assign told_addr = clear_i ? clear_addr_q : addr_t'(offer_id_o);
  // Cleared to what freed = -stored can never be: every id is reported at the start.
  always_ff @(posedge clk_i) begin
    if (clear_i) told_q[told_addr] <= count_t'(HalfRange - 1);
    else if (take_credit_i) told_q[told_addr] <= offer_count_o;
  end

  // Time, as long as something may be missing at either end.
  logic [TimerWidth+3:0] timer_q;
  logic                  due_q, late_q, whole;
  tx_addr_t              due_id_q;

  assign whole = &whole_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      timer_q  <= '0;
      due_q    <= 1'b0;
      late_q   <= 1'b0;
      due_id_q <= '0;
    end else if (clear_i || (whole && !ask_q)) begin
      timer_q  <= '0;
      due_q    <= 1'b0;
      late_q   <= 1'b0;
      due_id_q <= '0;
    end else begin
      timer_q <= timer_q + 1'b1;
      due_q   <= !take_check_i && !whole && (due_q || &timer_q[TimerWidth-1:0]);
      // Set by the long time, spent by the first word that packets waited for.
      late_q  <= late_q ? !(take_check_i || (take_credit_i && ask_offer_q)) : &timer_q;
      if (take_check_i || whole_i[due_id_q]) due_id_q <= tx_next(due_id_q);
    end
  end

  assign check_o       = due_q && !whole_i[due_id_q];
  assign check_first_o = check_o && late_q;
  assign check_id_o    = id_t'(due_id_q);

  // The offer.
  logic any, urgent, asked, same, load, urgent_q;

  assign any    = untold3 != '0;
  assign urgent = untold3 >= count_t'(CreditWords);
  assign asked  = ask_q && ask_id_q == scan3_q;
  assign same   = addr_t'(offer_id_o) == scan3_q;

  always_comb begin
    load = 1'b0;
    if (valid3_q && !stale) begin
      if (offer_valid_o) load = same || (!urgent_q && (urgent || (asked && late_q)));
      else load = urgent || asked || (any && !busy_i);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      offer_valid_o <= 1'b0;
      urgent_q      <= 1'b0;
      ask_offer_q   <= 1'b0;
      ask_q         <= 1'b0;
    end else begin
      if (clear_i || take_credit_i) begin
        offer_valid_o <= 1'b0;
        urgent_q      <= 1'b0;
        ask_offer_q   <= 1'b0;
      end else if (load) begin
        offer_valid_o <= 1'b1;
        urgent_q      <= urgent;
        ask_offer_q   <= asked;
      end else if (ask_i) begin
        // What is offered was read before this CHECK: it is no answer to it.
        ask_offer_q <= 1'b0;
      end
      if (clear_i) ask_q <= 1'b0;
      else if (ask_i) ask_q <= 1'b1;
      else if (take_credit_i && ask_offer_q) ask_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (ask_i) ask_id_q <= addr_t'(ask_id_i);
    if (load) begin
      offer_id_o    <= id_t'(scan3_q);
      offer_count_o <= freed3;
    end
  end

  assign pressing_o = (offer_valid_o && (urgent_q || (ask_offer_q && late_q))) || check_first_o;

  // Rest: no id has anything stored or untold, and no word has come meanwhile.
  rest_t rest_q;
  logic  moving, stirred;

  assign stirred = moved_q || (Early ? moved2_q : sync_i || word_i) || stale || ask_q ||
                   offer_valid_o;
  assign moving  = stirred || (valid3_q && (any || !empty3));
  assign rest   = rest_q == rest_t'(RestCount);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rest_q <= '0;
    else if (moving) rest_q <= '0;
    else if (valid3_q && !rest) rest_q <= rest_q + 1'b1;
  end

  // Nothing changes at the next edge unless an input does: at rest nothing is untold until a word
  // comes.
  assign idle_o = {scan_q, scan1_q, scan2_q, scan3_q} == '0 && (clear_i ?
      clear_addr_q == addr_t'(NumRxIds - 1) && !moved_q && !moved2_q && !valid3_q :
      rest && !stirred && !sync_i && !word_i && whole && timer_q == '0);
endmodule
