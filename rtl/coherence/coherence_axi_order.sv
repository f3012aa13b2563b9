// SPDX-License-Identifier: SHL-2.1
/// Whose response is next at an AXI port: those of a stream in their order, streams in turn.
///
///   Handshake   push: a strobe; the caller has at most Entries open, each once. done_i: levels,
///               the responses that are known, until they are taken. valid_o holds with entry_o
///               until take_i; stay_i, with take_i: the next one is of the same stream
///   Ordering    a stream's entries in their order               (proved: formal/coherence)
///   Latency     done_i to valid_o 1 cycle
///   Throughput  an entry a cycle
///   Fairness    streams take turns, but for stay_i
///   Parameters  Entries a power of two, 2..64; Streams a power of two, 1..16
///   Not done    an order between streams
module coherence_axi_order #(
  parameter  int unsigned Entries     = 16,
  parameter  int unsigned Streams     = 4,
  localparam int unsigned EntryWidth  = $clog2(Entries),
  localparam int unsigned StreamWidth = Streams > 1 ? $clog2(Streams) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   push_i,
  input  logic [EntryWidth-1:0]  push_entry_i,
  input  logic [StreamWidth-1:0] push_stream_i,
  input  logic [Entries-1:0]     done_i,
  output logic                   valid_o,
  output logic [EntryWidth-1:0]  entry_o,
  input  logic                   take_i,
  input  logic                   stay_i
);
  if (Entries < 2 || Entries > 64 || (Entries & (Entries - 1)) != 0) begin : gen_entries_check
    $error("coherence_axi_order: Entries is %0d, legal is a power of two, 2..64", Entries);
  end
  if (Streams < 1 || Streams > 16 || (Streams & (Streams - 1)) != 0) begin : gen_streams_check
    $error("coherence_axi_order: Streams is %0d, legal is a power of two, 1..16", Streams);
  end

  logic [Streams-1:0] some, room, due, gnt, stream_q;
  logic [Streams-1:0][EntryWidth-1:0] head;
  logic [EntryWidth-1:0] chosen;
  logic load, same, stay_q;

  for (genvar s = 0; s < int'(Streams); s++) begin : gen_stream
    fifo #(.Width(EntryWidth), .Depth(Entries)) u_entries (
      .clk_i, .rst_ni, .clear_i(1'b0),
      .valid_i(push_i && (Streams == 1 || push_stream_i == StreamWidth'(s))), .ready_o(room[s]),
      .data_i(push_entry_i), .valid_o(some[s]), .ready_i(gnt[s]), .data_o(head[s]), .usage_o()
    );
    assign due[s] = some[s] && done_i[head[s]];
  end

  assign load = !valid_o || take_i;
  assign same = valid_o ? stay_i : stay_q;
  arb_rr #(.NumReq(Streams)) u_turns (
    .clk_i, .rst_ni, .req_i(!load ? '0 : same ? due & stream_q : due), .last_i(1'b1), .gnt_o(gnt),
    .idx_o()
  );
  always_comb begin
    chosen = '0;
    for (int unsigned s = 0; s < Streams; s++) if (gnt[s]) chosen = chosen | head[s];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o  <= 1'b0;
      stay_q   <= 1'b0;
      stream_q <= '0;
    end else begin
      if (load) valid_o <= gnt != '0;
      if (valid_o && take_i) stay_q <= stay_i;
      if (gnt != '0) stream_q <= gnt;
    end
  end
  always_ff @(posedge clk_i) if (gnt != '0) entry_o <= chosen;

  prim_assert u_room (.clk_i, .rst_ni, .ok_i(!push_i || room == '1));
endmodule
