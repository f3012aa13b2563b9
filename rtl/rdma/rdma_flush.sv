// SPDX-License-Identifier: SHL-2.1
/// What of each flow is in memory: a read behind its writes.
///
/// Writes to host memory are posted: answered when the bus core has them, not when memory has. A
/// read does not pass them on any bus (AXI behind their responses, PCI and PCI Express by their
/// ordering rules). So when its data comes, all writes answered before its address was taken are in
/// memory. An acknowledgement that speaks of memory waits for such a read; one that opens a window
/// does not.
///
///   In          strobes of one flow, src_i, with number_i, its next number to be retired. ack_i:
///               an ACK is due; flush_i: one that says that everything before number_i is in
///               memory; begin_i: a session begins with this number
///   Read        read_valid_o/read_ready_i: one beat of a place that was written; one at a time,
///               for all flows that wait. read_done_i with its data; with read_failed_i it was an
///               error: no ACK follows, and the source asks again
///   Out         ack_o: strobes for rdma_ack. view_*: every packet of this flow before this number
///               is in memory
///   Ordering    a number is in view_stored_o a cycle after its ack_o strobes
///   Far         an ACK waits for a read too while 4096 packets or more of its flow are retired and
///               not known to be in memory: so the 16 bits of a number are enough
///   Latency     ack_i to ack_o none; flush_i to read_valid_o 2 cycles; read_done_i to ack_o 1 to
///               NumHosts. Where nothing was answered since the last read, flush_i to ack_o 3
///   Parameters  NumHosts 2..8
///   Not done    a place that may be written and not read (rdma_write says which is read)
///                                                    (proved: formal/rdma/rdma_flush.sby)
module rdma_flush
  import rdma_pkg::*;
#(
  parameter int unsigned NumHosts = 8
) (
  input logic clk_i,
  input logic rst_ni,
  input logic enable_i,             // low: no flow waits

  input logic [NumHosts-1:0] ack_i,
  input logic [NumHosts-1:0] flush_i,
  input logic [NumHosts-1:0] begin_i,
  input flow_t               src_i,
  input seq_t                number_i,
  input logic                answered_i,  // strobe: payload, or a frame word, was answered

  output logic read_valid_o,
  input  logic read_ready_i,
  input  logic read_done_i,
  input  logic read_failed_i,

  output logic [NumHosts-1:0] ack_o,
  input  flow_t               view_src_i,
  output seq_t                view_stored_o,
  output logic                idle_o
);
  if (NumHosts < 2 || NumHosts > MaxHosts) begin : gen_hosts_check
    $error("rdma_flush: NumHosts is %0d, legal is 2..%0d", NumHosts, MaxHosts);
  end

  // Retired and not known to be in memory: from here on an ACK waits.
  localparam int unsigned FarLog2 = 12;

  typedef logic [NumHosts-1:0] hosts_t;
  typedef enum logic [1:0] {
    StIdle,
    StRead,   // the address is on offer
    StWait,   // for its data
    StTell    // a flow a cycle
  } state_e;

  state_e state_q;
  hosts_t wait_q;      // for the next read
  hosts_t going_q;     // for the one under way
  hosts_t far_q;
  logic   phase_q;     // half of the numbers that waiting flows are written to
  logic   dirty_q;     // answered since the last read's address was taken, or that read failed

  (* ram_style = "distributed" *) seq_t stored_q [MaxHosts];
  (* ram_style = "distributed" *) seq_t numbers_q [2 * MaxHosts];

  hosts_t begins, wants, told;
  logic   strobe, go, tell;
  flow_t  told_src;
  assign begins = begin_i;
  assign wants  = flush_i | (ack_i & far_q);
  assign strobe = (ack_i | flush_i | begin_i) != '0;
  assign go     = state_q == StIdle && wait_q != '0;
  // The numbers in memory have one writer a cycle, and a session's begin does not wait.
  assign tell   = state_q == StTell && begins == '0;

  always_comb begin
    told     = '0;
    told_src = '0;
    for (int i = int'(NumHosts) - 1; i >= 0; i--) begin
      if (going_q[i]) begin
        told     = hosts_t'(1) << i;
        told_src = flow_t'(i);
      end
    end
    if (!tell) told = '0;
  end

  seq_t distance;
  logic far;
  assign distance = number_i - stored_q[src_i];
  assign far      = distance >= seq_t'(1 << FarLog2);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      wait_q  <= '0;
      going_q <= '0;
      far_q   <= '0;
      phase_q <= 1'b0;
      dirty_q <= 1'b0;
    end else begin
      // A flow that begins anew waits for nothing of before.
      wait_q  <= enable_i ? ((go ? '0 : wait_q) & ~begins) | wants : '0;
      going_q <= enable_i ? ((go ? wait_q : going_q) & ~told) & ~begins : '0;
      if (begins != '0) far_q <= far_q & ~begins;
      else if (strobe) far_q <= far ? far_q | ack_i | flush_i : far_q & ~(ack_i | flush_i);
      if (go) phase_q <= !phase_q;
      unique case (state_q)
        StIdle:  if (go) state_q <= dirty_q ? StRead : StTell;
        StRead:  if (read_ready_i) state_q <= StWait;
        StWait:  if (read_done_i) state_q <= read_failed_i ? StIdle : StTell;
        default: if (going_q == '0) state_q <= StIdle;
      endcase
      if (state_q == StRead && read_ready_i) dirty_q <= 1'b0;
      if (state_q == StWait && read_done_i && read_failed_i) dirty_q <= 1'b1;
      if (answered_i) dirty_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (begins != '0 || told != '0) begin
      stored_q[begins != '0 ? src_i : told_src] <= begins != '0 ? number_i :
                                                   numbers_q[{!phase_q, told_src}];
    end
    // A flow that waits when a read begins belongs to it; one that comes in that cycle,
    // to the next.
    if (wants != '0) numbers_q[{go ? !phase_q : phase_q, src_i}] <= number_i;
  end

  assign read_valid_o  = state_q == StRead;
  assign ack_o         = (ack_i & ~far_q) | told;
  assign view_stored_o = stored_q[view_src_i];
  assign idle_o        = state_q == StIdle && wait_q == '0;
endmodule
