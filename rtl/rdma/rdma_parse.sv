// SPDX-License-Identifier: SHL-2.1
/// Reads the packets of all links in turn: the header is held for the checker, the payload goes on.
///
///   Links       valid_i/ready_o, beats with last and bad; packets of one link whole. A beat that
///               becomes valid was at the input a cycle before. One that addresses a table is taken
///               when it has been stable for a cycle: the first, and the one with a key
///   Header      parsed_o.busy: the first beat is held, complete: all of it. Until check_end_i, or
///               until the packet is found to be none. cut: it will never be whole
///   Payload     payload_valid_o/payload_ready_i: exactly the beats that the header names. A packet
///               that is too short is filled up with beats without keep; of one too long the rest
///               is swallowed. bad on the last beat: what was written is not the packet
///   Look        look_o: strobe with entry_o, for the regions; queue_peek_o: perhaps asked for in
///               the next cycle
///   Latency     a header beat is in parsed_o a cycle after it is taken; payload 0
///   Throughput  a beat a cycle; the next first beat after check_end_i
///   Swallowed   packets of other hosts or sources, and those whose header no packet may have
///   Parameters  NumHosts 2..8, NumLinks 1..4
///   Not done    questions to flow and tables: rdma_receive
module rdma_parse
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
#(
  parameter int unsigned NumHosts = 8,
  parameter int unsigned NumLinks = 4
) (
  input logic  clk_i,
  input logic  rst_ni,
  input host_t host_id_i,

  input  logic [NumLinks-1:0]  valid_i,
  output logic [NumLinks-1:0]  ready_o,
  input  beat_t [NumLinks-1:0] beat_i,
  input  logic [NumLinks-1:0]  last_i,
  input  logic [NumLinks-1:0]  bad_i,

  output parsed_t    parsed_o,
  input  logic       check_end_i,   // strobe: the header is not needed any more
  output logic       look_o,
  output logic [5:0] entry_o,
  output logic [7:0] queue_peek_o,

  output logic       payload_valid_o,
  input  logic       payload_ready_i,
  output payload_t   payload_o,

  output logic       few_o,         // a data packet of a few beats begins
  output logic       header_o,      // a data packet's header is complete with this beat
  output logic       dropped_o,     // end of a packet of unknown kind, or of one cut in its header
  output logic       idle_o
);
  // ---------------------------------------------------------------- links
  localparam int unsigned LinkWidth = NumLinks > 1 ? $clog2(NumLinks) : 1;
  logic [NumLinks-1:0] gnt;
  logic [LinkWidth-1:0] link;
  logic in_valid, in_last, in_bad, take;
  beat_t in_beat;

  // What of a beat may address a table. It goes there from registers: from one memory to the other
  // in a cycle would be too far.
  typedef struct packed {
    logic [2:0] src;
    logic [3:0] qid;
    logic [5:0] entry;
  } look_t;
  look_t [NumLinks-1:0] look_q;
  logic [NumLinks-1:0] stands_q;  // the beat is that of a cycle ago
  look_t look;
  logic stands;

  arb_rr #(.NumReq(NumLinks)) u_links (
    .clk_i,
    .rst_ni,
    .req_i (valid_i),
    .last_i(take && in_last),
    .gnt_o (gnt),
    .idx_o (link)
  );
  assign in_valid = |(valid_i & gnt);
  assign in_beat  = beat_i[link];
  assign in_last  = last_i[link];
  assign in_bad   = bad_i[link];
  assign ready_o  = gnt & {NumLinks{take}};
  assign look     = look_q[link];
  assign stands   = stands_q[link];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stands_q <= '0;
    else stands_q <= ~(valid_i & ready_o);
  end
  for (genvar i = 0; i < int'(NumLinks); i++) begin : gen_look
    header_t header;
    assign header = header_t'(beat_i[i]);
    logic unused_fields;
    assign unused_fields = &{1'b0, header};
    always_ff @(posedge clk_i) begin
      look_q[i] <= '{src: header.src[2:0], qid: header.qid, entry: beat_i[i][5:0]};
    end
  end

  // ---------------------------------------------------------------- reader
  typedef enum logic [2:0] {
    RdFirst,
    RdSecond,
    RdThird,
    RdPayload,
    RdFill,     // the packet was too short
    RdSwallow,  // or too long, or no packet
    RdShort     // a message's header was one beat: is it legal?
  } read_e;

  read_e read_q;
  header_t header_q, first;
  beat_t second_q, third_q;
  logic busy_q;         // a header's first beat is held, or all of it, for the checker
  logic check_q;        // a header is complete
  logic cut_q;          // it will not be whole: the packet has ended
  logic ours_q;         // it is for this host, as that was named when it came
  logic extra_q;        // a control packet that continues is invalid
  logic formed, formed_q;  // the first beat says nothing that no packet may
  logic data_q;         // and is of a data packet
  logic legal;
  logic [6:0] left_q;
  logic extended, data_kind, wanted;

  assign first    = header_t'(in_beat);
  assign formed   = first.src < host_t'(NumHosts) && (first.qid == '0 || first.kind == KindShort) &&
                    (first.kind == KindControl ? first.beats == '0 && !first.extended :
                     !(first.kind == KindShort && first.extended) && first.beats != '0 &&
                     first.beats <= 7'(PacketBeats));
  // Of the present header, from the second beat on.
  assign legal     = ours_q && formed_q && !extra_q;
  assign extended  = header_q.extended;
  assign data_kind = header_q.kind != KindControl;
  assign wanted    = ours_q && data_q;  // extra_q is of control packets

  always_comb begin
    take = 1'b0;
    unique case (read_q)
      RdFirst:   take = in_valid && stands && !busy_q;
      RdThird:   take = in_valid && (stands || header_q.kind == KindMessage);
      RdPayload: take = in_valid && payload_ready_i;
      RdFill:    take = 1'b0;
      RdShort:   take = 1'b0;
      default:   take = in_valid;
    endcase
  end

  // The beat behind which the checker may begin.
  logic complete, dropped;
  always_comb begin
    complete = read_q == RdShort && legal;
    dropped  = 1'b0;
    if (take) begin
      unique case (read_q)
        RdFirst:  dropped = in_last;
        RdSecond: begin
          if (!legal) dropped = in_last;
          else if (!data_kind) begin
            complete = in_last && !in_bad;
            dropped  = in_last && in_bad;
          end else if (in_last) dropped = 1'b1;
          else complete = !extended;
        end
        RdThird: begin
          complete = !in_last;
          dropped  = in_last;
        end
        RdSwallow: dropped = in_last && !legal;
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q  <= RdFirst;
      busy_q  <= 1'b0;
      check_q <= 1'b0;
      cut_q   <= 1'b0;
    end else begin
      if (take && read_q == RdFirst) busy_q <= !in_last;
      else if (check_end_i || (dropped && !wanted)) busy_q <= 1'b0;
      if (complete) check_q <= 1'b1;
      else if (check_end_i) check_q <= 1'b0;
      if (dropped && read_q != RdFirst && wanted) cut_q <= 1'b1;
      else if (check_end_i) cut_q <= 1'b0;
      unique case (read_q)
        RdFirst: if (take && !in_last) read_q <= first.kind == KindShort ? RdShort : RdSecond;
        RdShort: read_q <= legal ? RdPayload : RdSwallow;
        RdSecond: begin
          if (take) begin
            if (in_last) read_q <= RdFirst;
            else if (!legal || !data_kind) read_q <= RdSwallow;
            else read_q <= extended ? RdThird : RdPayload;
          end
        end
        RdThird: if (take) read_q <= in_last ? RdFirst : RdPayload;
        RdPayload: begin
          if (take) begin
            if (left_q == 7'd1) read_q <= in_last ? RdFirst : RdSwallow;
            else if (in_last) read_q <= RdFill;
          end
        end
        RdFill:  if (payload_ready_i && left_q == 7'd1) read_q <= RdFirst;
        default: if (take && in_last) read_q <= RdFirst;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (take && read_q == RdFirst) begin
      header_q <= first;
      ours_q   <= first.dst == host_id_i;
      formed_q <= formed;
      data_q   <= formed && first.kind != KindControl;
      extra_q  <= 1'b0;
      left_q   <= first.beats;
      second_q <= beat_t'(first.qid);
      third_q  <= '0;
    end
    if (take && read_q == RdSecond) begin
      second_q <= in_beat;
      if (!in_last && !data_kind) extra_q <= 1'b1;
    end
    if (take && read_q == RdThird) third_q <= in_beat;
    if (payload_valid_o && payload_ready_i) left_q <= left_q - 7'd1;
  end

  assign payload_valid_o = (read_q == RdPayload && in_valid) || read_q == RdFill;
  assign payload_o = '{
      keep: read_q == RdPayload && !(in_last && in_bad),
      bad:  left_q == 7'd1 && (read_q == RdFill || !in_last || in_bad),
      data: in_beat
  };

  assign parsed_o = '{
      busy:      busy_q,
      complete:  check_q,
      cut:       cut_q,
      wanted:    wanted,
      data_kind: data_kind,
      bare:      read_q == RdShort,
      header:    header_q,
      second:    second_q,
      third:     third_q
  };

  // The beat that names the entry goes to the table as it is taken; a packet that is no write looks
  // for nothing.
  assign look_o       = in_valid && stands &&
                        (read_q == RdThird || (read_q == RdFirst && !busy_q));
  assign entry_o      = read_q == RdFirst ? 6'(look.src) : look.entry;
  assign queue_peek_o = {4'd0, look.qid};  // of a first beat; others name a queue later
  assign few_o        = read_q == RdFirst && in_valid && first.kind != KindControl &&
                        few(first.beats);
  assign header_o     = complete && data_kind;
  assign dropped_o    = dropped;
  assign idle_o       = read_q == RdFirst && !in_valid && stands_q == '1 && !busy_q;
endmodule
