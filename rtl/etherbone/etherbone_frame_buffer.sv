// SPDX-License-Identifier: SHL-2.1
/// Buffer of frames in one block RAM, readable before a frame's verdict, with commit and roll back.
///
/// Words are pushed and cannot be stalled; they can be read at once. At the frame's end the verdict
/// commits the frame, or removes its unread words and notifies the reader if some were read.
///
///   Push        push_i with data_i; last_i marks the frame's last word. A word that finds no room
///               is not stored and the frame counts as bad: overflow_o pulses
///   Verdict     end_i, with good_i; at least one cycle after the last push
///   Read        valid_o/ready_i, data_o, last_o; verified_o: the word's frame is committed.
///               open_o: a word was read from the frame that has no verdict yet. abort_o: pulse
///               with end_i, that frame is bad. drop_o: pulse, a frame was taken back of which no
///               word had been read. valid_o is low in both these cycles
///   Latency     1 cycle from push to valid_o when empty, else 3 behind the word before it
///   Order       a committed frame's words come out in order, each once; nothing of a bad frame
///               comes after its verdict           (proved:
///               formal/etherbone/etherbone_frame_buffer.sby)
///   Throughput  one word a cycle
///   Parameters  Width 8..64, Depth power of two 8..8192 (words; the proof runs 8; a frame longer
///               than Depth - 2 is bad), Frames 2..64 committed frames at a time: the caller must
///               not commit more
module etherbone_frame_buffer #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 1024,
  parameter int unsigned Frames = 32
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
  if (Depth < 8 || Depth > 8192 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("etherbone_frame_buffer: Depth is %0d, legal are powers of two 8..8192", Depth);
  end

  if (Frames < 2 || Frames > 64) begin : gen_frames_check
    $error("etherbone_frame_buffer: Frames is %0d, legal is 2..64", Frames);
  end

  localparam int unsigned PtrW = $clog2(Depth) + 1;
  localparam int unsigned FrameW = $clog2(Frames + 1);

  logic [Width:0] mem[Depth];
  // Two registers behind the memory: block RAM is slow from clock to output.
  logic [Width:0] fetched_q, head_q;
  logic fetched_valid_q, head_valid_q;
  logic [PtrW-1:0] wr_q, rd_q;  // rd_q: next word to fetch
  logic [PtrW-1:0] start_q;  // first word of the frame without verdict
  logic [FrameW-1:0] frames_q, frames_d;  // committed frames whose last word is not taken
  logic verified_q;  // frames_q is not 0
  logic taken_q;  // the reader took words of the frame without verdict,
  logic finished_q;  // its last one included
  logic lost_q;  // the frame without verdict lost a word
  logic full_q;

  logic take, take_open, take_last, good, bad, fetch, move, pass, store;
  // A word stored into an empty buffer is written directly to the head.
  assign pass       = push_i && !head_valid_q && !fetched_valid_q && rd_q == wr_q;
  assign store      = push_i && !full_q && !pass;
  assign good       = end_i && good_i && !lost_q;
  assign bad        = end_i && !good;
  // No transfer in the cycle of a bad verdict: a word could otherwise bypass the roll back.
  assign valid_o    = head_valid_q && !bad;
  assign take       = valid_o && ready_i;
  assign take_open  = take && !verified_q;
  assign take_last  = take && last_o;
  assign move       = fetched_valid_q && (!head_valid_q || take) && !bad;
  assign fetch      = (!fetched_valid_q || move) && rd_q != wr_q && !bad;

  always_ff @(posedge clk_i) begin
    if (store) mem[wr_q[PtrW-2:0]] <= {last_i, data_i};
    if (!fetched_valid_q || move) fetched_q <= mem[rd_q[PtrW-2:0]];
    if (move) head_q <= fetched_q;
    else if (pass) head_q <= {last_i, data_i};
  end

  logic one_more, one_less;
  assign one_more = good && !finished_q && !(take_open && last_o);
  assign one_less = take_last && verified_q;
  assign frames_d = frames_q + FrameW'(one_more) - FrameW'(one_less);

  // On a bad verdict the registers keep the words of committed frames and discard the rest.
  logic keep_head, keep_fetched;
  assign keep_head    = verified_q;
  assign keep_fetched = verified_q && !(head_valid_q && last_o && frames_q == FrameW'(1));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q            <= '0;
      rd_q            <= '0;
      start_q         <= '0;
      head_valid_q    <= 1'b0;
      fetched_valid_q <= 1'b0;
      frames_q        <= '0;
      verified_q      <= 1'b0;
      taken_q         <= 1'b0;
      finished_q      <= 1'b0;
      lost_q          <= 1'b0;
      full_q          <= 1'b0;
    end else begin
      if (bad) begin
        wr_q            <= start_q;
        head_valid_q    <= head_valid_q && keep_head;
        fetched_valid_q <= fetched_valid_q && keep_fetched;
        if (!keep_head || (fetched_valid_q && !keep_fetched)) rd_q <= start_q;
      end else begin
        if (store) wr_q <= wr_q + PtrW'(1);
        if (fetch) rd_q <= rd_q + PtrW'(1);
        head_valid_q    <= move || pass || (head_valid_q && !take);
        fetched_valid_q <= fetch || (fetched_valid_q && !move);
      end
      if (good) start_q <= wr_q;

      frames_q   <= frames_d;
      // frames_d != 0, without waiting for its adder.
      verified_q <= one_more || (one_less ? frames_q > FrameW'(1) : frames_q != '0);
      taken_q    <= !end_i && (taken_q || take_open);
      finished_q <= !end_i && (finished_q || (take_open && last_o));
      lost_q     <= !end_i && (lost_q || (push_i && full_q && !pass));
      // One cycle late, hence the margin.
      full_q     <= (wr_q - rd_q) >= PtrW'(Depth - 2);
    end
  end

  assign verified_o = verified_q;
  assign commit_o   = good;
  assign abort_o    = bad && taken_q;
  assign drop_o     = bad && !taken_q;
  assign overflow_o = push_i && full_q && !pass && !lost_q;
  assign open_o     = taken_q && !end_i;
  assign data_o     = head_q[Width-1:0];
  assign last_o     = head_q[Width];
  assign empty_o    = wr_q == rd_q && !fetched_valid_q && !head_valid_q;
endmodule
