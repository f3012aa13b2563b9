// SPDX-License-Identifier: SHL-2.1
/// Buffer of frames in one block RAM, readable before a frame's verdict, with commit and roll back.
///
/// Words are pushed and cannot be stalled; they can be read at once. At the frame's end the verdict
/// commits it, or takes back what was not read yet and, if some was, tells the reader.
///
///   Push        push_i with data_i; last_i marks the frame's last word. A word that finds no room is
///               not stored and the frame counts as bad: overflow_o pulses
///   Verdict     end_i, with good_i; at least one cycle after the last push
///   Read        valid_o/ready_i, data_o, last_o; verified_o: the word's frame is committed. open_o: a
///               word was read from the frame that has no verdict yet. abort_o: pulse with end_i, that
///               frame is bad. drop_o: pulse, a frame was taken back of which no word had been read.
///               valid_o is low in both these cycles
///   Latency     2 cycles from push to valid_o
///   Throughput  one word a cycle
///   Parameters  Width 8..64, Depth power of two 64..8192 (words; a frame longer than this is bad)
module etherbone_frame_buffer #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 1024
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  input  logic             last_i,
  input  logic             end_i,
  input  logic             good_i,
  output logic             commit_o,
  output logic             drop_o,
  output logic             overflow_o,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o,
  output logic             last_o,
  output logic             verified_o,
  output logic             open_o,
  output logic             abort_o,
  output logic             empty_o
);
  if (Width < 8 || Width > 64) begin : gen_width_check
    $error("etherbone_frame_buffer: Width is %0d, legal is 8..64", Width);
  end
  if (Depth < 64 || Depth > 8192 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("etherbone_frame_buffer: Depth is %0d, legal are powers of two 64..8192", Depth);
  end

  localparam int unsigned PtrW = $clog2(Depth) + 1;

  logic [Width:0] mem[Depth];
  logic [Width:0] head_q;
  logic head_valid_q;
  logic [PtrW-1:0] wr_q, rd_q;  // rd_q: next word to fetch into the head register
  logic [PtrW-1:0] committed_q;  // committed words not yet taken, the head included
  logic [PtrW-1:0] waiting_q;  // words of the frame without verdict, not yet taken
  logic taken_q;  // the reader took words of the frame without verdict
  logic lost_q;  // the frame without verdict lost a word

  logic full, take, take_open, good, bad, fetch;
  assign full      = (wr_q - rd_q) == PtrW'(Depth);
  assign good      = end_i && good_i && !lost_q;
  assign bad       = end_i && !good;
  assign verified_o = committed_q != '0;
  // No word leaves in the cycle of a bad verdict: the head could otherwise pass the roll back.
  assign valid_o   = head_valid_q && !bad;
  assign take      = valid_o && ready_i;
  assign take_open = take && !verified_o;
  assign fetch     = (!head_valid_q || take) && rd_q != wr_q;

  always_ff @(posedge clk_i) begin
    if (push_i && !full) mem[wr_q[PtrW-2:0]] <= {last_i, data_i};
    if (fetch) head_q <= mem[rd_q[PtrW-2:0]];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q         <= '0;
      rd_q         <= '0;
      head_valid_q <= 1'b0;
      committed_q  <= '0;
      waiting_q    <= '0;
      taken_q      <= 1'b0;
      lost_q       <= 1'b0;
    end else begin
      if (bad && !verified_o) begin
        // Nothing committed is left: all that is stored belongs to the bad frame.
        rd_q         <= wr_q;
        head_valid_q <= 1'b0;
      end else if (fetch) begin
        rd_q         <= rd_q + PtrW'(1);
        head_valid_q <= 1'b1;
      end else if (take) begin
        head_valid_q <= 1'b0;
      end

      if (push_i && !full) wr_q <= wr_q + PtrW'(1);
      else if (bad && verified_o) wr_q <= wr_q - waiting_q;

      if (good) committed_q <= committed_q + waiting_q - PtrW'(take);
      else if (take && verified_o) committed_q <= committed_q - PtrW'(1);

      if (end_i) waiting_q <= '0;
      else waiting_q <= waiting_q + PtrW'(push_i && !full) - PtrW'(take_open);

      if (end_i) taken_q <= 1'b0;
      else if (take_open) taken_q <= 1'b1;

      if (end_i) lost_q <= 1'b0;
      else if (push_i && full) lost_q <= 1'b1;
    end
  end

  assign commit_o   = good;
  assign abort_o    = bad && taken_q;
  assign drop_o     = bad && !taken_q;
  assign overflow_o = push_i && full && !lost_q;
  assign open_o     = taken_q && !end_i;
  assign data_o     = head_q[Width-1:0];
  assign last_o     = head_q[Width];
  assign empty_o    = wr_q == rd_q && !head_valid_q;
endmodule
