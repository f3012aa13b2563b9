// SPDX-License-Identifier: SHL-2.1
/// Region table, and the check of a write against it.
///
/// A packet with a key is checked against the entry that the key names, one without against the
/// entry of its source (docs/explanation/cores/rdma.md). An entry is read whole, in one cycle.
///
///   Check       look_i: strobe with look_entry_i; one before its answer ends the last one. beats_i
///               is held from the next cycle on, src_i, extended_i, key_i and address_i with
///               check_i, until the answer. answer_valid_o strobes with code_o (0: the whole write
///               lies in the region), to_queue_o, qid_o, which stay until the next look
///   Table       we_i: a beat is written; an entry that is written while it is read is read again.
///               re_i: strobe, one at a time; rvalid_o strobes with rdata_o; 0 for beat 3,
///               which there is not
///   Latency     look to answer 4 cycles, check_i to answer 1; a read 3; one more for each write
///               that meets the look or the read, a read one more for each look
///   Throughput  a check in 4 cycles
///   Not done    reset of the contents
module rdma_regions
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic clk_i,
  input logic rst_ni,

  input  logic        we_i,
  input  logic [7:0]  waddr_i,   // entry, beat
  input  logic [63:0] wdata_i,
  input  logic        re_i,
  input  logic [7:0]  raddr_i,
  output logic        rvalid_o,
  output logic [63:0] rdata_o,

  input  logic        look_i,
  input  logic [5:0]  look_entry_i,
  input  logic        check_i,        // level: what is checked is stable
  input  flow_t       src_i,
  input  logic        extended_i,
  input  logic [31:0] key_i,
  input  logic [63:0] address_i,
  input  logic [6:0]  beats_i,
  output logic        answer_valid_o,
  output logic [3:0]  code_o,
  output logic        to_queue_o,
  output logic [7:0]  qid_o,
  output logic        idle_o
);
  typedef struct packed {
    region_t     flags;
    logic [63:0] limit;
    logic [63:0] base;
  } entry_t;

  // ---------------------------------------------------------------- which entry is read
  logic here_q, tell_q;  // the memory's output is what a check, a read asked for
  logic read_q;          // a read of the table waits
  logic [7:0] read_addr_q;
  logic [5:0] entry_q, addr_q, waddr_q;
  logic wrote_q, clash;  // read collided with a write: data invalid, retry
  logic look, read;
  logic [5:0] addr, waddr;
  logic [2:0] we;

  // Known a cycle later: the address comes out of the links' memory, late in its cycle.
  assign clash = wrote_q && waddr_q == addr_q;
  assign look  = look_i || (here_q && clash);
  assign read  = (read_q || (tell_q && clash)) && !look;
  assign addr  = look_i ? look_entry_i : look ? entry_q : read_addr_q[7:2];
  assign we    = we_i ? 3'(4'd1 << waddr_i[1:0]) : 3'b000;
  assign waddr = waddr_i[7:2];

  entry_t word;
  ram_1r1w #(
    .Width    (192),
    .Depth    (NumRegions),
    .LaneWidth(64),
    .ReadOld  (1'b0)
  ) u_ram (
    .clk_i,
    .we_i   (we),
    .waddr_i(waddr),
    .wdata_i({3{wdata_i}}),
    .re_i   (1'b1),
    .raddr_i(addr),
    .rdata_o(word)
  );

  // ---------------------------------------------------------------- what becomes of it
  logic load_q, ready_q;  // the entry is in entry_word_q; with its room
  logic judge;
  assign judge = ready_q && check_i && !look_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wrote_q        <= 1'b0;
      here_q         <= 1'b0;
      load_q         <= 1'b0;
      ready_q        <= 1'b0;
      answer_valid_o <= 1'b0;
      read_q         <= 1'b0;
      tell_q         <= 1'b0;
      rvalid_o       <= 1'b0;
    end else begin
      wrote_q        <= we != '0;
      here_q         <= look;
      load_q         <= here_q && !clash && !look_i;
      ready_q        <= (load_q || (ready_q && !judge)) && !look_i;
      answer_valid_o <= judge;
      read_q         <= re_i || ((read_q || (tell_q && clash)) && !read);
      tell_q         <= read;
      rvalid_o       <= tell_q && !clash;
    end
  end

  entry_t entry_word_q;
  logic [61:0] room_q;  // the last beat at which the write may begin, with a sign
  logic base_ok_q, limit_ok_q, key_ok_q;
  always_ff @(posedge clk_i) begin
    addr_q  <= addr;
    waddr_q <= waddr;
    if (re_i) read_addr_q <= raddr_i;
    if (look_i) entry_q <= look_entry_i;
    if (here_q) entry_word_q <= word;
    if (load_q) room_q <= {1'b0, entry_word_q.limit[63:3]} - 62'(beats_i);
    if (judge) begin
      // A base that is no multiple of 8 is invalid: nothing below it may be written.
      base_ok_q  <= address_i[63:3] >= entry_word_q.base[63:3] && entry_word_q.base[2:0] == '0 &&
                    address_i[2:0] == '0;
      limit_ok_q <= !room_q[61] && address_i[63:3] <= room_q[60:0];
      key_ok_q   <= entry_word_q.flags.valid && entry_word_q.flags.sources[src_i] &&
                    (!extended_i || (entry_word_q.flags.nonce == key_i[31:8] && key_i[7:6] == '0));
    end
    unique case (read_addr_q[1:0])
      2'd0:    rdata_o <= word.base;
      2'd1:    rdata_o <= word.limit;
      2'd2:    rdata_o <= word.flags;
      default: rdata_o <= '0;
    endcase
  end

  assign code_o     = !key_ok_q ? 4'(CodeKey)
                    : base_ok_q && limit_ok_q ? 4'(CodeNone) : 4'(CodeBounds);
  assign to_queue_o = entry_word_q.flags.to_queue;
  assign qid_o      = entry_word_q.flags.qid;
  assign idle_o     = !(here_q || load_q || answer_valid_o || read_q || tell_q ||
                        rvalid_o);
  logic unused;
  assign unused = &{1'b0, entry_word_q.flags.zero_56, entry_word_q.flags.zero_18,
                    entry_word_q.limit[2:0], key_i[5:0]};
endmodule
