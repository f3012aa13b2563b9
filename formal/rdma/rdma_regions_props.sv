// SPDX-License-Identifier: SHL-2.1
/// rdma_regions: the verdict is right for any contents of the table, and made of one entry as it
/// was at one time since the look, whenever the host writes; so is what a read of the table has.
/// A look and a read come to their end as fast as they may; idle is nothing under way but an entry
/// that waits for its check.
module rdma_regions_props
  import rdma_pkg::*;
  import rdma_rx_pkg::*;
(
  input logic        clk_i,
  input logic        we_i,
  input logic [7:0]  waddr_i,
  input logic [63:0] wdata_i,
  input logic        re_i,
  input logic [7:0]  raddr_i,
  input logic        look_i,
  input logic [5:0]  look_entry_i,
  input logic        check_i,
  input flow_t       src_i,
  input logic        extended_i,
  input logic [31:0] key_i,
  input logic [63:0] address_i,
  input logic [6:0]  beats_i
);
  logic rst_ni, rvalid_o, answer_valid_o, to_queue_o, idle_o;
  logic [63:0] rdata_o;
  logic [3:0] code_o;
  logic [7:0] qid_o;

  rdma_regions dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- a client waits for its answer
  logic asking_q, first_q;  // first_q: the cycle after the look
  logic held_q;             // an answer is owed
  flow_t src_q;
  logic extended_q, reading_q;
  logic [31:0] key_q;
  logic [63:0] address_q;
  logic [6:0] beats_q;
  logic [5:0] entry_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asking_q  <= 1'b0;
      first_q   <= 1'b0;
      held_q    <= 1'b0;
      reading_q <= 1'b0;
    end else begin
      first_q <= look_i;
      held_q  <= asking_q && check_i && !look_i && !answer_valid_o;
      if (look_i) asking_q <= 1'b1;
      else if (answer_valid_o) asking_q <= 1'b0;
      if (re_i) reading_q <= 1'b1;
      else if (rvalid_o) reading_q <= 1'b0;
    end
    if (look_i) entry_q <= look_entry_i;
    src_q      <= src_i;
    extended_q <= extended_i;
    key_q      <= key_i;
    address_q  <= address_i;
    beats_q    <= beats_i;
  end
  always_comb begin
    // The group of entries that the memory watches: any one.
    if (look_i) assume (look_entry_i[5:2] == dut.u_ram.watch_q);
    if (!started_q) assume (!look_i && !re_i);
    if (asking_q && !first_q) assume (beats_i == beats_q);
    if (held_q) begin
      assume (!look_i && check_i);
      assume (src_i == src_q && extended_i == extended_q && key_i == key_q &&
              address_i == address_q);
    end
    if (reading_q) assume (!re_i);
    if (re_i) assume (raddr_i[7:4] == dut.u_ram.watch_q);
  end

  // ---------------------------------------------------------------- the entry at its last read
  // What the table held when it was read without a simultaneous write; what the answer is made of.
  logic [63:0] base_q, limit_q;
  region_t flags_q;
  logic [191:0] stands;
  logic meets, met_q, was_met_q;
  assign stands = dut.u_ram.words_q[dut.addr[1:0]];
  assign meets  = we_i && waddr_i[7:2] == dut.addr && waddr_i[1:0] != 2'd3;
  always_ff @(posedge clk_i) begin
    met_q <= dut.look && meets;
    was_met_q <= dut.here_q && met_q;
    if (dut.look && !meets) {flags_q, limit_q, base_q} <= stands;
  end

  // A read of the table: where it is, and what it saw.
  logic [7:0]  raddr_q;
  logic [63:0] seen_q;
  logic        meets_read, met_read_q;
  assign meets_read = we_i && waddr_i[7:2] == raddr_q[7:2] && waddr_i[1:0] != 2'd3;
  always_ff @(posedge clk_i) begin
    if (re_i) raddr_q <= raddr_i;
    met_read_q <= meets_read;
    if (dut.read && !meets_read)
      seen_q <= raddr_q[1:0] == 2'd3 ? '0 :
                64'(dut.u_ram.words_q[raddr_q[3:2]] >> {raddr_q[1:0], 6'd0});
  end

  // A cycle ago: which side waits, and whether a look-up had the table.
  logic look_q, ready_q, judge_q, tell_q, wait_q;
  always_ff @(posedge clk_i) begin
    look_q  <= started_q && look_i;
    ready_q <= started_q && dut.ready_q;
    judge_q <= started_q && dut.ready_q && check_i && !look_i;
    tell_q  <= started_q && dut.tell_q && !met_read_q;
    wait_q  <= started_q && (dut.read_q || (dut.tell_q && met_read_q)) && !dut.look;
  end

  logic allowed, contained;
  logic [64:0] last;  // byte behind the write
  assign allowed = flags_q.valid && flags_q.sources[src_i] &&
                   (!extended_i || (flags_q.nonce == key_i[31:8] && key_i[7:6] == 2'd0));
  assign last    = {1'b0, address_i} + {55'd0, beats_i, 3'd0};
  assign contained  = address_i[2:0] == '0 && base_q[2:0] == '0 && address_i >= base_q &&
                   last <= {1'b0, limit_q};

  logic [3:0] stages;
  assign stages = {dut.here_q, dut.load_q, dut.ready_q, answer_valid_o};

  always_comb begin
    if (started_q) begin
      if (answer_valid_o) begin
        assert (asking_q && held_q);
        assert ((code_o == '0) == (allowed && contained));
        if (!allowed) assert (code_o == 4'(CodeKey));
        else if (!contained) assert (code_o == 4'(CodeBounds));
        assert (to_queue_o == flags_q.to_queue && qid_o == flags_q.qid);
      end
      if (rvalid_o) assert (reading_q && rdata_o == seen_q);
      // An answer comes a cycle behind a check of an entry that is there, and at no other time;
      // a look is repeated only where a write met it.
      assert (answer_valid_o == judge_q);
      if (ready_q && !judge_q && !look_q) assert (dut.ready_q);
      if (dut.here_q && !first_q) assert (was_met_q);
      // A read waits only for looks and for writes that meet it.
      assert (rvalid_o == tell_q && dut.tell_q == wait_q);
      assert (idle_o == !(reading_q || (asking_q && !dut.ready_q)));
      // Inductive strengthening.
      assert (stages == '0 || stages == 4'd1 || stages == 4'd2 || stages == 4'd4 || stages == 4'd8);
      assert (asking_q == (stages != '0));
      if (first_q) assert (asking_q && dut.here_q);
      if (asking_q) assert (dut.entry_q == entry_q && entry_q[5:2] == dut.u_ram.watch_q);
      if (dut.here_q && !dut.clash) assert ({flags_q, limit_q, base_q} == dut.word);
      if (dut.here_q) assert (dut.addr_q == entry_q && dut.clash == met_q);
      if (dut.load_q || dut.ready_q || answer_valid_o) begin
        assert ({flags_q, limit_q, base_q} == dut.entry_word_q);
        assert (!first_q);
      end
      if (dut.ready_q) assert (dut.room_q == {1'b0, limit_q[63:3]} - 62'(beats_i));
      if (held_q) assert (asking_q);
      assert (reading_q == (dut.read_q || dut.tell_q || rvalid_o));
      if (reading_q) assert (dut.read_addr_q == raddr_q && raddr_q[7:4] == dut.u_ram.watch_q);
      if (dut.tell_q) assert (dut.addr_q == raddr_q[7:2] && dut.clash == met_read_q);
      if (dut.tell_q && !met_read_q && raddr_q[1:0] != 2'd3)
        assert (64'(dut.word >> {raddr_q[1:0], 6'd0}) == seen_q);
      if (dut.tell_q && !met_read_q && raddr_q[1:0] == 2'd3) assert (seen_q == '0);
      assert (!(dut.read_q && dut.tell_q) && !(dut.tell_q && rvalid_o) &&
              !(dut.read_q && rvalid_o));
      cover (answer_valid_o && code_o == '0 && extended_i && beats_i == 7'd64);
      cover (answer_valid_o && code_o == 4'(CodeBounds));
      cover (dut.here_q && !first_q);
      cover (dut.ready_q && look_i);
      cover (rvalid_o);
    end
  end
endmodule
