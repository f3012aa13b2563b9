// SPDX-License-Identifier: SHL-2.1
/// A remote cache, an agent without a cache and a home with directory, over networks that deliver
/// messages in any order, with a scoreboard (coherence_score). All random choices come from seed_i.
/// Lines 0 to lines_i - 1 are used.
module coherence_agents_bench
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import coherence_score_pkg::*;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned Sets    = 2,
  parameter int unsigned Ways    = 2,
  parameter int unsigned NumMshr = 4,
  parameter int unsigned NumTbe  = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] seed_i,
  input  logic [4:0]  lines_i,     // 1 to 16
  input  logic        stop_i,      // no agent begins anything any more
  input  logic [11:0] sel_i,       // table (0 remote, 1 request, 2 response, 3 core), row
  output logic [31:0] count_o,
  output logic [31:0] messages_o,  // delivered
  output logic [31:0] operations_o,
  output logic        quiet_o      // nothing is open
);
  localparam int unsigned Lines = 16;
  localparam int unsigned Slots = 16;   // of a network, a class
  localparam int unsigned Patience = 50_000;

  // ---------------------------------------------------------------- agents
  // [0] the remote's core, [1] the host's
  logic [1:0] core_valid, core_ready, core_rsp_valid;
  core_e [1:0] core_op;
  index_t [1:0] core_index;
  logic [1:0][7:0] core_tag, core_rsp_tag;
  mask_t [1:0] core_mask;
  line_t [1:0] core_data, core_rsp_data;
  message_e core_atomic;  // of the host's core
  logic [3:0] core_word;

  logic [3:0] req_valid, req_ready;
  message_e [3:0] req_message;
  header_t [3:0] req_header;
  word_t [3:0][17:0] req_payload;
  logic up_valid, up_dirty, down_valid, down_side, fwd_valid, fwd_ready;
  message_e up_message, down_message, fwd_message;
  index_t up_index, fwd_index;
  id_t down_id;
  line_t up_data, down_data;
  logic c_req_valid, c_req_ready, c_rsd_valid, c_rsd_ready, c_rsn_valid, c_rsn_ready;
  header_t c_req, c_rsd, c_rsn;
  line_t c_line;
  logic h_fwd_valid, h_fwd_ready, h_rsd_valid, h_rsd_ready, h_rsn_valid, h_rsn_ready;
  header_t h_fwd, h_rsd, h_rsn;
  logic [4:0] h_words;
  line_t h_line;
  logic mem_req_valid, mem_req_ready, mem_rsp_valid, mem_rsp_ready;
  memory_t mem_req;
  logic [7:0] mem_rsp_tag;
  line_t mem_rsp_data;
  logic stray;

  coherence_cache #(.Sets(Sets), .Ways(Ways), .NumMshr(NumMshr)) u_cache (
    .clk_i, .rst_ni, .core_valid_i(core_valid[0]), .core_ready_o(core_ready[0]),
    .core_op_i(core_op[0]), .core_index_i(core_index[0]), .core_tag_i(core_tag[0]),
    .core_mask_i(core_mask[0]), .core_data_i(core_data[0]), .core_atomic_i('0),
    .core_rsp_valid_o(core_rsp_valid[0]), .core_rsp_tag_o(core_rsp_tag[0]), .core_rsp_data_o(core_rsp_data[0]),
    .fwd_valid_i(fwd_valid), .fwd_ready_o(fwd_ready), .fwd_message_i(fwd_message),
    .fwd_index_i(fwd_index), .rsp_valid_i(down_valid), .rsp_message_i(down_message),
    .rsp_dirty_i(up_dirty), .rsp_side_i(down_side), .rsp_id_i(down_id), .rsp_data_i(down_data),
    .req_valid_o(c_req_valid), .req_ready_i(c_req_ready), .req_header_o(c_req),
    .rsd_valid_o(c_rsd_valid), .rsd_ready_i(c_rsd_ready), .rsd_header_o(c_rsd),
    .rsd_data_o(c_line), .rsn_valid_o(c_rsn_valid), .rsn_ready_i(c_rsn_ready), .rsn_header_o(c_rsn),
    .look_i('0), .looked_o()
  );
  coherence_directory #(.Sets(Sets), .Ways(Ways), .NumTbe(NumTbe)) u_home (
    .clk_i, .rst_ni, .core_valid_i(core_valid[1]), .core_ready_o(core_ready[1]),
    .core_i('{op: core_op[1], atomic: core_atomic, word: core_word}),
    .core_index_i(core_index[1]), .core_tag_i(core_tag[1]),
    .core_mask_i(core_mask[1]), .core_data_i(core_data[1]), .core_rsp_valid_o(core_rsp_valid[1]),
    .core_rsp_o({core_rsp_tag[1], core_rsp_data[1]}),
    .req_valid_i(req_valid), .req_ready_o(req_ready), .req_message_i(req_message),
    .req_header_i(req_header), .req_payload_i(req_payload[1:0]),
    .rsp_valid_i(up_valid), .rsp_message_i(up_message), .rsp_index_i(up_index),
    .rsp_data_i(up_data),
    .fwd_valid_o(h_fwd_valid), .fwd_ready_i(h_fwd_ready), .fwd_header_o(h_fwd),
    .rsd_valid_o(h_rsd_valid), .rsd_ready_i(h_rsd_ready), .rsd_header_o(h_rsd),
    .rsd_words_o(h_words), .rsd_data_o(h_line),
    .rsn_valid_o(h_rsn_valid), .rsn_ready_i(h_rsn_ready), .rsn_header_o(h_rsn),
    .mem_req_valid_o(mem_req_valid), .mem_req_ready_i(mem_req_ready),
    .mem_req_o(mem_req),
    .mem_rsp_valid_i(mem_rsp_valid), .mem_rsp_ready_o(mem_rsp_ready), .mem_rsp_i({mem_rsp_tag, mem_rsp_data}),
    .stray_o(stray), .look_i('0),
    .looked_o()
  );

  // ---------------------------------------------------------------- scoreboard
  if (1) begin : gen_cache
    `SCORE_CACHE(u_cache, Sets, Ways, NumMshr)
  end
  if (1) begin : gen_home
    `SCORE_HOME(u_home, Sets, Ways, NumTbe)
  end
  logic wrote;
  index_t wrote_index;
  mask_t wrote_mask;
  line_t wrote_data;
  coherence_score #(
    .Sets(Sets), .Ways(Ways), .HomeSets(Sets), .HomeWays(Ways), .Lines(Lines)
  ) u_score (
    .clk_i, .rst_ni, .seed_i, .match_i('0), .match_at_i('0), .cache_low_i(1'b0),
    .c_held_i(gen_cache.held), .c_lines_i(gen_cache.lines), .c_i(gen_cache.tap),
    .h_held_i(gen_home.held), .h_lines_i(gen_home.lines), .h_i(gen_home.tap),
    .mem_write_i(wrote), .mem_index_i(wrote_index), .mem_mask_i(wrote_mask),
    .mem_data_i(wrote_data), .sel_i, .count_o, .want_o()
  );

  // ---------------------------------------------------------------- networks, memory
  typedef struct packed {
    logic     full;
    message_e message;
    header_t  header;
    word_t [17:0] payload;
    logic [7:0] due;   // clocks until it may be delivered
  } flying_t;
  // 0 to 3: requests by circuit; 4 forwards; 5 responses to the home; 6 to the remote
  flying_t net [7][Slots];
  line_t dram [Lines];
  typedef struct packed {
    logic full;
    logic write;
    index_t index;
    logic [7:0] tag;
    mask_t mask;
    line_t data;
    logic [7:0] due;
  } access_t;
  access_t memory [64];

  logic [255:0] open [2];
  int unsigned opened [2];
  core_e open_op [2][256];
  int unsigned since;                  // clocks without any delivery or response
  // The agent without a cache: an operation of a line at most.
  message_e unc_op [Lines];
  task automatic fail(string what, index_t index);
    $fatal(1, "line %0d: %s", index, what);
  endtask
  function automatic int place(int n);
    for (int i = 0; i < int'(Slots); i++) if (!net[n][i].full) return i;
    return -1;
  endfunction
  task automatic put(int n, message_e message, header_t header, word_t [17:0] payload);
    int at;
    at = place(n);
    if (at < 0) fail("network overflow", header.index);
    net[n][at] = '{full: 1'b1, message: message, header: header, payload: payload,
                   due: 8'(below((below(8) == 0) ? 120 : 12))};
  endtask
  // One that is due, of those chosen at random; -1: none.
  function automatic int due(int n);
    int start;
    start = int'(below(Slots));
    for (int i = 0; i < int'(Slots); i++) begin
      int at;
      at = (start + i) % int'(Slots);
      if (net[n][at].full && net[n][at].due == 0) return at;
    end
    return -1;
  endfunction

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      rng = seed_i | 64'd1;
      for (int i = 0; i < 20; i++) void'(rnd());
      for (int n = 0; n < 7; n++) for (int i = 0; i < int'(Slots); i++) net[n][i] = '0;
      for (int i = 0; i < 64; i++) memory[i] = '0;
      for (int l = 0; l < int'(Lines); l++) begin
        dram[l] = initial_line(seed_i, index_t'(l));
        unc_op[l] = MsgNone;
      end
      open = '{default: '0};
      opened = '{default: 0};
      since = 0;
      core_valid <= '0;
      core_op <= '{default: CoreLoad};
      {core_index, core_tag, core_mask, core_data, core_word} <= '0;
      core_atomic <= MsgNone;
      req_valid <= '0;
      req_message <= '{default: MsgNone};
      {req_header, req_payload} <= '0;
      {up_valid, up_dirty, down_valid, down_side, fwd_valid} <= '0;
      up_message <= MsgNone;
      down_message <= MsgNone;
      fwd_message <= MsgNone;
      {c_req_ready, c_rsd_ready, c_rsn_ready, h_fwd_ready, h_rsd_ready, h_rsn_ready} <= '0;
      {mem_req_ready, mem_rsp_valid, wrote} <= '0;
      messages_o <= '0;
      operations_o <= '0;
      quiet_o <= 1'b0;
    end else begin
      int moved, done;
      logic idle;
      moved = 0;
      done  = 0;
      // ------------------------------------------------ cores
      for (int k = 0; k < 2; k++) begin
        if (core_rsp_valid[k]) begin
          if (!open[k][core_rsp_tag[k]]) fail("a response to a tag that is not open", '0);
          open[k][core_rsp_tag[k]] = 1'b0;
          opened[k]--;
          done++;
        end
        if (!core_valid[k] || core_ready[k]) begin
          logic [7:0] tag;
          int unsigned kind;
          index_t index;
          line_t data;
          tag = core_tag[k] + 8'd1;
          core_valid[k] <= 1'b0;
          if (!stop_i && opened[k] < 12 && !open[k][tag] && below(3) != 0) begin
            core_valid[k] <= 1'b1;
            core_tag[k]   <= tag;
            index = index_t'(below(32'(lines_i)));
            data  = rnd_line();
            core_index[k] <= index;
            kind = below(8);
            case (kind)
              0, 1, 2: core_op[k] <= CoreStore;
              3: core_op[k] <= CoreEvict;
              default: core_op[k] <= CoreLoad;
            endcase
            core_mask[k] <= rnd_mask();
            if (k == 1) begin
              core_atomic <= MsgNone;
              core_word   <= 4'(below(2));
              if (kind < 3 && below(2) == 0) begin
                case (kind)
                  0: core_atomic <= MsgRinc;
                  1: core_atomic <= MsgRdec;
                  default: core_atomic <= MsgRcas;
                endcase
                // Half of the compared values are right, as far as anybody can know.
                if (below(2) == 0) data[63:0] = u_score.truth[index[3:0]][63:0];
                core_mask[k] <= '1;
              end
            end
            core_data[k] <= data;
            open[k][tag] = 1'b1;
            opened[k]++;
          end
        end
      end

      // ------------------------------------------------ the agent without a cache
      if (!stop_i && below(4) == 0) begin
        int l, n;
        int unsigned kind;
        message_e message;
        header_t header;
        word_t [17:0] payload;
        l = int'(below(32'(lines_i)));
        payload = {rnd_line(), rnd_mask()};
        kind = below(8);
        case (kind)
          0: message = MsgRinc;
          1: message = MsgRdec;
          2: message = MsgRcas;
          3: message = MsgRstt;
          4, 5: message = MsgRstp;
          default: message = MsgRldi;
        endcase
        n = (message inside {MsgRcas, MsgRstt, MsgRstp} ? 0 : 2) + (1 - l % 2);
        header = header_of(message, id_t'(16 + l), index_t'(l));
        if (message inside {MsgRinc, MsgRdec, MsgRcas}) header.offset = {4'(below(2)), 3'd0};
        // Half of the compared values are right, as far as anybody can know.
        if (message == MsgRcas && below(2) == 0) payload[0] = u_score.truth[l][64*header.offset[6:3]+:64];
        if (unc_op[l] == MsgNone && place(n) >= 0) begin
          unc_op[l] = message;
          put(n, message, header, payload);
        end
      end

      // ------------------------------------------------ messages into the networks
      if (c_req_valid && c_req_ready) begin
        put(c_req.index[0] ? 2 : 3, message_of(3'd3, c_req.opcode), c_req, '0);
      end
      if (c_rsd_valid && c_rsd_ready) begin
        put(5, message_of(3'd2, c_rsd.opcode), c_rsd, {c_line, 128'd0});
      end
      if (c_rsn_valid && c_rsn_ready) put(5, message_of(3'd5, c_rsn.opcode), c_rsn, '0);
      if (h_fwd_valid && h_fwd_ready) put(4, message_of(3'd4, h_fwd.opcode), h_fwd, '0);
      if (h_rsd_valid && h_rsd_ready) begin
        put(6, message_of(3'd2, h_rsd.opcode), h_rsd, {h_line, 128'd0});
      end
      if (h_rsn_valid && h_rsn_ready) put(6, message_of(3'd5, h_rsn.opcode), h_rsn, '0);

      // ------------------------------------------------ and out of them
      for (int r = 0; r < 4; r++) begin
        if (req_valid[r] && req_ready[r]) moved++;
        if (!req_valid[r] || req_ready[r]) begin
          int at;
          at = due(r);
          req_valid[r] <= at >= 0;
          if (at >= 0) begin
            req_message[r] <= net[r][at].message;
            req_header[r]  <= net[r][at].header;
            req_payload[r] <= net[r][at].payload;
            net[r][at].full = 1'b0;
          end
        end
      end
      if (fwd_valid && fwd_ready) moved++;
      if (!fwd_valid || fwd_ready) begin
        int at;
        at = due(4);
        fwd_valid <= at >= 0;
        if (at >= 0) begin
          fwd_message <= net[4][at].message;
          fwd_index   <= net[4][at].header.index;
          net[4][at].full = 1'b0;
        end
      end
      begin
        int at;
        at = due(5);
        up_valid <= at >= 0;
        if (at >= 0) begin
          up_message <= net[5][at].message;
          up_index   <= net[5][at].header.index;
          up_data    <= net[5][at].payload[17:2];
          net[5][at].full = 1'b0;
          moved++;
        end
        at = due(6);
        down_valid <= 1'b0;
        if (at >= 0) begin
          message_e message;
          logic [3:0] l;
          message = net[6][at].message;
          l = net[6][at].header.index[3:0];
          net[6][at].full = 1'b0;
          moved++;
          if (net[6][at].header.id >= 5'd16) begin
            // Of the agent without a cache.
            message_e must;
            must = MsgPatm;
            if (unc_op[l] == MsgRldi) must = MsgPdat;
            if (unc_op[l] inside {MsgRstt, MsgRstp}) must = MsgPack;
            if (message != must || unc_op[l] == MsgNone) fail("a wrong answer", index_t'(l));
            unc_op[l] = MsgNone;
            done++;
          end else begin
            down_valid   <= 1'b1;
            down_message <= message;
            down_side    <= !net[6][at].header.index[0];
            down_id      <= net[6][at].header.id;
            up_dirty     <= net[6][at].header.dirty != '0;
            down_data    <= net[6][at].payload[17:2];
          end
        end
      end
      for (int n = 0; n < 7; n++) begin
        for (int i = 0; i < int'(Slots); i++) if (net[n][i].due != 0) net[n][i].due--;
      end
      // Room for what is taken at the next clock; the last places are the agent's without a cache.
      c_req_ready <= below(3) != 0 && count(2) < int'(Slots) - 2 && count(3) < int'(Slots) - 2;
      c_rsd_ready <= below(3) != 0 && count(5) < int'(Slots) - 4;
      c_rsn_ready <= below(3) != 0 && count(5) < int'(Slots) - 4;
      h_fwd_ready <= below(3) != 0 && count(4) < int'(Slots) - 2;
      h_rsd_ready <= below(3) != 0 && count(6) < int'(Slots) - 4;
      h_rsn_ready <= below(3) != 0 && count(6) < int'(Slots) - 4;

      // ------------------------------------------------ memory
      if (mem_req_valid && mem_req_ready) begin
        for (int i = 0; i < 64; i++) begin
          if (memory[i].full && memory[i].index == mem_req.index) begin
            fail("memory has two accesses to a line", mem_req.index);
          end
        end
        for (int i = 0; i < 64; i++) begin
          if (!memory[i].full) begin
            memory[i] = '{full: 1'b1, write: mem_req.write, index: mem_req.index, tag: mem_req.tag,
                          mask: mem_req.mask, data: mem_req.data, due: 8'(below(20))};
            break;
          end
        end
      end
      mem_req_ready <= below(4) != 0;
      wrote <= 1'b0;
      if (!mem_rsp_valid || mem_rsp_ready) begin
        int start;
        start = int'(below(64));
        mem_rsp_valid <= 1'b0;
        for (int i = 0; i < 64; i++) begin
          int at;
          logic [3:0] l;
          at = (start + i) % 64;
          l = memory[at].index[3:0];
          if (memory[at].full && memory[at].due == 0) begin
            if (memory[at].write) dram[l] = merged(dram[l], memory[at].mask, memory[at].data);
            wrote       <= memory[at].write;
            wrote_index <= memory[at].index;
            wrote_mask  <= memory[at].mask;
            wrote_data  <= memory[at].data;
            mem_rsp_valid <= 1'b1;
            mem_rsp_tag   <= memory[at].tag;
            mem_rsp_data  <= dram[l];
            memory[at].full = 1'b0;
            break;
          end
        end
      end
      for (int i = 0; i < 64; i++) if (memory[i].due != 0) memory[i].due--;

      // ------------------------------------------------ progress
      messages_o   <= messages_o + 32'(moved);
      operations_o <= operations_o + 32'(done);
      idle = opened[0] == 0 && opened[1] == 0 && u_cache.u_mshrs.open_q == '0;
      for (int l = 0; l < int'(Lines); l++) if (unc_op[l] != MsgNone) idle = 1'b0;
      for (int n = 0; n < 7; n++) if (count(n) != 0) idle = 1'b0;
      if (!gen_home.quiet) idle = 1'b0;
      quiet_o <= idle;
      since = (idle || done != 0) ? 0 : since + 1;
      if (since > Patience) fail("nothing ends any more", '0);
    end
  end
  function automatic int count(int n);
    int found;
    found = 0;
    for (int i = 0; i < int'(Slots); i++) if (net[n][i].full) found++;
    return found;
  endfunction
endmodule
