// SPDX-License-Identifier: SHL-2.1
/// The search for rings between ports and lists: behind each datagram of events its candidates.
///
/// nanet_hits, one a port -> arbiter -> async_fifo -> rich_seeds -> async_fifo -> nanet_candidates
///
///   Handshake   in_* and out_* as nanet_queue's beats. Configuration: as rich_seeds, by
///               search_clk_i
///   Clocks      clk_i; search_clk_i of the search, with search_rst_ni
///   Ordering    of a port as it was. Behind each good datagram comes one of candidates: a buffer
///               of two holds both, if its list's policy is hold, so that neither is dropped alone
///   Latency     last hit of a datagram to its candidates: what rich_seeds takes for the last
///               event, both crossings, 8 cycles; longer behind events of other ports
///   Throughput  that of rich_seeds for all ports together; a port reads 2 bytes a cycle
///   Fairness    an event of a port waits for at most one of each other port
///   Parameters  NumPorts 1..4; DataWidth 64..512; UsageW as nanet_queue; Cells as rich_seeds
///   Not done    events whose hits come by several ports
module nanet_search
  import nanet_pkg::*;
#(
  parameter int unsigned NumPorts  = 4,
  parameter int unsigned DataWidth = 128,
  parameter int unsigned UsageW    = 10,
  parameter int unsigned Cells     = 3032
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  input  logic                                  search_clk_i,
  input  logic                                  search_rst_ni,
  input  logic                                  cfg_we_i,
  input  rich_pkg::memory_e                     cfg_memory_i,
  input  logic    [         15:0]               cfg_addr_i,
  input  logic    [         63:0]               cfg_data_i,
  input  logic    [ NumPorts-1:0]               in_valid_i,
  output logic    [ NumPorts-1:0]               in_ready_o,
  input  entry_e  [ NumPorts-1:0]               in_kind_i,
  input  logic    [ NumPorts-1:0][DataWidth-1:0] in_i,
  output logic    [ NumPorts-1:0]               out_valid_o,
  input  logic    [ NumPorts-1:0]               out_ready_i,
  output entry_e  [ NumPorts-1:0]               out_kind_o,
  output logic    [ NumPorts-1:0][DataWidth-1:0] out_o,
  output logic    [ NumPorts-1:0][  UsageW-1:0] usage_o,
  output logic    [ NumPorts-1:0][  UsageW-1:0] ends_o,
  output logic    [ NumPorts-1:0]               fresh_o,  // as nanet_candidates
  output logic                                  idle_o
);
  localparam int unsigned PortW = NumPorts > 1 ? $clog2(NumPorts) : 1;
  typedef logic [PortW-1:0] port_t;
  typedef struct packed {
    port_t         port;
    logic          last;
    rich_pkg::id_t id;
  } hit_t;
  typedef struct packed {
    port_t           port;
    rich_pkg::seed_t seed;
  } answer_t;

  logic [NumPorts-1:0] hit_valid, hit_ready, hit_last, sum_valid, sum_good, hits_idle, own_idle;
  logic [NumPorts-1:0][12:0] sum_events;
  rich_pkg::id_t [NumPorts-1:0] hit_id;
  answer_t answer;
  logic answer_valid;

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_port
    logic valid, ready, next;
    entry_e kind;
    logic [DataWidth-1:0] beat;
    logic [UsageW-1:0] usage, ends;
    nanet_hits #(
      .DataWidth(DataWidth),
      .UsageW   (UsageW)
    ) u_hits (
      .clk_i,
      .rst_ni,
      .in_valid_i  (in_valid_i[i]),
      .in_ready_o  (in_ready_o[i]),
      .in_kind_i   (in_kind_i[i]),
      .in_i        (in_i[i]),
      .out_valid_o (valid),
      .out_ready_i (ready),
      .out_kind_o  (kind),
      .out_o       (beat),
      .usage_o     (usage),
      .ends_o      (ends),
      .hit_valid_o (hit_valid[i]),
      .hit_ready_i (hit_ready[i]),
      .hit_id_o    (hit_id[i]),
      .hit_last_o  (hit_last[i]),
      .sum_valid_o (sum_valid[i]),
      .sum_events_o(sum_events[i]),
      .sum_good_o  (sum_good[i]),
      .next_i      (next),
      .idle_o      (hits_idle[i])
    );
    nanet_candidates #(
      .DataWidth(DataWidth),
      .UsageW   (UsageW)
    ) u_candidates (
      .clk_i,
      .rst_ni,
      .in_valid_i  (valid),
      .in_ready_o  (ready),
      .in_kind_i   (kind),
      .in_i        (beat),
      .usage_i     (usage),
      .ends_i      (ends),
      .out_valid_o (out_valid_o[i]),
      .out_ready_i (out_ready_i[i]),
      .out_kind_o  (out_kind_o[i]),
      .out_o       (out_o[i]),
      .usage_o     (usage_o[i]),
      .ends_o      (ends_o[i]),
      .sum_valid_i (sum_valid[i]),
      .sum_events_i(sum_events[i]),
      .sum_good_i  (sum_good[i]),
      .seed_valid_i(answer_valid && answer.port == port_t'(i)),
      .seed_i      (answer.seed),
      .next_o      (next),
      .fresh_o     (fresh_o[i]),
      .idle_o      (own_idle[i])
    );
  end

  // ---------------------------------------------------------------- events of all ports
  logic [NumPorts-1:0] granted;
  port_t winner;
  hit_t hit, searched;
  logic hit_put, hit_room, hit_take, searched_valid, searched_ready, hits_settled;
  arb_rr #(
    .NumReq(NumPorts)
  ) u_arb (
    .clk_i,
    .rst_ni,
    .req_i (hit_valid),
    .last_i(hit_take && hit.last),
    .gnt_o (granted),
    .idx_o (winner)
  );
  assign hit       = '{port: winner, last: hit_last[winner], id: hit_id[winner]};
  assign hit_put   = |(granted & hit_valid);
  assign hit_take  = hit_put && hit_room;
  assign hit_ready = granted & {NumPorts{hit_room}};
  async_fifo #(
    .Width($bits(hit_t)),
    .Depth(16)
  ) u_hits (
    .wclk_i   (clk_i),
    .wrst_ni  (rst_ni),
    .wvalid_i (hit_put),
    .wready_o (hit_room),
    .wdata_i  (hit),
    .rclk_i   (search_clk_i),
    .rrst_ni  (search_rst_ni),
    .rvalid_o (searched_valid),
    .rready_i (searched_ready),
    .rdata_o  (searched),
    .settled_o(hits_settled)
  );

  // ---------------------------------------------------------------- the search
  localparam int unsigned Inside = 16;  // more events than rich_seeds holds
  logic seeds_ready, order_room, order_valid, found_valid, found_ready, answers_settled;
  logic [$clog2(Inside):0] unused_usage;
  answer_t found;
  rich_seeds #(
    .Cells(Cells)
  ) u_seeds (
    .clk_i       (search_clk_i),
    .rst_ni      (search_rst_ni),
    .cfg_we_i,
    .cfg_memory_i,
    .cfg_addr_i,
    .cfg_data_i,
    .hit_valid_i (searched_valid && order_room),
    .hit_ready_o (seeds_ready),
    .hit_id_i    (searched.id),
    .hit_last_i  (searched.last),
    .seed_valid_o(found_valid),
    .seed_ready_i(found_ready),
    .seed_o      (found.seed)
  );
  assign searched_ready = seeds_ready && order_room;
  fifo #(
    .Width(PortW),
    .Depth(Inside)
  ) u_order (
    .clk_i  (search_clk_i),
    .rst_ni (search_rst_ni),
    .clear_i(1'b0),
    .valid_i(searched_valid && searched_ready && searched.last),
    .ready_o(order_room),
    .data_i (searched.port),
    .valid_o(order_valid),
    .ready_i(found_valid && found_ready && found.seed.done),
    .data_o (found.port),
    .usage_o(unused_usage)
  );
  prim_assert u_known (
    .clk_i (search_clk_i),
    .rst_ni(search_rst_ni),
    .ok_i  (order_valid || !found_valid)
  );

  async_fifo #(
    .Width($bits(answer_t)),
    .Depth(16)
  ) u_answers (
    .wclk_i   (search_clk_i),
    .wrst_ni  (search_rst_ni),
    .wvalid_i (found_valid),
    .wready_o (found_ready),
    .wdata_i  (found),
    .rclk_i   (clk_i),
    .rrst_ni  (rst_ni),
    .rvalid_o (answer_valid),
    .rready_i (1'b1),
    .rdata_o  (answer),
    .settled_o(answers_settled)
  );

  // ---------------------------------------------------------------- what is inside
  logic [7:0] inside_q;  // events
  logic in, out;
  assign in  = hit_take && hit.last;
  assign out = answer_valid && answer.seed.done;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) inside_q <= '0;
    else if (in != out) inside_q <= in ? inside_q + 8'd1 : inside_q - 8'd1;
  end
  assign idle_o = (&hits_idle) && (&own_idle) && hits_settled && answers_settled && inside_q == '0;

  logic unused;
  assign unused = ^unused_usage;
endmodule
