// SPDX-License-Identifier: SHL-2.1
/// Releases answers a fixed time after their events, on the experiment's clock.
///
/// An answer waits in the slot of its release. Slots of even and of odd clocks are two memories
/// with one read and one write port each: in a clock one of them is read for the release after the
/// next clock, the other is free for an answer.
///
///   Time        now_o counts clocks; start_i, a burst begins: the clock behind it is the time 0 of
///               answers. Answers of the burst before keep their release
///   Handshake   valid/ready; ready_o depends on time_i. An answer waits one clock at most, and
///               all of them for Slots/2 clocks behind reset
///   Release     in the clock of time_i + latency_i: trigger_o, and lines_o of all answers of that
///               time, or-ed                        (proved: formal/nanet/nanet_calendar.sby)
///   Losses      late_o: an answer has come less than 4 clocks before its release; early_o: Slots
///               clocks before it or more, which a wrong time stamp does. Neither is released, each
///               has a strobe in the clock in which it is taken
///   Latency     4 clocks from an answer to its release at least
///   Throughput  an answer a clock, if even and odd ones alternate; else one in two
///   Parameters  TimeWidth 4..32; Slots a power of two, 8..2^(TimeWidth-1); Lines 1..32
///   Configured  latency_i, clocks; constant while answers are inside
///   Not done    the experiment's own encoding of clock and burst (TTC): start_i is decoded
module nanet_calendar #(
  parameter int unsigned TimeWidth = 24,
  parameter int unsigned Slots     = 4096,
  parameter int unsigned Lines     = 4
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [TimeWidth-1:0] latency_i,
  output logic [TimeWidth-1:0] now_o,
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [TimeWidth-1:0] time_i,
  input  logic [Lines-1:0]     lines_i,
  output logic                 trigger_o,
  output logic [Lines-1:0]     lines_o,
  output logic                 late_o,
  output logic                 early_o
);
  if (TimeWidth < 4 || TimeWidth > 32) begin : gen_time_check
    $error("nanet_calendar: TimeWidth is %0d, legal is 4..32", TimeWidth);
  end
  if (Slots < 8 || Slots > 2 ** (TimeWidth - 1) || (Slots & (Slots - 1)) != 0) begin : gen_check
    $error("nanet_calendar: Slots is %0d, legal is a power of two, 8..2^(TimeWidth-1)", Slots);
  end
  if (Lines < 1 || Lines > 32) begin : gen_lines_check
    $error("nanet_calendar: Lines is %0d, legal is 1..32", Lines);
  end
  localparam int unsigned RowWidth = $clog2(Slots) - 1;
  localparam int unsigned Nearest  = 4;
  typedef logic [TimeWidth-1:0] clocks_t;
  typedef logic [RowWidth-1:0]  row_t;
  typedef logic [Lines:0]       slot_t;  // there is one, its lines

  // ---------------------------------------------------------------- time
  clocks_t now_q, zero_q, due, ahead;
  logic swept_q, past, take, put;
  row_t sweep_q, next;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q   <= '0;
      zero_q  <= '0;
      sweep_q <= '0;
      swept_q <= 1'b0;
    end else begin
      now_q <= now_q + 1'b1;
      if (start_i) zero_q <= now_q + 1'b1;
      if (!swept_q) sweep_q <= sweep_q + 1'b1;
      if (sweep_q == '1) swept_q <= 1'b1;
    end
  end
  assign now_o = now_q;

  // ---------------------------------------------------------------- an answer
  assign due     = zero_q + time_i + latency_i;
  assign ahead   = due - now_q;
  assign past    = ahead[TimeWidth-1];
  // The memory that is not read for a release.
  assign ready_o = swept_q && due[0] != now_q[0];
  assign take    = valid_i && ready_o;
  assign late_o  = take && (past || ahead < clocks_t'(Nearest));
  assign early_o = take && !past && ahead >= clocks_t'(Slots);
  assign put     = take && !late_o && !early_o;

  logic put_q, bank_q;
  row_t row_q;
  logic [Lines-1:0] put_lines_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) put_q <= 1'b0;
    else put_q <= put;
  end
  always_ff @(posedge clk_i) begin
    bank_q      <= due[0];
    row_q       <= due[RowWidth:1];
    put_lines_q <= lines_i;
  end

  // ---------------------------------------------------------------- the slots
  // In a clock n the slot of n + 2 is read, that of n + 1 is there, and is emptied.
  assign next = row_t'((now_q + clocks_t'(2)) >> 1);
  slot_t [1:0] rdata;
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic due_next, free, we;
    row_t waddr;
    slot_t wdata;
    assign due_next = now_q[0] == 1'(b);
    assign free     = !due_next && swept_q;  // its slot of n + 1 is emptied
    always_comb begin
      waddr = sweep_q;
      wdata = '0;
      we    = !swept_q || (free && rdata[b][Lines]);
      if (free) begin
        waddr = row_t'((now_q + 1'b1) >> 1);
      end else if (swept_q) begin
        waddr = row_q;
        wdata = {1'b1, put_lines_q | (rdata[b][Lines] ? rdata[b][Lines-1:0] : '0)};
        we    = put_q && bank_q == 1'(b);
      end
    end
    ram_1r1w #(
      .Width(Lines + 1),
      .Depth(Slots / 2)
    ) u_slots (
      .clk_i,
      .we_i   (we),
      .waddr_i(waddr),
      .wdata_i(wdata),
      .re_i   (1'b1),
      .raddr_i(due_next ? next : due[RowWidth:1]),
      .rdata_o(rdata[b])
    );
  end

  // ---------------------------------------------------------------- the release
  slot_t ripe;
  logic ripe_valid;
  assign ripe       = rdata[~now_q[0]];
  assign ripe_valid = swept_q && ripe[Lines];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) trigger_o <= 1'b0;
    else trigger_o <= ripe_valid;
  end
  always_ff @(posedge clk_i) lines_o <= ripe_valid ? ripe[Lines-1:0] : '0;
endmodule
