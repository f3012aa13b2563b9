// SPDX-License-Identifier: SHL-2.1
/// coherence_axi over a cache, and the cache's home with a directory: an AXI master on one side,
/// the host's loads and stores of the same lines on the other. Networks keep the order of a circuit
/// and pause at random. Responses on R with the top bit of the id set are an atomic's. The agent
/// reports an error for lines from BadLine on.
module coherence_axi_bench
  import coherence_pkg::*;
  import coherence_directory_pkg::*;
  import blocklink_pkg::word_t;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Sets      = 4,
  parameter int unsigned Streams   = 4,
  parameter bit          Atomics   = 1'b1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   pause_i,  // the networks pause at random
  input  logic [5:0]             s_axi_awid,
  input  logic [63:0]            s_axi_awaddr,
  input  logic [7:0]             s_axi_awlen,
  input  logic [2:0]             s_axi_awsize,
  input  logic [1:0]             s_axi_awburst,
  input  logic [5:0]             s_axi_awuser,  // AWATOP
  input  logic                   s_axi_awvalid,
  output logic                   s_axi_awready,
  input  logic [DataWidth-1:0]   s_axi_wdata,
  input  logic [DataWidth/8-1:0] s_axi_wstrb,
  input  logic                   s_axi_wlast,
  input  logic                   s_axi_wvalid,
  output logic                   s_axi_wready,
  output logic [5:0]             s_axi_bid,
  output logic [1:0]             s_axi_bresp,
  output logic                   s_axi_bvalid,
  input  logic                   s_axi_bready,
  input  logic [5:0]             s_axi_arid,
  input  logic [63:0]            s_axi_araddr,
  input  logic [7:0]             s_axi_arlen,
  input  logic [2:0]             s_axi_arsize,
  input  logic [1:0]             s_axi_arburst,
  input  logic                   s_axi_arvalid,
  output logic                   s_axi_arready,
  output logic [5:0]             s_axi_rid,
  output logic [DataWidth-1:0]   s_axi_rdata,
  output logic [1:0]             s_axi_rresp,
  output logic                   s_axi_rlast,
  output logic                   s_axi_rvalid,
  input  logic                   s_axi_rready,
  output logic                   old_valid_o,   // a beat on R of an atomic
  output logic [5:0]             old_id_o,
  output logic [DataWidth-1:0]   old_data_o,
  output logic [1:0]             old_resp_o,
  output logic                   old_last_o,
  input  logic                   host_valid_i,
  output logic                   host_ready_o,
  input  core_e                  host_op_i,
  input  index_t                 host_index_i,
  input  mask_t                  host_mask_i,
  input  line_t                  host_data_i,
  output logic                   host_rsp_valid_o,
  output line_t                  host_rsp_data_o,
  output logic [31:0]            forwards_o
);
  localparam int unsigned Lines   = 256;  // of memory
  localparam index_t      BadLine = index_t'(Lines);

  logic core_valid, core_ready, core_write, core_rsp_valid, rvalid, rready;
  index_t core_index;
  logic [7:0] core_tag, core_rsp_tag;
  mask_t core_mask;
  line_t core_data, core_rsp_data;
  coherence_atomic_pkg::atomic_t core_atomic;
  logic [255:0] bad_q;
  axi_pkg::address_t aw, ar;
  assign aw = {s_axi_awaddr, s_axi_awlen, s_axi_awsize, s_axi_awburst};
  assign ar = {s_axi_araddr, s_axi_arlen, s_axi_arsize, s_axi_arburst};
  coherence_axi #(
    .DataWidth(DataWidth), .LineBytes(LineBytes), .IdWidth(6), .AddrWidth(IndexWidth + 7),
    .Streams(Streams), .Atomics(Atomics)
  ) dut (
    .clk_i, .rst_ni, .awvalid_i(s_axi_awvalid), .awready_o(s_axi_awready), .awid_i(s_axi_awid),
    .aw_i(aw), .awatop_i(s_axi_awuser), .wvalid_i(s_axi_wvalid), .wready_o(s_axi_wready),
    .wdata_i(s_axi_wdata), .wstrb_i(s_axi_wstrb), .bvalid_o(s_axi_bvalid), .bready_i(s_axi_bready),
    .bid_o(s_axi_bid), .bresp_o(s_axi_bresp), .arvalid_i(s_axi_arvalid), .arready_o(s_axi_arready),
    .arid_i(s_axi_arid), .ar_i(ar), .rvalid_o(rvalid), .rready_i(rready), .rid_o(s_axi_rid),
    .rdata_o(s_axi_rdata), .rresp_o(s_axi_rresp), .rlast_o(s_axi_rlast),
    .core_valid_o(core_valid), .core_ready_i(core_ready), .core_write_o(core_write),
    .core_index_o(core_index), .core_tag_o(core_tag), .core_mask_o(core_mask),
    .core_data_o(core_data), .core_atomic_o(core_atomic), .core_rsp_valid_i(core_rsp_valid),
    .core_rsp_tag_i(core_rsp_tag), .core_rsp_error_i(bad_q[core_rsp_tag]),
    .core_rsp_data_i(core_rsp_data)
  );
  assign s_axi_rvalid = rvalid && !s_axi_rid[5];
  assign rready       = s_axi_rid[5] ? rvalid : s_axi_rready;
  assign old_valid_o  = rvalid && s_axi_rid[5];
  assign old_id_o     = s_axi_rid;
  assign old_data_o   = s_axi_rdata;
  assign old_resp_o   = s_axi_rresp;
  assign old_last_o   = s_axi_rlast;
  always_ff @(posedge clk_i) begin
    if (core_valid && core_ready) bad_q[core_tag] <= core_index >= BadLine;
  end

  // Beats of two bursts do not alternate.
  logic inside_q;
  logic [5:0] id_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (rvalid && rready) inside_q <= !s_axi_rlast;
  end
  always_ff @(posedge clk_i) begin
    if (rvalid && rready) id_q <= s_axi_rid;
    if (rst_ni && rvalid && inside_q && s_axi_rid != id_q) $fatal(1, "bursts alternate on R");
  end

  // ---------------------------------------------------------------- both agents
  logic c_req_valid, c_req_ready, c_rsd_valid, c_rsd_ready, c_rsn_valid, c_rsn_ready;
  logic h_fwd_valid, h_fwd_ready, h_rsd_valid, h_rsd_ready, h_rsn_valid, h_rsn_ready;
  logic req_some, req_take, fwd_some, fwd_take, up_valid, down_valid, stray;
  header_t c_req, c_rsd, c_rsn, h_fwd, h_rsd, h_rsn, req, fwd, up, down;
  line_t c_line, h_line;
  logic [4:0] h_words;
  logic [3:0] req_valid, req_ready;
  logic mem_valid, mem_ready, mem_rsp_valid, mem_rsp_ready;
  memory_t mem;
  logic [7:0] mem_rsp_tag, host_tag;
  line_t mem_rsp_data;
  logic [63:0] random_q;
  logic [4:0] run;
  assign run = {random_q[33:32] != '0, random_q[23:22] != '0, random_q[13:12] != '0,
                random_q[7:6] != '0, random_q[1:0] != '0} | {5{!pause_i}};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) random_q <= 64'h9e37_79b9_7f4a_7c15;
    else random_q <= {random_q[62:0], random_q[63] ^ random_q[62] ^ random_q[60] ^ random_q[59]};
  end

  coherence_cache #(.Sets(Sets), .Ways(2), .NumMshr(4), .Atomics(Atomics)) u_cache (
    .clk_i, .rst_ni, .core_valid_i(core_valid), .core_ready_o(core_ready),
    .core_op_i(core_write ? CoreStore : CoreLoad), .core_index_i(core_index),
    .core_tag_i(core_tag), .core_mask_i(core_mask), .core_data_i(core_data),
    .core_atomic_i(core_atomic), .core_rsp_valid_o(core_rsp_valid), .core_rsp_tag_o(core_rsp_tag),
    .core_rsp_data_o(core_rsp_data), .fwd_valid_i(fwd_some), .fwd_ready_o(fwd_take),
    .fwd_message_i(message_of(3'd4, fwd.opcode)), .fwd_index_i(fwd.index),
    .rsp_valid_i(down_valid), .rsp_message_i(message_of(h_rsn_valid ? 3'd5 : 3'd2, down.opcode)),
    .rsp_dirty_i(down.dirty != '0), .rsp_side_i(!down.index[0]), .rsp_id_i(down.id),
    .rsp_data_i(h_line), .req_valid_o(c_req_valid), .req_ready_i(c_req_ready),
    .req_header_o(c_req), .rsd_valid_o(c_rsd_valid), .rsd_ready_i(c_rsd_ready),
    .rsd_header_o(c_rsd), .rsd_data_o(c_line), .rsn_valid_o(c_rsn_valid),
    .rsn_ready_i(c_rsn_ready), .rsn_header_o(c_rsn),
    .look_i('0), .looked_o()
  );
  coherence_directory #(.Sets(Sets), .Ways(2), .NumTbe(4)) u_home (
    .clk_i, .rst_ni, .core_valid_i(host_valid_i), .core_ready_o(host_ready_o),
    .core_i('{op: host_op_i, atomic: MsgNone, word: '0}), .core_index_i(host_index_i),
    .core_tag_i(8'd0),
    .core_mask_i(host_mask_i), .core_data_i(host_data_i), .core_rsp_valid_o(host_rsp_valid_o),
    .core_rsp_o({host_tag, host_rsp_data_o}),
    .req_valid_i(req_valid), .req_ready_o(req_ready),
    .req_message_i({4{message_of(3'd3, req.opcode)}}), .req_header_i({4{req}}),
    .req_payload_i('0), .rsp_valid_i(up_valid),
    .rsp_message_i(message_of(c_rsn_valid ? 3'd5 : 3'd2, up.opcode)), .rsp_index_i(up.index),
    .rsp_data_i(c_line), .fwd_valid_o(h_fwd_valid), .fwd_ready_i(h_fwd_ready),
    .fwd_header_o(h_fwd), .rsd_valid_o(h_rsd_valid), .rsd_ready_i(h_rsd_ready),
    .rsd_header_o(h_rsd), .rsd_words_o(h_words), .rsd_data_o(h_line), .rsn_valid_o(h_rsn_valid),
    .rsn_ready_i(h_rsn_ready), .rsn_header_o(h_rsn), .mem_req_valid_o(mem_valid),
    .mem_req_ready_i(mem_ready), .mem_req_o(mem), .mem_rsp_valid_i(mem_rsp_valid),
    .mem_rsp_ready_o(mem_rsp_ready), .mem_rsp_i({mem_rsp_tag, mem_rsp_data}),
    .stray_o(stray), .look_i('0), .looked_o()
  );

  // ---------------------------------------------------------------- between them
  logic req_push, fwd_push;
  fifo #(.Width(64), .Depth(4)) u_req (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(c_req_valid && run[0]), .ready_o(req_push),
    .data_i(c_req), .valid_o(req_some), .ready_i(req_take), .data_o(req), .usage_o()
  );
  assign c_req_ready = req_push && run[0];
  always_comb begin
    req_valid = '0;
    req_valid[req.index[0] ? 2 : 3] = req_some;
  end
  assign req_take = (req_ready & req_valid) != '0;
  fifo #(.Width(64), .Depth(4)) u_fwd (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(h_fwd_valid && run[1]), .ready_o(fwd_push),
    .data_i(h_fwd), .valid_o(fwd_some), .ready_i(fwd_take), .data_o(fwd), .usage_o()
  );
  assign h_fwd_ready = fwd_push && run[1];
  assign up          = c_rsn_valid ? c_rsn : c_rsd;
  assign up_valid    = run[2] && (c_rsn_valid || c_rsd_valid);
  assign c_rsn_ready = run[2];
  assign c_rsd_ready = run[2] && !c_rsn_valid;
  assign down        = h_rsn_valid ? h_rsn : h_rsd;
  assign down_valid  = run[3] && (h_rsn_valid || h_rsd_valid);
  assign h_rsn_ready = run[3];
  assign h_rsd_ready = run[3] && !h_rsn_valid;

  line_t memory [Lines];
  logic mem_room;
  assign mem_ready = mem_room && run[4];
  fifo #(.Width(8 + 8 * LineBytes), .Depth(4)) u_memory (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(mem_valid && run[4]), .ready_o(mem_room),
    .data_i({mem.tag, memory[mem.index[7:0]]}), .valid_o(mem_rsp_valid), .ready_i(mem_rsp_ready),
    .data_o({mem_rsp_tag, mem_rsp_data}), .usage_o()
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      memory     <= '{default: '0};
      forwards_o <= '0;
    end else begin
      forwards_o <= forwards_o + 32'(fwd_some && fwd_take);
      for (int unsigned i = 0; i < LineBytes; i++) begin
        if (mem_valid && mem_ready && mem.write && mem.mask[i]) begin
          memory[mem.index[7:0]][8*i+:8] <= mem.data[8*i+:8];
        end
      end
      if (stray) $fatal(1, "a message that nobody sends");
    end
  end
  logic unused;
  assign unused = ^{h_words, host_tag, s_axi_wlast};
endmodule
