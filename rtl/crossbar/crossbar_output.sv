// SPDX-License-Identifier: SHL-2.1
/// One output of a buffered crossbar: scheduler, multiplexer, register.
///
///   Handshake   request_i[i]: crosspoint i holds a packet that has begun and is not wholly read;
///               up until the cycle after take_o of its end. valid_i[i], flit_i[i]: its next word,
///               stable until taken by take_o[i]. tx_valid_o/tx_ready_i: Sop, data, end, stable
///               until taken; tx_ready_i comes from registers
///   Ordering    a packet leaves whole: no word of another comes between its Sop and its end
///   Scheduling  round robin by packet, picked in the slot in which the Sop is made: no dead cycle,
///               an end is followed by the next Sop in the next slot  (proved: formal/crossbar)
///   Fairness    between a request and its Sop begin at most NumPorts-1 packets of others  (proved)
///   Credit      a packet begins only with up_i and room for MaxWords + 1 words at the far end;
///               room_i falls RoomLag clocks after a word was taken, and words on their way are
///               allowed for
///   Latency     request_i to Sop 1 cycle, flit_i to tx_flit_o 1 cycle
///   Throughput  one word a cycle
///   Bench       with bench_i data word 5 becomes stamp_i of the cycle in which the Sop was taken
///   Parameters  NumPorts 2..64, MaxWords 1..511, RoomLag 1..8
///   Not done    weights, virtual channels: the Sop's id is 0
module crossbar_output
  import link_pkg::*;
#(
  parameter  int unsigned NumPorts = 8,
  parameter  int unsigned MaxWords = 128,
  parameter  int unsigned RoomLag  = 1,
  localparam int unsigned IdxWidth = $clog2(NumPorts)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                bench_i,
  input  logic [31:0]         stamp_i,
  input  logic [NumPorts-1:0] request_i,
  input  logic [NumPorts-1:0] valid_i,
  input  flit_t               flit_i   [NumPorts],
  output logic [NumPorts-1:0] take_o,
  input  logic                up_i,
  input  count_t              room_i,
  output logic                tx_valid_o,
  input  logic                tx_ready_i,
  output flit_t               tx_flit_o,
  output logic [IdxWidth-1:0] source_o,  // of the packet on offer
  output logic                idle_o
);
  // Words that may be under way when room_i is looked at: one in the register below, and those that
  // the link took and room_i, kept a cycle, does not show.
  localparam int unsigned RoomNeed = MaxWords + 1 + RoomLag + 1;

  if (NumPorts < 2 || NumPorts > 64) begin : gen_num_ports_check
    $error("crossbar_output: NumPorts is %0d, legal is 2..64", NumPorts);
  end
  if (MaxWords < 1 || RoomNeed > DepthMax) begin : gen_max_words_check
    $error("crossbar_output: MaxWords is %0d, legal is 1..%0d", MaxWords, DepthMax - RoomLag - 2);
  end

  logic room, room_q, busy_q, valid_q;
  flit_t flit_q, flit_d;
  logic [NumPorts-1:0] select_q;  // input of the packet in progress, one-hot: a flat multiplexer
  logic [IdxWidth-1:0] source_q;
  logic [NumPorts-1:0] after_q;  // marks the inputs above the last winner: they go first
  logic [2:0] word_q;            // data words of this packet so far, up to 6
  logic [31:0] stamp_q;

  logic [NumPorts-1:0] first, pick;
  logic [IdxWidth-1:0] pick_idx;
  logic move, start, take;

  assign room  = up_i && room_i >= count_t'(RoomNeed);
  assign first = request_i & after_q;
  arb_fixed #(.NumReq(NumPorts)) u_pick (
    .req_i(first != '0 ? first : request_i),
    .gnt_o(pick)
  );
  always_comb begin
    pick_idx = '0;
    for (int unsigned i = 0; i < NumPorts; i++) begin
      if (pick[i]) pick_idx = pick_idx | IdxWidth'(i);
    end
  end

  assign move   = !valid_q || tx_ready_i;
  assign start  = !busy_q && move && room_q && request_i != '0;
  assign take   = busy_q && move && (valid_i & select_q) != '0;
  assign take_o = select_q & {NumPorts{take}};

  always_comb begin
    flit_d = '0;
    for (int unsigned i = 0; i < NumPorts; i++) begin
      flit_d = flit_d | (flit_i[i] & {$bits(flit_t){select_q[i]}});
    end
    if (bench_i && word_q == 3'd5 && flit_d.kind == FlitData) flit_d.data = stamp_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      room_q   <= 1'b0;
      busy_q   <= 1'b0;
      valid_q  <= 1'b0;
      select_q <= '0;
      source_q <= '0;
      after_q  <= '0;
      word_q   <= '0;
    end else begin
      room_q <= room;
      if (move) valid_q <= start || take;
      if (start) begin
        busy_q   <= 1'b1;
        select_q <= pick;
        source_q <= pick_idx;
        after_q  <= ~(pick | (pick - 1'b1));
        word_q   <= '0;
      end
      if (take) begin
        busy_q <= flit_d.kind == FlitData;
        if (word_q != 3'd6) word_q <= word_q + 3'd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (move) flit_q <= busy_q ? flit_d : '{kind: FlitSop, data: '0};
    if (valid_q && tx_ready_i && flit_q.kind == FlitSop) stamp_q <= stamp_i;
  end

  assign tx_valid_o = valid_q;
  assign tx_flit_o  = flit_q;
  assign source_o   = source_q;
  // Nothing moves at the next edge, unless an input changes.
  assign idle_o = !start && !take && !(valid_q && tx_ready_i) &&
                  room_q == room;
endmodule
