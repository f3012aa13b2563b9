// SPDX-License-Identifier: SHL-2.1
/// Message tracer of a node: records the header of each message that it sends or takes, with its
/// time, and asks its agents for the state of a line. The far end reads both as registers.
///
/// circuits -> wanted? -> a place each -> in turn -> a register a group -> in turn -> ring ->
/// registers (docs/explanation/cores/coherence.md)
///
///   Handshake   circuits: looked at only; tx: a chunk with its ready, rx: words with how many are
///               taken, the first word of a message first. window: a strobe for each access,
///               window_data_o is of the register at window_i.at, in the same cycle. look: valid
///               until done
///   Ordering    records of a circuit in the order of its messages; between circuits by turns,
///               with their own times
///   Loss        a message that finds its circuit's place taken is lost: counted, and the next
///               record says so. A full ring: the oldest records go, or none enters, as chosen
///   Latency     a message to its record, if none else is there, 3 cycles. A place waits for the
///               others of its group and their register for the other groups: NumGroups times
///               GroupSize cycles at the most
///   Throughput  a record a cycle
///   Registers   0 control: bit 0 on, 1 keep the oldest, 28:16 circuits; a store with bit 63 clears
///               1 line, 2 mask: of messages of lines those whose index agrees in the mask's ones
///               3 status: 15:0 records, 47:16 lost, 48 some of the oldest are gone
///               4 a load takes the oldest record: 31:0 time, 35:32 circuit, 36 received, 37 over
///               which link, 62 others were lost before it, 63 there was one  5 its header
///               6 time, in clocks since reset  7 a store: the line whose state is asked for; a
///               load: 63 known, 15:0 its state as of coherence_look_pkg
///               Stores are of whole words; others change nothing
///   Parameters  NumLinks 1..2; Depth of the ring, a power of two, 16..4096
///   Not done    which link a sent message takes; payloads
module coherence_trace
  import coherence_node_pkg::*;
  import coherence_look_pkg::*;
  import blocklink_pkg::NumVcs;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned NumLinks = 1,
  parameter int unsigned Depth    = 512
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  circuits_t                tx_i,
  input  logic [NumVcs-1:0]        tx_ready_i,
  input  word_t [NumLinks-1:0][NumVcs-1:0][7:0] rx_words_i,
  input  logic  [NumLinks-1:0][NumVcs-1:0][3:0] rx_pop_i,
  input  window_t                  window_i,
  output logic [63:0]              window_data_o,
  output look_t                    look_o,
  input  looked_t                  looked_i
);
  import coherence_pkg::*;
  import coherence_io_pkg::OpIobsta;
  import coherence_io_pkg::OpIobrsp;

  if (Depth < 16 || Depth > 4096 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("coherence_trace: Depth is %0d, legal is a power of two, 16..4096", Depth);
  end
  if (NumLinks < 1 || NumLinks > 2) begin : gen_links_check
    $error("coherence_trace: NumLinks is %0d, legal is 1, 2", NumLinks);
  end
  localparam int unsigned NumSources = NumVcs * (1 + NumLinks);
  localparam int unsigned GroupSize = 6;  // places that share a register in front of the ring
  localparam int unsigned NumGroups = (NumSources + GroupSize - 1) / GroupSize;

  typedef struct packed {
    logic        link;
    logic        received;
    logic [3:0]  circuit;
    logic [31:0] ticks;
    header_t     header;
  } record_t;
  typedef struct packed {
    logic    gap;
    record_t record;
  } entry_t;

  // ---------------------------------------------------------------- registers
  logic on_q, oldest_q, gone_q, asked_q, known_q, store, clear, pop, emptying_q;
  logic [NumVcs-1:0] circuits_q;
  index_t line_q, mask_q, look_q;
  state_t state_q;
  logic [31:0] lost_q, time_q;
  logic [15:0] count_q;
  logic [5:0]  missed_q;  // in a clock; with overrun_q two registers in front of the count
  logic valid, ready, offered, push, drop, gap_q;
  entry_t head, made;
  header_t header_q;  // of the record taken last
  assign store = window_i.valid && window_i.write && window_i.mask == '1;
  assign clear = store && window_i.at == 3'd0 && window_i.data[63];
  assign pop   = window_i.valid && !window_i.write && window_i.at == 3'd4 && valid && !emptying_q;
  assign look_o = '{valid: asked_q, index: look_q};
  always_comb begin
    unique case (window_i.at)
      3'd0: window_data_o = {35'd0, circuits_q, 14'd0, oldest_q, on_q};
      3'd1: window_data_o = 64'(line_q);
      3'd2: window_data_o = 64'(mask_q);
      3'd3: window_data_o = {15'd0, gone_q, lost_q, count_q};
      3'd4: begin
        window_data_o = '0;
        if (valid && !emptying_q) begin
          window_data_o = {1'b1, head.gap, 24'd0, head.record.link, head.record.received,
                           head.record.circuit, head.record.ticks};
        end
      end
      3'd5: window_data_o = header_q;
      3'd6: window_data_o = {32'd0, time_q};
      3'd7: window_data_o = {known_q, 47'd0, state_q};
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {on_q, oldest_q, asked_q, known_q} <= '0;
      circuits_q <= 13'b0_1111_1111_1100;
      mask_q     <= '0;
      time_q     <= '0;
    end else begin
      time_q <= time_q + 32'd1;
      if (store && window_i.at == 3'd0) begin
        {oldest_q, on_q} <= window_i.data[1:0];
        circuits_q       <= window_i.data[28:16];
      end
      if (store && window_i.at == 3'd2) mask_q <= window_i.data[IndexWidth-1:0];
      if (looked_i.valid) {asked_q, known_q} <= {1'b0, asked_q || known_q};
      if (store && window_i.at == 3'd7) {asked_q, known_q} <= 2'b10;
    end
  end
  always_ff @(posedge clk_i) begin
    if (store && window_i.at == 3'd1) line_q <= window_i.data[IndexWidth-1:0];
    if (store && window_i.at == 3'd7) look_q <= window_i.data[IndexWidth-1:0];
    if (looked_i.valid && asked_q) state_q <= looked_i.state;
    if (pop) header_q <= head.record.header;
  end

  // ---------------------------------------------------------------- messages
  // Of each circuit, sent and received over each link, the words that its message still has.
  logic [NumSources-1:0] begins, wanted, full_q, taken, overrun, overrun_q;
  header_t [NumSources-1:0] header;
  record_t [NumSources-1:0] shown;
  for (genvar s = 0; s < int'(NumSources); s++) begin : gen_source
    localparam int unsigned V = s % NumVcs;
    localparam bit Lines = V >= 2 && V <= 11;
    logic [3:0] words;
    logic [4:0] left_q, total;
    header_t kept_q;
    logic [31:0] ticks_q;
    if (s < int'(NumVcs)) begin : gen_tx
      assign words     = tx_i.valid[V] && tx_ready_i[V] ? tx_i.count[V] : '0;
      assign header[s] = tx_i.words[V][0];
    end else begin : gen_rx
      localparam int unsigned L = s / NumVcs - 1;
      assign words     = rx_pop_i[L][V];
      assign header[s] = rx_words_i[L][V][0];
    end
    if (Lines) begin : gen_lines
      assign total = words_of(3'(V / 2), header[s].opcode);
    end else if (V == 0) begin : gen_requests
      assign total = (header[s].opcode == OpIobsta) ? 5'd2 : 5'd1;
    end else if (V == 1) begin : gen_answers
      assign total = (header[s].opcode == OpIobrsp) ? 5'd2 : 5'd1;
    end else begin : gen_ipi
      assign total = 5'd1;
    end
    assign begins[s]  = words != '0 && left_q == '0;
    assign wanted[s]  = begins[s] && on_q && circuits_q[V] &&
                        (!Lines || ((header[s].index ^ line_q) & mask_q) == '0);
    assign overrun[s] = wanted[s] && full_q[s] && !taken[s];
    assign shown[s]   = '{link: s >= 2 * int'(NumVcs), received: s >= int'(NumVcs),
                          circuit: 4'(V), ticks: ticks_q, header: kept_q};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        left_q    <= '0;
        full_q[s] <= 1'b0;
      end else begin
        if (words != '0) left_q <= (begins[s] ? total : left_q) - 5'(words);
        full_q[s] <= !clear && (wanted[s] || (full_q[s] && !taken[s]));
      end
    end
    always_ff @(posedge clk_i) begin
      // What a place without a message holds matters to none: line and mask are not asked here.
      if (begins[s] && (!full_q[s] || taken[s])) begin
        kept_q  <= header[s];
        ticks_q <= time_q;
      end
    end
  end

  // ---------------------------------------------------------------- groups
  // A place's turn comes in its group, whose register takes it; then the group's at the ring.
  // Neighbours are in different groups. Who has the turn keeps it until he is taken: else two that
  // turn at the same pace could leave the same places out.
  logic [NumGroups-1:0] held_q, turn, moves;
  record_t [NumGroups-1:0] held;
  for (genvar g = 0; g < int'(NumGroups); g++) begin : gen_group
    localparam int unsigned Size = (NumSources - g + NumGroups - 1) / NumGroups;
    logic [Size-1:0] waits, chosen;
    record_t record, record_q;
    for (genvar i = 0; i < int'(Size); i++) begin : gen_place
      assign waits[i] = full_q[i*NumGroups+g];
      assign taken[i*NumGroups+g] = chosen[i] && moves[g];
    end
    // A clear takes the turn from nobody: then none waits, and the register takes what is none.
    arb_rr #(.NumReq(Size)) u_turn (
      .clk_i, .rst_ni, .req_i(waits), .last_i(moves[g]), .gnt_o(chosen), .idx_o()
    );
    always_comb begin
      record = '0;
      for (int unsigned i = 0; i < Size; i++) begin
        if (chosen[i]) record = record | shown[i*NumGroups+g];
      end
    end
    assign moves[g] = !held_q[g] || (turn[g] && push);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) held_q[g] <= 1'b0;
      else held_q[g] <= !clear && (moves[g] ? waits != '0 : held_q[g]);
    end
    always_ff @(posedge clk_i) if (moves[g]) record_q <= record;
    assign held[g] = record_q;
  end

  // ---------------------------------------------------------------- ring
  arb_rr #(.NumReq(NumGroups)) u_turn (
    .clk_i, .rst_ni, .req_i(held_q), .last_i(ready || emptying_q), .gnt_o(turn), .idx_o()
  );
  always_comb begin
    made = '{gap: gap_q, record: '0};
    for (int unsigned g = 0; g < NumGroups; g++) begin
      if (turn[g]) made.record = made.record | held[g];
    end
  end
  assign offered = held_q != '0 && !emptying_q;
  assign push    = offered && ready;
  assign drop    = (offered && !ready && !oldest_q) || emptying_q;
  block_fifo #(.Width($bits(entry_t)), .Depth(Depth)) u_ring (
    .clk_i, .rst_ni, .valid_i(offered), .ready_o(ready), .data_i(made), .valid_o(valid),
    .ready_i(pop || drop), .data_o(head)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {emptying_q, gap_q, gone_q} <= '0;
      {overrun_q, missed_q, lost_q} <= '0;
      count_q <= '0;
    end else begin
      emptying_q <= clear || (emptying_q && valid);
      if (clear) gap_q <= 1'b0;
      else if (overrun_q != '0) gap_q <= 1'b1;
      else if (push) gap_q <= 1'b0;
      if (clear) gone_q <= 1'b0;
      else if (drop && valid && !pop && !emptying_q) gone_q <= 1'b1;
      if (clear) {overrun_q, missed_q, lost_q} <= '0;
      else begin
        overrun_q <= overrun;
        missed_q  <= 6'($countones(overrun_q));
        lost_q    <= lost_q + 32'(missed_q);
      end
      count_q <= count_q + 16'(push) - 16'(valid && (pop || drop));
    end
  end
  logic unused;
  assign unused = ^{rx_words_i, tx_i, window_i, looked_i};
endmodule
