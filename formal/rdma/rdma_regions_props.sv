// SPDX-License-Identifier: SHL-2.1
/// rdma_regions: the verdict is right for any contents of the table, and made of one entry as it stood at
/// one time, whenever the host writes.
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
  input logic        ask_valid_i,
  input flow_t       src_i,
  input logic        extended_i,
  input logic [31:0] key_i,
  input logic [63:0] address_i,
  input logic [6:0]  beats_i
);
  logic rst_ni, rvalid_o, ask_ready_o, answer_valid_o, to_queue_o, idle_o;
  logic [63:0] rdata_o;
  logic [3:0] code_o;
  logic [7:0] qid_o;
  logic clear_i;
  logic [5:0] clear_index_i;
  assign clear_i       = 1'b0;
  assign clear_index_i = '0;

  rdma_regions dut (.*);

  // States, by number: the proof's reader knows no names of another module.
  localparam logic [2:0] StIdle = 3'd0;
  localparam logic [2:0] StDecide = 3'd4;
  localparam logic [2:0] StTable = 3'd5;
  localparam logic [2:0] StTell = 3'd6;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- who asks waits for the answer
  logic [5:0] entry;
  assign entry = extended_i ? key_i[5:0] : 6'(src_i);
  logic asking_q;
  flow_t src_q;
  logic extended_q, reading_q;
  logic [31:0] key_q;
  logic [63:0] address_q;
  logic [6:0] beats_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asking_q  <= 1'b0;
      reading_q <= 1'b0;
    end else begin
      if (ask_valid_i && ask_ready_o) asking_q <= 1'b1;
      else if (answer_valid_o) asking_q <= 1'b0;
      if (re_i) reading_q <= 1'b1;
      else if (rvalid_o) reading_q <= 1'b0;
    end
    src_q      <= src_i;
    extended_q <= extended_i;
    key_q      <= key_i;
    address_q  <= address_i;
    beats_q    <= beats_i;
  end
  always_comb begin
    // The entry that the memory watches: any one.
    if (ask_valid_i) assume (entry == dut.u_ram.watch_q);
    if (!started_q) assume (!ask_valid_i && !re_i);
    if (asking_q) begin
      assume (!ask_valid_i);
      assume (src_i == src_q && extended_i == extended_q && key_i == key_q);
      assume (address_i == address_q && beats_i == beats_q);
    end
    if (reading_q) assume (!re_i);
  end

  // ---------------------------------------------------------------- the entry when its last look began
  // Follows the table at the entry that is asked for, from the cycle in which the base is read.
  logic [63:0] base_q, limit_q, flags_q;
  logic first, still_q;
  assign first = (dut.state_q == StIdle && dut.start) || dut.state_q == StDecide;
  always_ff @(posedge clk_i) begin
    if (first) begin
      base_q  <= dut.u_ram.words_q[0];
      limit_q <= dut.u_ram.words_q[1];
      flags_q <= dut.u_ram.words_q[2];
      still_q <= !(we_i && waddr_i[7:2] == entry);
    end else if (we_i && waddr_i[7:2] == entry) begin
      still_q <= 1'b0;
    end
  end

  // What the answer must be, of the entry as the last look began.
  logic [63:0] old_base_q, old_limit_q;
  region_t old_flags_q;
  logic old_still_q;
  always_ff @(posedge clk_i) begin
    if (dut.state_q == StDecide) begin
      old_base_q  <= base_q;
      old_limit_q <= limit_q;
      old_flags_q <= region_t'(flags_q);
      old_still_q <= still_q && !(we_i && waddr_i[7:2] == entry);
    end
  end

  logic allowed, contained;
  logic [64:0] last;  // byte behind the write
  assign allowed = old_flags_q.valid && old_flags_q.sources[src_i] &&
                   (!extended_i || (old_flags_q.nonce == key_i[31:8] && key_i[7:6] == 2'd0));
  assign last    = {1'b0, address_i} + {55'd0, beats_i, 3'd0};
  assign contained  = address_i[2:0] == '0 && old_base_q[2:0] == '0 && address_i >= old_base_q &&
                   last <= {1'b0, old_limit_q};

  always_comb begin
    if (started_q) begin
      if (answer_valid_o) begin
        assert (asking_q);
        assert (old_still_q);
        assert ((code_o == '0) == (allowed && contained));
        if (!allowed) assert (code_o == 4'(CodeKey));
        else if (!contained) assert (code_o == 4'(CodeBounds));
        assert (to_queue_o == old_flags_q.to_queue && qid_o == old_flags_q.qid);
      end
      // Inductive strengthening.
      assert (asking_q == (answer_valid_o || !(dut.state_q == StIdle || dut.state_q == StTable ||
                                               dut.state_q == StTell)));
      if (asking_q) assert (entry == dut.u_ram.watch_q);
      if (dut.state_q != StIdle && asking_q) assert (dut.entry_q == entry);
      if (dut.read_q || rvalid_o) assert (reading_q);
      if (dut.state_q == StTable || dut.state_q == StTell) assert (dut.read_q);
      assert (dut.state_q <= StTell);
      cover (answer_valid_o && code_o == '0 && extended_i && beats_i == 7'd64);
      cover (answer_valid_o && code_o == 4'(CodeBounds));
      cover (dut.state_q == StDecide && dut.touched_q);
    end
  end
endmodule
