// SPDX-License-Identifier: SHL-2.1
/// etherbone_frame_buffer against a model of two counts: committed words not read yet, and words of
/// the frame without verdict not read yet.
///
/// One word is watched, chosen by its place in the stream; as the choice is free, what holds for it
/// holds for every word.
module etherbone_frame_buffer_props #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 8,
  parameter int unsigned Frames = 2
) (
  input logic             clk_i,
  input logic             push_i,
  input logic [Width-1:0] data_i,
  input logic             last_i,
  input logic             end_i,
  input logic             good_i,
  input logic             ready_i
);
  logic             rst_ni, commit_o, drop_o, overflow_o, valid_o, last_o;
  logic             verified_o, open_o, abort_o, empty_o;
  logic [Width-1:0] data_o;

  etherbone_frame_buffer #(.Width(Width), .Depth(Depth), .Frames(Frames)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- model
  localparam int unsigned NumW = $clog2(Depth) + 1;  // Depth + 2 registers < 2**NumW
  typedef logic [NumW-1:0] num_t;
  num_t committed_q, opened_q;  // unread words: committed frames, open frame
  num_t written_q, read_q;      // places in the stream
  num_t frames_q;               // committed frames whose last word is not read yet
  logic taken_q;                // a word was read from the frame without verdict
  logic missed_q;               // a word of it found no room
  logic last_q;                 // its last word was pushed
  logic rolled_q;               // a bad verdict came in the clock before
  logic accept, good, bad, take;

  assign accept = push_i && (dut.store || dut.pass);
  assign good   = end_i && good_i && !missed_q;
  assign bad    = end_i && !good;
  assign take   = valid_o && ready_i;

  num_t committed_d, opened_d;
  assign committed_d = committed_q - num_t'(take && committed_q != '0);
  assign opened_d    = opened_q - num_t'(take && committed_q == '0) + num_t'(accept);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      committed_q <= '0;
      opened_q    <= '0;
      written_q   <= '0;
      read_q      <= '0;
      frames_q    <= '0;
      taken_q     <= 1'b0;
      missed_q    <= 1'b0;
      last_q      <= 1'b0;
      rolled_q    <= 1'b0;
    end else begin
      committed_q <= good ? committed_d + opened_d : committed_d;
      opened_q    <= end_i ? '0 : opened_d;
      // A bad frame's words that were not read have never been.
      written_q   <= bad ? written_q - opened_q : written_q + num_t'(accept);
      read_q      <= read_q + num_t'(take);
      frames_q    <= frames_q + num_t'(good && opened_d != '0) -
                     num_t'(take && last_o && committed_q != '0);
      taken_q     <= !end_i && (taken_q || (take && committed_q == '0));
      missed_q    <= !end_i && (missed_q || (push_i && !accept));
      rolled_q    <= bad;
      last_q      <= !end_i && (last_q || (push_i && last_i));
    end
  end

  // Never assigned another value and not initialised: any constant.
  num_t watch_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;
  logic live_q;
  logic [Width:0] word_q;
  num_t offset;
  assign offset = watch_q - read_q;

  logic [2:0] wait_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      live_q <= 1'b0;
      wait_q <= '0;
    end else begin
      if (accept && written_q == watch_q) begin
        live_q <= 1'b1;
        word_q <= {last_i, data_i};
      end else if (take && read_q == watch_q) begin
        live_q <= 1'b0;
      end else if (bad && offset >= committed_q) begin
        live_q <= 1'b0;
      end
      if (committed_q + opened_q == '0 || valid_o) wait_q <= '0;
      else if (!bad) wait_q <= wait_q + 3'd1;
    end
  end

  // ---------------------------------------------------------------- inside the dut
  num_t held, in_regs, in_mem;
  logic [Width:0] word_at_watch;
  logic [Width:0] mem[Depth];
  assign held  = committed_q + opened_q;
  assign in_regs = num_t'(dut.head_valid_q) + num_t'(dut.fetched_valid_q);
  assign in_mem  = dut.wr_q - dut.rd_q;
  for (genvar i = 0; i < Depth; i++) begin : gen_mem
    assign mem[i] = dut.mem[i];
  end

  function automatic logic [Width:0] word_at(num_t place);
    logic [NumW-2:0] index;
    index = (NumW-1)'(num_t'(dut.rd_q) + place - in_regs);
    if (place == '0 && dut.head_valid_q) return dut.head_q;
    if (place < in_regs) return dut.fetched_q;
    return mem[index];
  endfunction

  // Beside each word the number of its frame, so that what induction needs is local: neighbours
  // differ by one exactly where the first of them is a frame's last word.
  typedef logic [1:0] frame_t;
  frame_t open_frame_q, read_frame, head_frame_q, fetched_frame_q;
  frame_t frame[Depth];
  assign read_frame = open_frame_q - frame_t'(frames_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_frame_q <= '0;
    else if (good) open_frame_q <= open_frame_q + 2'd1;
    if (dut.store) frame[dut.wr_q[NumW-2:0]] <= open_frame_q;
    if (!dut.fetched_valid_q || dut.move) fetched_frame_q <= frame[dut.rd_q[NumW-2:0]];
    if (dut.move) head_frame_q <= fetched_frame_q;
    else if (dut.pass) head_frame_q <= open_frame_q;
  end

  function automatic frame_t frame_at(num_t place);
    if (place == '0 && dut.head_valid_q) return head_frame_q;
    if (place < in_regs) return fetched_frame_q;
    return frame[(NumW-1)'(num_t'(dut.rd_q) + place - in_regs)];
  endfunction

  // The word at `place` belongs to a committed frame exactly when its place says so.
  function automatic logic frame_fits(num_t place, frame_t number);
    return (place < committed_q) == (number != open_frame_q) &&
           frame_t'(open_frame_q - number) <= frame_t'(frames_q);
  endfunction

  always_comb begin
    if (started_q) begin
      // A frame's last word is its last; the verdict comes after it, alone, and is good for whole
      // frames only; no more frames than agreed are committed and not read.
      if (push_i) assume (!last_q && !end_i);
      if (end_i && good_i) assume (last_q);
      if (good) assume (frames_q != num_t'(Frames));

      // Committed words come out in order, each once; nothing comes from a frame after a bad
      // verdict.
      if (valid_o) assert (held != '0);
      if (valid_o && live_q && offset == '0) assert ({last_o, data_o} == word_q);
      if (bad) assert (!valid_o);
      assert (empty_o == (held == '0));
      // The reader's flags for its word are correct.
      if (valid_o) assert (verified_o == (committed_q != '0));
      assert (open_o == (taken_q && !end_i));
      // One verdict, the right one: a frame that lost a word is never committed.
      assert (commit_o == good);
      assert (abort_o == (bad && taken_q));
      assert (drop_o == (bad && !taken_q));
      assert (overflow_o == (push_i && !accept && !missed_q));
      // Words are only refused when the memory is as good as full, or was before this clock's roll
      // back.
      if (push_i && !accept && !rolled_q) assert (in_mem >= num_t'(Depth - 3));
      // A word that is inside shows after 2 more clocks at the latest.
      assert (wait_q <= 3'd2);

      // Inductive strengthening.
      assert (6'(in_mem) + 6'(in_regs) == 6'(committed_q) + 6'(opened_q));
      assert (in_mem < num_t'(Depth));
      if (!dut.full_q) assert (in_mem <= num_t'(Depth - 2));
      else if (!rolled_q) assert (in_mem >= num_t'(Depth - 3));
      assert (written_q == num_t'(read_q + held));
      assert (live_q == (offset < held));
      if (live_q) assert (word_at(offset) == word_q);
      assert (taken_q == dut.taken_q && missed_q == dut.lost_q);
      if (taken_q) assert (committed_q == '0);
      if (!taken_q && committed_q >= in_regs) begin
        assert (num_t'(dut.start_q - dut.rd_q) == num_t'(committed_q - in_regs));
      end
      assert (frames_q == num_t'(dut.frames_q) && frames_q <= num_t'(Frames));
      assert (dut.verified_q == (frames_q != '0));
      // Each frame in the buffer ends with its last word, the only one marked so.
      if (held != '0) assert (frame_at('0) == read_frame);
      if (dut.head_valid_q) assert (frame_fits('0, head_frame_q));
      if (dut.fetched_valid_q) assert (frame_fits(num_t'(dut.head_valid_q), fetched_frame_q));
      if (dut.head_valid_q && dut.fetched_valid_q) begin
        assert (fetched_frame_q == frame_t'(head_frame_q + frame_t'(dut.head_q[Width])));
      end
      if (in_regs != '0 && in_mem != '0) begin
        assert (frame[dut.rd_q[NumW-2:0]] == (dut.fetched_valid_q ?
            frame_t'(fetched_frame_q + frame_t'(dut.fetched_q[Width])) :
            frame_t'(head_frame_q + frame_t'(dut.head_q[Width]))));
      end
      for (int unsigned i = 0; i < Depth; i++) begin
        logic [NumW-2:0] place;
        place = (NumW-1)'(i) - dut.rd_q[NumW-2:0];
        if (num_t'(place) < in_mem) begin
          assert (frame_fits(num_t'(place) + in_regs, frame[i]));
          if (num_t'(place) + num_t'(1) < in_mem) begin
            assert (frame[(i+1)%Depth] == frame_t'(frame[i] + frame_t'(mem[i][Width])));
          end
        end
      end
      assert ((frames_q == '0) == (committed_q == '0));
      if (committed_q != '0) begin
        assert (word_at(committed_q - num_t'(1))[Width]);
        assert (frame_at(committed_q - num_t'(1)) == frame_t'(open_frame_q - 2'd1));
      end
      if (opened_q != '0 && !last_q) assert (!word_at(held - num_t'(1))[Width]);
      if (!missed_q) begin
        if (last_q && opened_q != '0) assert (word_at(held - num_t'(1))[Width]);
        assert (dut.finished_q == (last_q && opened_q == '0));
        if (last_q && opened_q == '0) assert (taken_q);
      end
      if (wait_q == 3'd1 && held != '0) assert (dut.fetched_valid_q || dut.head_valid_q);
      if (wait_q == 3'd2 && held != '0) assert (dut.head_valid_q);

      cover (abort_o && dut.fetched_valid_q);
      cover (drop_o && committed_q == num_t'(2) && dut.fetched_valid_q && opened_q != '0);
      cover (drop_o && committed_q == num_t'(1) && dut.fetched_valid_q && dut.head_valid_q);
      cover (commit_o && frames_q == num_t'(Frames - 1));
      cover (take && verified_o && live_q && offset == '0 && opened_q != '0);
    end
  end
endmodule
