// SPDX-License-Identifier: SHL-2.1
/// nanet_translate: what reaches the engine is inside a page that the host registered, at the
/// address that its page table gives; what is refused reaches it neither with address nor data.
///
/// Any commands, keys, regions and stalls; regions may be set at any time. One page of one region,
/// both arbitrary, represents all; the word of its table is any, and another one each time
/// that the region is set. Two regions, two ways of two sets.
module nanet_translate_props
  import nanet_pkg::*;
(
  input logic        clk_i,
  input logic        region_we_i,
  input logic        region_index_i,
  input logic        cmd_valid_i,
  input logic        cmd_direct_i,
  input logic [63:0] cmd_addr_i,
  input logic [11:0] cmd_bytes_i,
  input logic [1:0]  cmd_tag_i,
  input logic [15:0] cmd_key,
  input logic [107:0] region,
  input logic        data_valid_i,
  input logic        data_last_i,
  input logic        out_ready_i,
  input logic        out_data_ready_i,
  input logic        engine_done_valid_i,
  input logic [1:0]  engine_done_tag_i,
  input logic        engine_done_error_i,
  input logic        arready_i,
  input logic        rvalid_i,
  input logic [63:0] rdata_i,
  input logic [63:0] new_word,
  input logic [1:0]  rresp_i
);
  // Never assigned another value and not initialised: any constants.
  logic        index;   // of a region
  logic [27:0] page;    // of it
  always_ff @(posedge clk_i) begin
    index <= index;
    page  <= page;
  end

  region_t     region_i;
  region_key_t cmd_key_i;
  assign region_i  = region_t'(region);
  assign cmd_key_i = region_key_t'(cmd_key);

  logic rst_ni, cmd_ready_o, data_ready_o, done_valid_o, done_error_o, out_valid_o;
  logic out_data_valid_o, arvalid_o, rready_o, idle_o;
  logic [1:0]  done_tag_o, out_tag_o;
  logic [63:0] out_addr_o;
  logic [11:0] out_bytes_o;
  axi_pkg::address_t ar_o;
  translations_t counters_o;

  nanet_translate #(
    .DataWidth(64), .Regions(2), .Ways(2), .Sets(2), .BytesW(12), .TagW(2)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // States of the module, by their place in its list.
  localparam logic [2:0] StClear = 3'd0, StIdle = 3'd1, StLook = 3'd2, StRead = 3'd3, StWait = 3'd4;
  localparam logic [2:0] StAgain = 3'd5, StDrain = 3'd6, StRefuse = 3'd7;
  logic [2:0] state;
  assign state = dut.state_q;

  // The region as it was set last, and as it was when the pages were forgotten last.
  region_t set_q, now_q;
  logic    known_q, now_known_q;
  logic [63:0] word;    // of the page, in the table
  logic    cmd_take, out_take, translated_take;
  assign cmd_take        = cmd_valid_i && cmd_ready_o;
  assign translated_take = cmd_take && !cmd_direct_i;
  assign out_take        = out_valid_o && out_ready_i;
  // The command under way.
  logic        under_q;     // taken, and neither handed on nor refused
  logic        sending_q;   // its data is owed
  logic        passed_q;    // it was handed on
  region_key_t key_q;
  logic [63:0] addr_q;
  logic [11:0] bytes_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      known_q     <= 1'b0;
      now_known_q <= 1'b0;
      under_q     <= 1'b0;
      sending_q   <= 1'b0;
      passed_q    <= 1'b0;
    end else begin
      if (region_we_i && region_index_i == index) begin
        set_q   <= region_i;
        known_q <= region_i.valid;
      end
      if (state == StIdle && dut.clear_due_q) begin
        now_q       <= set_q;
        now_known_q <= known_q;
        word        <= new_word;
      end
      if (cmd_take) begin
        sending_q <= 1'b1;
        passed_q  <= cmd_direct_i;
      end else if (data_valid_i && data_ready_o && data_last_i) begin
        sending_q <= 1'b0;
      end
      if (translated_take) begin
        under_q <= 1'b1;
        key_q   <= cmd_key_i;
        addr_q  <= cmd_addr_i;
        bytes_q <= cmd_bytes_i;
      end else if (out_take) begin
        under_q  <= 1'b0;
        passed_q <= 1'b1;
      end else if (state == StRefuse && !engine_done_valid_i) begin
        under_q <= 1'b0;
      end
    end
  end

  logic mine, ours;  // the command's page is of the region, is the page
  always_comb begin
    // A sender has its data behind its command and before the next one.
    if (data_valid_i) assume (sending_q);
    if (sending_q) assume (!cmd_valid_i);
    // A region's number is a part of its key.
    assume (region_i.key.index[0] == region_index_i);
    // Memory keeps its word.
    if (state == StWait && ours) assume (rdata_i == word);
  end

  // The page's place in the cache.
  logic set;
  logic [30:0] name;
  assign set  = page[0];  // the region's number moves no set of two
  assign name = {now_q.key.index, page[27:1]};
  function automatic logic wrong(logic [83:0] entry);
    return entry[83] && entry[82:52] == name && now_known_q && (entry[51:0] != word[63:12] ||
                                                               !word[0]);
  endfunction
  logic [83:0] way0, way1;
  assign way0 = dut.gen_way[0].u_pages.mem_q[set];
  assign way1 = dut.gen_way[1].u_pages.mem_q[set];

  assign mine = key_q.index[0] == index;
  assign ours = mine && dut.page_q == page;

  logic [63:0] expected;
  always_comb begin
    unique case (dut.region_q.size)
      2'd0:    expected = {word[63:12], addr_q[11:0]};
      2'd1:    expected = {word[63:16], addr_q[15:0]};
      default: expected = {word[63:21], addr_q[20:0]};
    endcase
  end
  logic [27:0] number;  // of the page, from the address
  always_comb begin
    unique case (dut.region_q.size)
      2'd0:    number = addr_q[39:12];
      2'd1:    number = 28'(addr_q[39:16]);
      default: number = 28'(addr_q[39:21]);
    endcase
  end

  always_comb begin
    if (started_q) begin
      if (out_valid_o && cmd_direct_i && state == StIdle) begin
        assert (cmd_valid_i && out_addr_o == cmd_addr_i && out_bytes_o == cmd_bytes_i);
      end else if (out_valid_o) begin
        assert (under_q && out_bytes_o == bytes_q && bytes_q != '0);
        // Registered, with this key, this page, and no byte behind the page's end.
        if (mine) assert (now_known_q && dut.region_q[106:0] == now_q[106:0]);
        assert (dut.region_q.key == key_q && addr_q[63:40] == '0);
        assert (number < dut.region_q.pages);
        assert (13'(out_addr_o[11:0]) + 13'(out_bytes_o) <= 13'd4096);
        if (ours) assert (word[0] && out_addr_o == expected);
      end
      if (out_data_valid_o) assert (passed_q && sending_q);
      if (state == StRefuse) assert (under_q && !passed_q && !sending_q);
      if (arvalid_o) begin
        assert (under_q && ar_o.len == '0);
        assert (ar_o.addr == {dut.region_q.pages_at + 61'(dut.page_q), 3'd0});
      end
      // What makes the above inductive.
      assert (under_q == (state inside {StLook, StRead, StWait, StAgain, StDrain, StRefuse}));
      if (under_q) begin
        assert (!passed_q && sending_q == (state != StRefuse));
        assert (dut.key_q == key_q && dut.bytes_q == bytes_q && dut.offset_q == addr_q[20:0]);
        assert (dut.outside_q == (addr_q[63:40] != '0));
        assert (dut.page_q == number);
        assert (dut.set_q == dut.page_q[0]);
        if (mine) begin
          assert (dut.region_q.valid == now_known_q);
          if (now_known_q) assert (dut.region_q[106:0] == now_q[106:0]);
        end
        if (state inside {StRead, StWait, StAgain}) begin
          assert (dut.region_q.valid && key_q == dut.region_q.key);
        end
      end else begin
        if (sending_q) assert (passed_q && state == StIdle || state == StClear);
        if (sending_q) assert (passed_q);
      end
      assert (dut.known_q[index] == known_q);
      if (known_q) assert (dut.regions[index] == set_q);
      if (known_q) assert (set_q.valid && set_q.key.index[0] == index);
      if (now_known_q) assert (now_q.key.index[0] == index);
      if (!dut.clear_due_q) begin
        assert (known_q == now_known_q);
        if (known_q) assert (set_q == now_q);
      end
      if (state != StClear) assert (dut.clear_q == '0);
      if (!(state == StClear && dut.clear_q <= set)) assert (!wrong(way0) && !wrong(way1));
      if (state == StLook && dut.set_q == set) begin
        assert (dut.pages[0] == way0 && dut.pages[1] == way1);
      end
      cover (out_take && state == StLook && now_known_q);
      cover (state == StRefuse);
    end
  end
endmodule
