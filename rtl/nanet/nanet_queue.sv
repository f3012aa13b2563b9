// SPDX-License-Identifier: SHL-2.1
/// From what a port pushes to a queue of packed datagrams.
///
/// nanet_guard -> nanet_store, 0 to 2 of them -> nanet_pack -> block_fifo
///
///   Handshake   in_valid_i is never stalled; beat_*: show-ahead. usage_o counts what is inside,
///               ends_o the ends among them
///   Latency     word that completes a beat to the beat 3 cycles; with stores see nanet_store
///   Throughput  a word a cycle
///   Loss        what finds no room in the queue is dropped whole: head_lost_o, or an end that says
///               overflow
///   Parameters  DataWidth, WordWidth as nanet_pack; Depth of the queue in beats; Stores 0..2
///               store-and-forward stages
///   Not done    the port: nanet_port and nanet_port_10g
module nanet_queue
  import nanet_pkg::*;
#(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned WordWidth = 32,
  parameter  int unsigned Depth     = 256,
  parameter  int unsigned Stores    = 0,
  localparam int unsigned UsageW    = $clog2(Depth) + 2
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  input  entry_t               in_i,
  output logic                 beat_valid_o,
  input  logic                 beat_ready_i,
  output entry_e               beat_kind_o,
  output logic [DataWidth-1:0] beat_o,
  output logic [UsageW-1:0]    usage_o,
  output logic [UsageW-1:0]    ends_o,
  output logic                 head_lost_o,
  output logic                 first_o,     // strobe: a datagram's head goes on from the UDP stage
  output logic                 last_o,      // its end enters the queue
  output logic                 idle_o
);
  if (Stores > 2) begin : gen_stores_check
    $error("nanet_queue: Stores is %0d, legal is 0..2", Stores);
  end

  // ---------------------------------------------------------------- stages
  logic [Stores:0] valid, ready, stage_idle;
  entry_t [Stores:0] entry;

  nanet_guard u_guard (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid_i),
    .in_i       (in_i),
    .out_valid_o(valid[0]),
    .out_ready_i(ready[0]),
    .out_o      (entry[0]),
    .lost_o     (head_lost_o),
    .idle_o     (stage_idle[0])
  );
  for (genvar i = 0; i < int'(Stores); i++) begin : gen_store
    nanet_store u_store (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid[i]),
      .in_ready_o (ready[i]),
      .in_i       (entry[i]),
      .out_valid_o(valid[i+1]),
      .out_ready_i(ready[i+1]),
      .out_o      (entry[i+1]),
      .idle_o     (stage_idle[i+1])
    );
  end

  // The UDP stage ends behind the first store, where there is one.
  localparam int unsigned Udp = Stores == 0 ? 0 : 1;
  assign first_o = valid[Udp] && ready[Udp] && entry[Udp].kind == EntryHead;

  logic packed_valid, packed_ready, pack_idle;
  entry_e packed_kind;
  logic [DataWidth-1:0] packed_beat;
  nanet_pack #(
    .DataWidth(DataWidth),
    .WordWidth(WordWidth)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .in_valid_i (valid[Stores]),
    .in_ready_o (ready[Stores]),
    .in_i       (entry[Stores]),
    .out_valid_o(packed_valid),
    .out_ready_i(packed_ready),
    .out_kind_o (packed_kind),
    .out_o      (packed_beat),
    .idle_o     (pack_idle)
  );

  // Whether a beat is taken depends on its kind, and what follows on how its datagram ended.
  localparam int unsigned EndW = $bits(end_t);
  block_fifo #(
    .Width(DataWidth + 2),
    .Depth(Depth),
    .Early(2 + EndW)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(packed_valid),
    .ready_o(packed_ready),
    .data_i ({packed_kind, packed_beat[EndW-1:0], packed_beat[DataWidth-1:EndW]}),
    .valid_o(beat_valid_o),
    .ready_i(beat_ready_i),
    .data_o ({beat_kind_o, beat_o[EndW-1:0], beat_o[DataWidth-1:EndW]})
  );

  logic put, take, put_end, take_end;
  logic [UsageW-1:0] usage_q, ends_q;
  assign put      = packed_valid && packed_ready;
  assign take     = beat_valid_o && beat_ready_i;
  assign put_end  = put && packed_kind == EntryEnd;
  assign take_end = take && beat_kind_o == EntryEnd;
  assign last_o   = put_end;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      usage_q <= '0;
      ends_q  <= '0;
    end else begin
      if (put != take) usage_q <= put ? usage_q + 1'b1 : usage_q - 1'b1;
      if (put_end != take_end) ends_q <= put_end ? ends_q + 1'b1 : ends_q - 1'b1;
    end
  end
  assign usage_o = usage_q;
  assign ends_o  = ends_q;

  assign idle_o  = (&stage_idle) && pack_idle && !beat_valid_o && usage_q == '0;
endmodule
