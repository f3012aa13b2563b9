// SPDX-License-Identifier: SHL-2.1
/// Writes the payload of packets: a place each in, commands of at most 2 KiB and their beats out.
///
///   Handshake   place_*, beat_* valid/ready; write_o, cmd_ready_i and data_ready_i as a list of
///               nanet_memory; answered_i: a strobe, one command's answer was taken
///   Ordering    packets in their order, their beats behind their places
///   Latency     a place to its first command 2 cycles
///   Throughput  a command in its beats and 2 cycles
///   Bounds      commands are the place's bytes, in order, in its page; Pending without an answer
///   Parameters  DataWidth 128..512; Pending 1..16; Firmware 1: each packet waits for answer_i
///   Not done    checks of places, which are apenet_receive's
module apenet_write
  import apenet_pkg::*;
#(
  parameter int unsigned DataWidth = 256,
  parameter int unsigned Pending   = 16,
  parameter bit          Firmware  = 1'b0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 place_valid_i,
  output logic                 place_ready_o,
  input  landing_t             place_i,
  input  logic                 beat_valid_i,
  output logic                 beat_ready_o,
  input  logic [DataWidth-1:0] beat_i,
  input  logic                 beat_keep_i,  // it is data
  output logic                 ask_o,        // a level, with Firmware
  input  logic                 answer_i,
  output nanet_pkg::write_t    write_o,
  output logic [DataWidth-1:0] data_o,
  input  logic                 cmd_ready_i,
  input  logic                 data_ready_i,
  input  logic                 answered_i,
  output logic                 idle_o
);
  localparam int unsigned BeatW    = $clog2(DataWidth / 8);
  localparam int unsigned Command  = nanet_pkg::MaxCommand;
  localparam int unsigned CommandW = nanet_pkg::CommandW;

  if (Pending < 1 || Pending > 16) begin : gen_pending_check
    $error("apenet_write: Pending is %0d, legal is 1..16", Pending);
  end

  typedef enum logic [1:0] {
    StIdle,
    StAsk,
    StCommand,
    StWrite
  } write_e;
  write_e write_q;
  landing_t place, place_q;
  logic place_valid, stored_valid, stored_keep, data_take, room, cmd_take;
  logic [CommandW-1:0] left_q, command;   // beats of the command
  logic [4:0] pending_q;

  fifo #(
    .Width($bits(landing_t)),
    .Depth(4)
  ) u_places (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(place_valid_i),
    .ready_o(place_ready_o),
    .data_i (place_i),
    .valid_o(place_valid),
    .ready_i(write_q == StIdle),
    .data_o (place),
    .usage_o()
  );
  fifo #(
    .Width(DataWidth + 1),
    .Depth(16)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(beat_valid_i),
    .ready_o(beat_ready_o),
    .data_i ({beat_keep_i, beat_i}),
    .valid_o(stored_valid),
    .ready_i(write_q == StWrite && data_ready_i),
    .data_o ({stored_keep, data_o}),
    .usage_o()
  );

  assign command   = place_q.bytes > LengthW'(Command) ? CommandW'(Command) :
                                                         CommandW'(place_q.bytes);
  assign room      = pending_q < 5'(Pending);
  assign cmd_take  = write_q == StCommand && room && cmd_ready_i;
  assign data_take = write_o.data_valid && data_ready_i;
  assign write_o = '{
      cmd_valid: write_q == StCommand && room,
      key: place_q.key,
      addr: 64'(place_q.address),
      bytes: command,
      data_valid: write_q == StWrite && stored_valid,
      keep: stored_keep,
      last: left_q == CommandW'(1)
  };
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= StIdle;
    end else begin
      unique case (write_q)
        StIdle:    if (place_valid) write_q <= Firmware ? StAsk : StCommand;
        StAsk:     if (answer_i) write_q <= StCommand;
        StCommand: if (cmd_take) write_q <= StWrite;
        default: begin  // StWrite
          if (data_take && write_o.last) begin
            write_q <= place_q.bytes != '0 ? StCommand : StIdle;
          end
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (write_q == StIdle) place_q <= place;
    if (cmd_take) begin
      left_q          <= CommandW'((32'(command) + DataWidth / 8 - 1) >> BeatW);
      place_q.address <= place_q.address + 48'(command);
      place_q.bytes   <= place_q.bytes - LengthW'(command);
    end else if (data_take) begin
      left_q <= left_q - CommandW'(1);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pending_q <= '0;
    else if (cmd_take != answered_i) begin
      pending_q <= answered_i ? pending_q - 5'd1 : pending_q + 5'd1;
    end
  end

  assign ask_o  = write_q == StAsk;
  assign idle_o = !place_valid && write_q == StIdle && pending_q == '0;
endmodule
