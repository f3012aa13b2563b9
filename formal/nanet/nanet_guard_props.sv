// SPDX-License-Identifier: SHL-2.1
/// nanet_guard: what comes out is a header, its words, one end. A datagram passes whole, or its
/// header and first words pass with an end that is marked as overflow, or nothing of it passes.
/// What passes is unchanged and not delayed. Each header that is dropped is reported once.
///
/// Any datagrams at any time, and any stage behind.
module nanet_guard_props
  import nanet_pkg::*;
(
  input logic   clk_i,
  input logic   in_valid_i,
  input entry_t in_i,
  input logic   out_ready_i
);
  logic rst_ni, out_valid_o, lost_o, idle_o;
  entry_t out_o;
  nanet_guard dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Datagrams come whole: head, words, end.
  logic in_open_q, is_head, is_end, owed, took, takes_in;
  assign is_head = in_valid_i && in_i.kind == EntryHead;
  assign is_end  = in_valid_i && in_i.kind == EntryEnd;
  assign took    = out_valid_o && out_ready_i;

  // Of the datagram that comes: it has gone on so far, or its beginning has, or nothing.
  typedef enum logic [1:0] {All, Part, None} fate_e;
  fate_e fate_q, fate;
  // Whether what goes out is inside a datagram, and an end that is owed to it.
  logic   out_open_q, owed_q;
  entry_t owed_end_q, cut_end;
  end_t   overflow;
  assign overflow = '{overflow: 1'b1, good: 1'b0};
  assign cut_end  = {EntryEnd, 64'(overflow)};
  assign owed     = owed_q;
  assign takes_in = in_valid_i && !owed && out_ready_i && fate_q == All;

  always_comb begin
    fate = fate_q;
    if (is_head) fate = takes_in ? All : None;
    else if (in_valid_i && fate_q == All && !takes_in && !is_end) fate = Part;
  end
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      in_open_q  <= 1'b0;
      fate_q     <= All;
      out_open_q <= 1'b0;
      owed_q     <= 1'b0;
    end else begin
      if (in_valid_i) in_open_q <= !is_end;
      fate_q <= is_end ? All : fate;
      if (took) out_open_q <= out_o.kind != EntryEnd;
      // The end of one that has begun, where it did not go on itself.
      if (is_end && fate_q != None && !takes_in) begin
        owed_q     <= 1'b1;
        owed_end_q <= fate_q == Part ? cut_end : {EntryEnd, in_i.data & 64'h3};
      end else if (out_ready_i) begin
        owed_q <= 1'b0;
      end
    end
  end

  logic told_q;  // the head of the datagram that comes was announced
  always_ff @(posedge clk_i) told_q <= started_q && (is_head ? lost_o : told_q && !is_end);

  always_comb begin
    assume (in_i.kind inside {EntryHead, EntryData, EntryEnd});
    if (started_q) begin
      if (in_valid_i) assume (is_head == !in_open_q);
      // What goes on is what comes, or an end that is owed.
      assert (out_valid_o == (owed || (in_valid_i && fate_q == All)));
      if (out_valid_o) assert (out_o == (owed ? owed_end_q : in_i));
      if (took) assert ((out_o.kind == EntryHead) == !out_open_q);
      assert (lost_o == (is_head && !takes_in));
      if (told_q) assert (fate_q == None);
      assert (idle_o == (!in_valid_i && !owed && fate_q == All));
      // What makes the above inductive.
      assert (out_open_q == (owed || (in_open_q && fate_q != None)));
      assert (in_open_q || fate_q == All);
      assert (!(owed && in_open_q) || fate_q == None);
      assert (dut.end_q == owed_q && dut.skip_q == (fate_q == None) &&
              dut.cut_q == (fate_q == Part));
      if (owed_q) assert (owed_end_q == {EntryEnd, 64'(dut.end_kind_q)});
      cover (took && owed && owed_end_q == cut_end && fate_q == None);
      cover (took && owed && owed_end_q != cut_end);
      cover (took && is_end && !owed && out_open_q);
    end
  end
endmodule
