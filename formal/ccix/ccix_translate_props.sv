// SPDX-License-Identifier: SHL-2.1
/// ccix_translate: a request with any watched tag goes to the agent once, only when atc has
/// answered it with a frame, at that frame, as it was asked; its use ends with the agent's
/// response, in the epoch of the answer, and nothing of it is offered after that. One without a
/// frame goes nowhere. Each request has one response, a fault exactly where it went nowhere.
///
/// With the proofs of atc and atc_epochs, in which an invalidation is complete when no use of an
/// older epoch is open: behind an invalidation that is answered no request is offered by what it
/// took away.
///
/// atc says anything: it answers what it was asked, once. Without DirectWrites no write goes on by
/// its virtual address, since atc says of none that it may (proved: formal/svm/atc.sby).
module ccix_translate_props
  import ccix_pkg::*;
  import svm_pkg::*;
#(
  parameter bit Early  = 1'b0,
  parameter bit Direct = 1'b0,
  parameter bit DirectWrites = 1'b1
) (
  input logic       clk_i,
  input logic       req_valid_i,
  input logic       req_write_i,
  input index_t     req_index_i,
  input logic [7:0] req_tag_i,
  input mask_t      req_mask_i,
  input line_t      req_data_i,
  input coherence_atomic_pkg::atomic_t req_atomic_i,
  input logic       phys_ready_i,
  input logic       phys_rsp_valid_i,
  input logic [7:0] phys_rsp_tag_i,
  input logic       phys_rsp_fault_i,
  input line_t      phys_rsp_data_i,
  input logic       msg_ready_i,
  input logic       in_valid_i,
  input word_t      in_word_i
);
  logic rst_ni, req_ready_o, rsp_valid_o, rsp_fault_o, phys_valid_o, phys_write_o, phys_direct_o;
  logic msg_valid_o, fail_o;
  logic [7:0] rsp_tag_o, phys_tag_o;
  logic [3:0] msg_words_o;
  index_t phys_index_o, phys_key_o;
  mask_t phys_mask_o;
  line_t rsp_data_o, phys_data_o;
  coherence_atomic_pkg::atomic_t phys_atomic_o;
  word_t [1:0] msg_o;
  ccix_translate #(
    .Early(Early), .Direct(Direct), .DirectWrites(DirectWrites), .Atomics(1'b1)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Any constant.
  logic [7:0] tag_q;
  always_ff @(posedge clk_i) tag_q <= tag_q;

  typedef struct packed {
    logic   write;
    index_t index;
    mask_t  mask;
    line_t  data;
    coherence_atomic_pkg::atomic_t atomic;
  } asked_t;
  typedef enum logic [1:0] {Free, Asked, Known, Sent} phase_e;
  phase_e phase_q;
  asked_t asked_q;
  logic ok_q, direct_q, fresh_q, take, answer, sent, ends, over, now_ok, now_direct;
  logic [1:0] epoch_q;
  logic [35:0] frame_q, now_frame;
  assign take   = dut.take && req_tag_i == tag_q;
  assign answer = dut.answer && dut.found.tag == tag_q;
  assign sent   = phys_valid_o && phys_ready_i && phys_tag_o == tag_q;
  assign ends   = dut.use_ends && phys_rsp_tag_i == tag_q;
  assign over   = rsp_valid_o && rsp_tag_o == tag_q;
  // With what it was answered, now or before.
  assign now_ok     = answer ? dut.found.ok : ok_q;
  assign now_direct = answer ? dut.found.direct : direct_q;
  assign now_frame  = answer ? dut.found.frame : frame_q;
  always_ff @(posedge clk_i) begin
    fresh_q <= started_q && take;  // in the cycle before
    if (!started_q) begin
      phase_q <= Free;
    end else begin
      case (phase_q)
        Free:    if (take) phase_q <= Asked;
        Asked:   if (answer) phase_q <= sent ? Sent : Known;
        Known:   if (over) phase_q <= take ? Asked : Free;
                 else if (sent) phase_q <= Sent;
        default: if (over) phase_q <= take ? Asked : Free;
      endcase
    end
    if (take) begin
      asked_q <= '{write: req_write_i, index: req_index_i, mask: req_mask_i, data: req_data_i,
                   atomic: req_atomic_i};
    end
    if (answer) begin
      ok_q     <= dut.found.ok;
      direct_q <= dut.found.direct;
      epoch_q  <= dut.use_epoch;
      frame_q  <= dut.found.frame;
    end
  end

  logic in_queue, in_out;
  assign in_queue = dut.u_known.there_q;
  assign in_out   = dut.out_valid_q && dut.out_q.tag == tag_q;
  always_comb begin
    if (started_q) begin
      // The requester, atc, the agent.
      if (req_valid_i && req_tag_i == tag_q) assume (phase_q == Free);
      if (dut.found.tag == tag_q && dut.answer) assume (phase_q == Asked);
      if (dut.answer) assume (Direct || dut.status != StatusDirect);
      if (!DirectWrites && answer && asked_q.write) assume (dut.status != StatusDirect);
      // What waits for the queue has a place there: as many as there are tags.
      assume (dut.u_known.usage_q != 9'd256);
      if (phys_rsp_valid_i && phys_rsp_tag_i == tag_q) assume (phase_q == Sent);
      if (phys_rsp_valid_i && phys_rsp_tag_i == tag_q && !direct_q) assume (!phys_rsp_fault_i);
      assume (dut.u_known.watch_q == tag_q && dut.u_requests.watch_q == tag_q);
      assume (dut.gen_atomics.u_atomics.watch_q == tag_q);

      // What is proved.
      if (phys_valid_o && phys_tag_o == tag_q) begin
        assert (phase_q == Known || (phase_q == Asked && answer));
        assert (now_ok || now_direct);
        assert (phys_direct_o == (now_direct && !now_ok));
        assert (phys_index_o == (phys_direct_o ? asked_q.index : {now_frame, asked_q.index[5:0]}));
        assert (phys_write_o == asked_q.write && phys_mask_o == asked_q.mask);
        assert (phys_data_o == asked_q.data && phys_atomic_o == asked_q.atomic);
        assert (phys_key_o == asked_q.index);
        assert (DirectWrites || !phys_direct_o || !phys_write_o);
      end
      if (ends) assert (phase_q == Sent && dut.end_epoch == epoch_q && ok_q);
      if (phase_q == Sent && over) assert (ends == ok_q && phys_rsp_valid_i);
      if (over) begin
        assert (phase_q == Sent || (phase_q == Known && !ok_q && !direct_q));
        assert (rsp_fault_o == (phase_q == Known || phys_rsp_fault_i));
        if (phase_q == Sent) assert (rsp_data_o == phys_rsp_data_i);
      end

      // What makes it inductive.
      assert (!(in_queue && in_out));
      assert ((phase_q == Known) == (in_queue || in_out));
      if (phase_q == Known) assert (!(ok_q && direct_q));
      if (phase_q == Known && direct_q) assert (DirectWrites || !asked_q.write);
      if (phase_q inside {Known, Sent}) begin
        assert (dut.epoch_q[tag_q] == epoch_q && dut.direct_q[tag_q] == direct_q);
        assert (ok_q != direct_q || phase_q == Known);
      end
      if (in_queue) assert (dut.u_known.held_q == {ok_q, direct_q, tag_q, frame_q});
      if (in_out) assert (dut.out_q == {ok_q, direct_q, tag_q, frame_q});
      if (phase_q inside {Asked, Known}) begin
        assert (dut.u_requests.held_q ==
                {asked_q.write, asked_q.index, asked_q.mask, asked_q.data});
        assert (dut.gen_atomics.u_atomics.held_q == asked_q.atomic);
      end
      if (in_out) begin
        assert (dut.stored == {asked_q.write, asked_q.index, asked_q.mask, asked_q.data});
        assert (dut.gen_atomics.atomic == asked_q.atomic);
      end
      if (fresh_q) assert (phase_q == Asked);
      cover (phase_q == Known && in_queue && dut.u_known.place_q == 9'd1);
      cover (phase_q == Known && over);
      cover (ends && dut.out_valid_q);
    end
  end
  if (Early) begin : gen_early
    logic [7:0] last_tag_q;
    always_ff @(posedge clk_i) if (dut.take) last_tag_q <= req_tag_i;
    always_comb begin
      if (started_q) begin
        // A hit in the cycle behind the request is of that one.
        if (dut.gen_early.taken_q && dut.answer) assume (dut.found.tag == last_tag_q);
        if (fresh_q) begin
          assert (dut.gen_early.taken_q && last_tag_q == tag_q);
          assert (dut.gen_early.last_q ==
                  {asked_q.write, asked_q.index, asked_q.mask, asked_q.data});
          assert (dut.gen_atomics.last_atomic_q == asked_q.atomic);
        end
        if (dut.gen_early.taken_q && last_tag_q == tag_q) assert (fresh_q);
        cover (sent && phase_q == Asked);
      end
    end
  end
endmodule
