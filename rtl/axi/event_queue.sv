// SPDX-License-Identifier: SHL-2.1
/// Ring of events in host memory, written by commands to an axi_write_engine.
///
/// An event has 32 bytes. Its highest bit is the phase: 1 in the first lap over the ring, 0 in the
/// second and so on, so a host that polls the last word of the next place sees an event without an
/// index.
///
///   Handshake   event_valid_i/event_ready_o: taken in one cycle. cmd_* and data_* as in
///               axi_write_engine; done_valid_i is its strobe for this queue's commands
///   Ordering    first in, first out. An event is written after what its sender saw answered before
///               it
///   Full        at 2^size events that the host has not reported by taken_i. full_o is a register:
///               it falls a cycle after taken_i; an event that is offered while it is high is
///               dropped and counted in lost_o (proved: formal/axi/event_queue.sby)
///   Interrupt   irq_o: a strobe for events answered since the last one, at most one in irq_gap_i
///               cycles
///   Restart     enable_i low empties it, and it counts as full: the next event goes to the first
///               place, with phase 1. Keep it low until idle_o
///   Latency     event to cmd_valid_o 1 cycle
///   Throughput  an event in 2 cycles and one for each beat
///   Parameters  DataWidth as axi_write_engine
///   Not done    more than 2^15 places; events of other sizes
module event_queue #(
  parameter  int unsigned DataWidth = 64,
  localparam int unsigned EventBits = 256
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 enable_i,
  input  logic [63:0]          base_i,        // a multiple of 32
  input  logic [3:0]           size_i,        // logarithm of places
  input  logic [15:0]          taken_i,       // events that the host has taken, modulo 2^16
  input  logic                 irq_enable_i,  // level: irq_o may strobe
  input  logic [31:0]          irq_gap_i,

  input  logic                 event_valid_i,
  output logic                 event_ready_o,
  input  logic [EventBits-2:0] event_i,  // with event_valid_i; all but the phase
  output logic                 full_o,

  output logic                 cmd_valid_o,
  input  logic                 cmd_ready_i,
  output logic [63:0]          cmd_addr_o,
  output logic                 data_valid_o,
  input  logic                 data_ready_i,
  output logic                 data_last_o,
  output logic [DataWidth-1:0] data_o,
  input  logic                 done_valid_i,

  output logic [15:0]          written_o,  // events answered by memory, modulo 2^16
  output logic [31:0]          lost_o,
  output logic                 irq_o,
  output logic                 idle_o
);
  localparam int unsigned Beats = DataWidth >= EventBits ? 1 : EventBits / DataWidth;

  typedef enum logic [1:0] {
    StIdle,
    StCommand,
    StData
  } state_e;

  state_e state_q;
  logic [15:0] made_q, written_q, used;
  logic [31:0] lost_q, gap_q;
  logic [EventBits-1:0] event_q;
  logic [1:0] beat_q;
  logic news_q;  // an event was answered after the last interrupt
  logic take, phase, full_q;
  logic [15:0] place;

  // A cycle late, off the way from taken_i to whoever counts what was lost. No event is taken in
  // the cycle after another one.
  assign used    = made_q - taken_i;
  assign full_o  = full_q || !enable_i;
  assign phase   = !1'(made_q >> size_i);
  assign place   = made_q & ~(16'hFFFF << size_i);

  assign event_ready_o = state_q == StIdle;
  assign take          = event_valid_i && event_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      made_q    <= '0;
      written_q <= '0;
      lost_q    <= '0;
      beat_q    <= '0;
      full_q    <= 1'b0;
    end else begin
      full_q <= (used >> size_i) != '0;
      unique case (state_q)
        StIdle: if (take && !full_o) state_q <= StCommand;
        StCommand: if (cmd_ready_i) state_q <= StData;
        default: begin
          if (data_ready_i) begin
            beat_q <= beat_q + 2'd1;
            if (data_last_o) begin
              beat_q  <= '0;
              state_q <= StIdle;
            end
          end
        end
      endcase
      if (take && !full_o) made_q <= made_q + 16'd1;
      if (take && full_o) lost_q <= lost_q + 32'd1;
      if (done_valid_i) written_q <= written_q + 16'd1;
      if (!enable_i && state_q == StIdle && written_q == made_q) begin
        made_q    <= '0;
        written_q <= '0;
        full_q    <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      event_q    <= {phase, event_i};
      cmd_addr_o <= base_i + {43'd0, place, 5'd0};
    end else if (state_q == StData && data_ready_i && DataWidth < EventBits) begin
      event_q <= event_q >> DataWidth;
    end
  end
  assign cmd_valid_o  = state_q == StCommand;
  assign data_valid_o = state_q == StData;
  assign data_last_o  = beat_q == 2'(Beats - 1);
  // A bus wider than an event has it in every place where it can be.
  if (DataWidth <= EventBits) begin : gen_narrow
    assign data_o = event_q[DataWidth-1:0];
  end else begin : gen_wide
    assign data_o = {(DataWidth / EventBits) {event_q}};
  end

  // ---------------------------------------------------------------- interrupts
  assign irq_o = news_q && irq_enable_i && gap_q == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      news_q <= 1'b0;
      gap_q  <= '0;
    end else begin
      if (done_valid_i) news_q <= 1'b1;
      else if (irq_o || !irq_enable_i) news_q <= 1'b0;
      if (irq_o) gap_q <= irq_gap_i;
      else if (gap_q != '0) gap_q <= gap_q - 32'd1;
    end
  end

  assign written_o = written_q;
  assign lost_o    = lost_q;
  assign idle_o    = state_q == StIdle && written_q == made_q && gap_q == '0 &&
                     !(news_q && irq_enable_i) && (enable_i || made_q == '0);
endmodule
