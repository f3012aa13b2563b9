// SPDX-License-Identifier: SHL-2.1
/// Packets that have left, put in order again: what is returned to the host,
/// and when it is notified.
///
/// A flow's packets leave over several links in any order. Each leaves a mark at its number; the
/// marks are read in order, and a transfer whose packets have all left gives its slots, or its
/// message's beats, back. So the counts reported to the host are of whole transfers in order.
///
///   Handshake   departure_*[l]: valid/ready, one taken at a time, links in turn. record_*: what
///               the packet of this number gives back, written before it leaves. give_*: slots of a
///               descriptor that made no packet, only while its flow has none under way;
///               taken with give_ready_o.
///               local_*: valid/ready, the newest count; several notifications may become one
///   Latency     4 cycles from a departure to freed_o, 6 to local_valid_o,
///               where it is the next in order
///   Throughput  a departure every 5 cycles; each that is retired for an earlier one 2
///   Parameters  NumLinks 1..4
///   Not done    a time limit: a packet that never leaves holds its flow after Window packets
module rdma_departures
  import rdma_pkg::*;
  import rdma_tx_pkg::*;
#(
  parameter  int unsigned NumLinks  = 1,
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,         // 512 cycles, while nothing is under way
  input  logic [8:0]           clear_addr_i,

  input  logic [NumLinks-1:0]  departure_valid_i,
  output logic [NumLinks-1:0]  departure_ready_o,
  input  departure_t [NumLinks-1:0] departure_i,

  input  logic                 record_i,
  input  flow_t                record_flow_i,
  input  logic [5:0]           record_seq_i,
  input  return_t              record_return_i,

  input  logic                 give_valid_i,
  output logic                 give_ready_o,
  input  flow_t                give_flow_i,
  input  return_t              give_return_i,

  input  flow_t                flow_i,
  output logic [6:0]           next_o,          // first number that has not left, modulo 128

  output logic                 gone_o,          // strobe: a data packet's room is free
  output logic [LinkWidth-1:0] gone_link_o,
  output flow_t                gone_flow_o,
  output beats_t               gone_beats_o,
  output logic                 control_gone_o,  // strobe: a control packet has left, to gone_flow_o
  output logic                 freed_o,         // strobe: given back to the host
  output logic                 freed_message_o,
  output flow_t                freed_flow_o,
  output logic [15:0]          freed_count_o,   // since the start
  output logic                 moved_o,         // strobe: next_o of moved_flow_o has moved
  output flow_t                moved_flow_o,

  output logic                 local_valid_o,
  input  logic                 local_ready_i,
  output flow_t                local_flow_o,
  output logic                 local_message_o,
  output logic [15:0]          local_count_o,
  output logic                 idle_o
);
  if (NumLinks < 1 || NumLinks > 4) begin : gen_links_check
    $error("rdma_departures: NumLinks is %0d, legal is 1..4", NumLinks);
  end

  typedef enum logic [1:0] {
    StTake,   // a departure, or what made no packet
    StRead,   // mark and record of the next number
    StLook    // has it left?
  } state_e;

  state_e state_q;
  flow_t  flow_q;
  logic [NumLinks-1:0] grant;
  logic [LinkWidth-1:0] link;
  departure_t token;
  logic take, mark, retire, direct;

  arb_rr #(.NumReq(NumLinks)) u_links (
    .clk_i,
    .rst_ni,
    .req_i (departure_valid_i & {NumLinks{state_q == StTake}}),
    .last_i(1'b1),
    .gnt_o (grant),
    .idx_o (link)
  );
  assign departure_ready_o = grant;
  assign take              = grant != '0;
  always_comb begin
    token = '0;
    for (int unsigned i = 0; i < NumLinks; i++) begin
      if (grant[i]) token = token | departure_i[i];
    end
  end
  assign mark         = take && !token.control;
  assign give_ready_o = state_q == StTake && !take;
  assign direct       = give_valid_i && give_ready_o;

  // A number has left when its mark is its own bit 6; each round of 64 writes the other value.
  logic [6:0] next_q[MaxHosts];
  logic [6:0] number;
  logic       left;
  return_t    record, back;
  assign number = next_q[flow_q];
  assign next_o = next_q[flow_i];
  assign retire = state_q == StLook && left == number[6];

  ram_1r1w #(
    .Width  (1),
    .Depth  (MaxHosts * Window),
    .ReadOld(1'b0)
  ) u_marks (
    .clk_i,
    .we_i   (clear_i || mark),
    .waddr_i(clear_i ? clear_addr_i : {token.flow, token.seq[5:0]}),
    .wdata_i(clear_i || token.seq[6]),
    .re_i   (state_q == StRead),
    .raddr_i({flow_q, number[5:0]}),
    .rdata_o(left)
  );
  ram_1r1w #(
    .Width  ($bits(return_t)),
    .Depth  (MaxHosts * Window),
    .ReadOld(1'b0)
  ) u_records (
    .clk_i,
    .we_i   (record_i),
    .waddr_i({record_flow_i, record_seq_i}),
    .wdata_i(record_return_i),
    .re_i   (state_q == StRead),
    .raddr_i({flow_q, number[5:0]}),
    .rdata_o(record)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StTake;
    end else begin
      unique case (state_q)
        StTake:  if (mark) state_q <= StRead;
        StRead:  state_q <= StLook;
        default: state_q <= retire ? StRead : StTake;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (mark) flow_q <= token.flow;
    // Write address and data do not depend on the write enable, which is late.
    if (clear_i || retire) begin
      next_q[clear_i ? clear_addr_i[2:0] : flow_q] <= clear_i ? '0 : number + 7'd1;
    end
  end

  // ---------------------------------------------------------------- room
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      gone_o         <= 1'b0;
      control_gone_o <= 1'b0;
      moved_o        <= 1'b0;
    end else begin
      gone_o         <= mark;
      control_gone_o <= take && token.control;
      moved_o        <= retire;
    end
  end
  always_ff @(posedge clk_i) begin
    gone_link_o  <= link;
    gone_flow_o  <= token.flow;
    gone_beats_o <= token.beats;
    moved_flow_o <= flow_q;
  end

  // ---------------------------------------------------------------- counts
  logic        count_q;  // the count of back_q is added up in this cycle
  return_t     back_q;
  logic        unused_last;
  assign unused_last = back_q.last;
  flow_t       back_flow_q;
  logic [15:0] given_q[2*MaxHosts];
  logic [15:0] given;
  logic [3:0]  which;

  assign back  = direct ? give_return_i : record;
  assign which = {back_q.message, back_flow_q};
  assign given = given_q[which] + 16'(back_q.count);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= 1'b0;
    else count_q <= direct || (retire && record.last);
  end
  always_ff @(posedge clk_i) begin
    back_q      <= back;
    back_flow_q <= direct ? give_flow_i : flow_q;
    if (clear_i || count_q) given_q[clear_i ? clear_addr_i[3:0] : which] <= clear_i ? '0 : given;
  end
  assign freed_o         = count_q;
  assign freed_message_o = back_q.message;
  assign freed_flow_o    = back_flow_q;
  assign freed_count_o   = given;

  // ---------------------------------------------------------------- telling the host
  logic [2*MaxHosts-1:0] news_q, tell;
  logic [3:0] tell_which;
  logic load;
  // Not in the cycle in which one is taken: the take is late.
  assign load = !local_valid_o;

  arb_rr #(.NumReq(2 * MaxHosts)) u_tell (
    .clk_i,
    .rst_ni,
    .req_i (news_q & {2*MaxHosts{load}}),
    .last_i(1'b1),
    .gnt_o (tell),
    .idx_o (tell_which)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      news_q        <= '0;
      local_valid_o <= 1'b0;
    end else begin
      news_q <= news_q & ~tell;
      if (count_q && back_q.notify) news_q[which] <= 1'b1;
      local_valid_o <= load ? news_q != '0 : !local_ready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (load) begin
      {local_message_o, local_flow_o} <= tell_which;
      local_count_o                   <= given_q[tell_which];
    end
  end

  assign idle_o = state_q == StTake && departure_valid_i == '0 && !give_valid_i && !gone_o &&
                  !control_gone_o && !moved_o && !count_q && news_q == '0 && !local_valid_o;
endmodule
