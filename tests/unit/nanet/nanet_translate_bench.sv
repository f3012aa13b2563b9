// SPDX-License-Identifier: SHL-2.1
/// nanet_translate under random commands, with page tables that are a function: every address that
/// reaches the engine is compared, and nothing else may reach it.
///
///   Regions   0: 2^20 pages of 4 KiB, 1: 2^20 of 64 KiB, 2: 2^19 of 2 MiB, 3: set and not valid;
///             every page whose number ends in 63 is not valid
///   Commands  random region, page and place; one in 16 is illegal: a wrong key, a page behind the
///             region's last, bytes over a page's end, an address above the region's largest
///   Memory    a read takes ReadMin to ReadMin + 127 cycles; tables are at 2^32 times the region
///   Results   worst_o: most cycles from a command to its address, of those that the engine took at
///             once. The first violation stops the run: wrong_o
module nanet_translate_bench
  import nanet_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned Commands  = 10000,
  parameter int unsigned ReadMin   = 100,
  parameter bit          Stalls    = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] seed_i,
  output logic        ended_o,
  output logic        wrong_o,
  output logic [31:0] sent_o,
  output logic [31:0] legal_o,
  output logic [31:0] refused_o,
  output logic [31:0] answered_o,
  output logic [31:0] reads_o,
  output logic [31:0] worst_o,
  output logic [31:0] hits_o,      // commands with an address after one cycle
  output logic [31:0] translated_o,
  output logic [31:0] walks_o,
  output logic [15:0] refusals_o,
  output logic [15:0] longest_o
);
  localparam int unsigned BytesW  = 12;
  localparam int unsigned Pages   = 1 << 20;
  localparam int unsigned Lanes   = DataWidth / 64;
  localparam logic [11:0] Check   = 12'h5A5;

  logic [63:0] random_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) random_q <= seed_i | 64'd1;
    else begin : step
      logic [63:0] x;
      x = random_q;
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      random_q <= x;
    end
  end

  // What a page table holds.
  function automatic logic [63:0] page_word(logic [3:0] index, logic [27:0] page);
    logic [63:0] x;
    x = {index, page, page, index} * 64'h9E3779B97F4A7C15;
    x ^= x >> 29;
    x[11:0] = 12'(page[5:0] != 6'd63);
    if (index == 4'd1) x[15:12] = '0;
    if (index == 4'd2) x[20:12] = '0;
    return x;
  endfunction

  // ---------------------------------------------------------------- the next command
  typedef struct packed {
    logic        legal;
    logic        direct;
    region_key_t key;
    logic [63:0] addr;
    logic [BytesW-1:0] bytes;
    logic [1:0]  tag;
    logic [3:0]  beats;
    logic [63:0] expected;
  } command_t;

  function automatic command_t next_command(logic [63:0] r);
    command_t made;
    logic [3:0]  index;
    logic [27:0] page;
    logic [20:0] inside_;
    logic [63:0] word;
    int unsigned shift;
    made        = '0;
    index       = 4'(r[1:0]);
    if (index == 4'd3 && r[5:2] != '0) index = 4'd0;
    page        = 28'(r[25:6] & 20'(Pages - 1));
    if (index == 4'd2) page[19] = 1'b0;
    // Some pages come often.
    if (r[27:26] == '0) page = 28'(r[9:6]);
    shift       = index == 4'd1 ? 16 : index == 4'd2 ? 21 : 12;
    inside_     = 21'(32'(r[48:28]) & ((1 << shift) - 1) & ~32'd63);
    made.bytes  = BytesW'(1 + (r[60:50] % 11'd1472));
    if (13'(inside_[11:0]) + 13'(made.bytes) > 13'd4096) inside_[11:6] = '0;
    made.key    = '{check: Check, index: index};
    made.tag    = r[62:61];
    made.beats  = 4'd1 + 4'(r[63:61]);
    made.legal  = index != 4'd3 && page[5:0] != 6'd63;
    made.direct = r[59:56] == 4'd7;
    if (!made.direct && r[55:52] == 4'd9) begin
      made.legal = 1'b0;
      unique case (r[51:50])
        2'd0: made.key.check = Check ^ (12'd1 << (r[49:46] % 4'd12));
        2'd1: page = 28'(Pages) + 28'(r[45:40]);
        2'd2: begin
          inside_[11:6] = '1;
          made.bytes = BytesW'(65 + r[45:40]);
        end
        default: ;  // an address too long
      endcase
    end
    made.addr = (64'(page) << shift) + 64'(inside_);
    if (!made.direct && r[55:52] == 4'd9 && r[51:50] == 2'd3) made.addr[40+32'(r[43:40])] = 1'b1;
    word = page_word(index, page);
    made.expected = {word[63:12], 12'd0} + 64'(inside_);
    if (made.direct) begin
      made.legal    = 1'b1;
      made.expected = made.addr;
    end
    return made;
  endfunction

  typedef enum logic [2:0] {StSet, StWait, StNext, StCommand, StData, StEnd} state_e;
  state_e state_q;
  command_t now_q;
  logic [3:0]  set_q, beat_q;
  logic [31:0] waited_q;
  logic        owed_q, out_seen_q, stalled_q;
  logic [31:0] sent_q, legal_q, refused_q, answered_q, worst_q, hits_q, reads_q;
  logic        wrong_q;

  region_t region;
  assign region = '{
      valid: set_q != 4'd3,
      key: '{check: Check, index: set_q},
      size: set_q == 4'd3 ? 2'd0 : set_q[1:0],
      pages: set_q == 4'd2 ? 28'(Pages / 2) : 28'(Pages),
      pages_at: {25'd0, set_q, 32'd0}
  };

  logic cmd_ready, data_ready, done, done_error, out_valid, out_ready, out_data, out_data_ready;
  logic [1:0] done_tag, out_tag;
  logic [63:0] out_addr;
  logic [BytesW-1:0] out_bytes;
  logic arvalid, arready, rvalid, rready, idle;
  axi_pkg::address_t ar;
  logic [DataWidth-1:0] rdata;
  translations_t counters;
  logic e_done;
  logic [1:0] e_tag;

  nanet_translate #(
    .DataWidth(DataWidth),
    .BytesW   (BytesW),
    .TagW     (2)
  ) dut (
    .clk_i,
    .rst_ni,
    .region_we_i        (state_q == StSet),
    .region_index_i     (set_q),
    .region_i           (region),
    .cmd_valid_i        (state_q == StCommand),
    .cmd_ready_o        (cmd_ready),
    .cmd_direct_i       (now_q.direct),
    .cmd_key_i          (now_q.key),
    .cmd_addr_i         (now_q.addr),
    .cmd_bytes_i        (now_q.bytes),
    .cmd_tag_i          (now_q.tag),
    .data_valid_i       (state_q == StData),
    .data_ready_o       (data_ready),
    .data_last_i        (beat_q == now_q.beats),
    .done_valid_o       (done),
    .done_tag_o         (done_tag),
    .done_error_o       (done_error),
    .out_valid_o        (out_valid),
    .out_ready_i        (out_ready),
    .out_addr_o         (out_addr),
    .out_bytes_o        (out_bytes),
    .out_tag_o          (out_tag),
    .out_data_valid_o   (out_data),
    .out_data_ready_i   (out_data_ready),
    .engine_done_valid_i(e_done),
    .engine_done_tag_i  (e_tag),
    .engine_done_error_i(1'b0),
    .arvalid_o          (arvalid),
    .arready_i          (arready),
    .ar_o               (ar),
    .rvalid_i           (rvalid),
    .rready_o           (rready),
    .rdata_i            (rdata),
    .rresp_i            (2'b00),
    .counters_o         (counters),
    .idle_o             (idle)
  );

  // ---------------------------------------------------------------- the engine and the memory
  logic [3:0] got_q;      // beats of the command that the engine holds
  logic       holds_q;
  logic [7:0] answer_q;   // cycles to its answer
  assign out_ready      = !Stalls || random_q[3:0] != '0;
  assign out_data_ready = holds_q && (!Stalls || random_q[7]);
  assign e_done         = answer_q == 8'd1;
  logic [1:0] e_tag_q;
  assign e_tag          = e_tag_q;

  typedef enum logic [1:0] {MemIdle, MemBusy, MemAnswer} mem_e;
  mem_e mem_q;
  logic [15:0] mem_left_q;
  logic [63:0] mem_addr_q;
  assign arready = mem_q == MemIdle && (!Stalls || random_q[9]);
  assign rvalid  = mem_q == MemAnswer;
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin : lane
      logic [60:0] place;
      place = mem_addr_q[63:3] + 61'(i);
      rdata[64*i+:64] = page_word(place[35:32], place[27:0]);
    end
  end

  logic take, out_take, data_take;
  assign take      = state_q == StCommand && cmd_ready;
  assign out_take  = out_valid && out_ready;
  assign data_take = state_q == StData && data_ready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StSet;
      set_q      <= '0;
      beat_q     <= '0;
      waited_q   <= '0;
      owed_q     <= 1'b0;
      out_seen_q <= 1'b0;
      stalled_q  <= 1'b0;
      sent_q     <= '0;
      legal_q    <= '0;
      refused_q  <= '0;
      answered_q <= '0;
      worst_q    <= '0;
      hits_q     <= '0;
      reads_q    <= '0;
      wrong_q    <= 1'b0;
      got_q      <= '0;
      holds_q    <= 1'b0;
      answer_q   <= '0;
      mem_q      <= MemIdle;
    end else begin
      unique case (state_q)
        StSet: begin
          set_q <= set_q + 4'd1;
          if (set_q == 4'd3) state_q <= StWait;
        end
        StWait: if (idle) state_q <= StNext;
        StNext: begin
          if (owed_q || answer_q != '0) begin
            // The last one's answer comes first.
          end else if (sent_q == Commands) begin
            state_q <= StEnd;
          end else begin
            now_q      <= next_command(random_q);
            state_q    <= StCommand;
            waited_q   <= '0;
            out_seen_q <= 1'b0;
            stalled_q  <= 1'b0;
          end
        end
        StCommand: begin
          if (cmd_ready) begin
            state_q <= StData;
            beat_q  <= 4'd1;
            sent_q  <= sent_q + 32'd1;
            legal_q <= legal_q + 32'(now_q.legal);
            owed_q  <= 1'b1;
          end
        end
        StData: begin
          if (data_take) begin
            beat_q <= beat_q + 4'd1;
            if (beat_q == now_q.beats) state_q <= StNext;
          end
        end
        default: ;
      endcase
      if (state_q inside {StCommand, StData}) waited_q <= waited_q + 32'd1;

      if (out_valid && !out_ready) stalled_q <= 1'b1;
      if (out_take) begin
        out_seen_q <= 1'b1;
        holds_q    <= 1'b1;
        got_q      <= '0;
        e_tag_q    <= out_tag;
        if (!now_q.legal || out_seen_q || out_addr != now_q.expected || out_bytes != now_q.bytes ||
            out_tag != now_q.tag) begin
          wrong_q <= 1'b1;
          $display("address %h, %h expected; legal %0d", out_addr, now_q.expected, now_q.legal);
        end
        if (!stalled_q && !now_q.direct) begin
          if (waited_q > worst_q) worst_q <= waited_q;
          if (waited_q == 32'd1) hits_q <= hits_q + 32'd1;
        end
      end
      if (out_data && out_data_ready) begin
        got_q <= got_q + 4'd1;
        if (got_q + 4'd1 == now_q.beats) begin
          holds_q  <= 1'b0;
          answer_q <= 8'd2 + 8'(random_q[12:10]);
        end
      end
      if (out_data && !now_q.legal) begin
        wrong_q <= 1'b1;
        $display("data of a refused command");
      end
      if (answer_q != '0) answer_q <= answer_q - 8'd1;
      if (done) begin
        owed_q     <= 1'b0;
        answered_q <= answered_q + 32'd1;
        refused_q  <= refused_q + 32'(done_error);
        if (!owed_q || done_tag != now_q.tag || done_error == now_q.legal) begin
          wrong_q <= 1'b1;
          $display("answer %0d, owed %0d, legal %0d", done_error, owed_q, now_q.legal);
        end
      end

      unique case (mem_q)
        MemIdle: begin
          if (arvalid && arready) begin
            mem_q      <= MemBusy;
            mem_addr_q <= ar.addr;
            mem_left_q <= 16'(ReadMin) + 16'(random_q[20:14]);
            reads_q    <= reads_q + 32'd1;
            if (ar.len != '0 || 32'(ar.size) != $clog2(DataWidth / 8)) begin
              wrong_q <= 1'b1;
              $display("a read of %0d beats of 2^%0d bytes", ar.len, ar.size);
            end
          end
        end
        MemBusy: begin
          mem_left_q <= mem_left_q - 16'd1;
          if (mem_left_q <= 16'd1) mem_q <= MemAnswer;
        end
        default: if (rready) mem_q <= MemIdle;
      endcase
    end
  end

  assign ended_o      = state_q == StEnd && idle || wrong_q;
  assign wrong_o      = wrong_q;
  assign sent_o       = sent_q;
  assign legal_o      = legal_q;
  assign refused_o    = refused_q;
  assign answered_o   = answered_q;
  assign reads_o      = reads_q;
  assign worst_o      = worst_q;
  assign hits_o       = hits_q;
  assign translated_o = counters.translated;
  assign walks_o      = counters.walks;
  assign refusals_o   = counters.refused;
  assign longest_o    = counters.longest;

  logic unused;
  assign unused = take;
endmodule
