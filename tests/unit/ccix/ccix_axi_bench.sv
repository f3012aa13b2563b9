// SPDX-License-Identifier: SHL-2.1
/// coherence_axi over ccix_cache; with Virtual ccix_translate is between them, with Direct also
/// ccix_direct, whose messages have a port of their own. Responses on R with
/// the top bit of the id set are an atomic's.
module ccix_axi_bench
  import ccix_pkg::*;
#(
  parameter int unsigned DataWidth = 128,
  parameter bit          Atomics   = 1'b1,
  parameter int unsigned Places    = 0,
  parameter bit          Virtual   = 1'b0,
  parameter int unsigned PagesLog2 = 0,
  parameter int unsigned Ahead     = 0,
  parameter bit          InOrder   = 1'b1,
  parameter bit          Direct    = 1'b0,
  parameter int unsigned BaseSets  = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
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
  // what the port asks for, and what the cache is asked
  output logic                   virt_valid_o,
  output logic                   virt_ready_o,
  output index_t                 virt_index_o,
  output logic [7:0]             virt_tag_o,
  output logic                   virt_rsp_valid_o,
  output logic [7:0]             virt_rsp_tag_o,
  output logic                   phys_valid_o,
  output logic                   phys_ready_o,
  output logic                   phys_direct_o,
  output index_t                 phys_index_o,
  output logic [7:0]             phys_tag_o,
  // messages of the translation, with Virtual; of the cache
  output logic                   trn_valid_o,
  input  logic                   trn_ready_i,
  output logic [3:0]             trn_words_o,
  output word_t [1:0]            trn_o,
  input  logic                   in_valid_i,
  input  word_t                  in_word_i,
  output logic                   msg_valid_o,
  input  logic                   msg_ready_i,
  output logic [3:0]             msg_words_o,
  output word_t [MostWords-1:0]  msg_o,
  output logic                   dir_valid_o,  // of the direct reads
  input  logic                   dir_ready_i,
  output word_t [1:0]            dir_o,
  input  logic                   ans_valid_i,
  input  header_t                ans_header_i,
  input  line_t                  ans_data_i,
  output logic                   stray_o,
  output logic                   fail_o
);
  localparam int unsigned AddrWidth = Virtual ? 48 : 39;
  logic [AddrWidth-$clog2(LineBytes)-1:0] core_index;
  logic core_write, core_fault, phys_write, phys_rsp_valid, phys_rsp_fault, rvalid, rready;
  logic [2:0] fail;
  logic [7:0] phys_rsp_tag;
  access_t phys;
  index_t phys_key;
  mask_t core_mask, phys_mask;
  line_t core_data, core_rsp_data, phys_data, phys_rsp_data;
  coherence_atomic_pkg::atomic_t core_atomic, phys_atomic;
  axi_pkg::address_t aw, ar;
  assign aw = {s_axi_awaddr, s_axi_awlen, s_axi_awsize, s_axi_awburst};
  assign ar = {s_axi_araddr, s_axi_arlen, s_axi_arsize, s_axi_arburst};
  coherence_axi #(
    .DataWidth(DataWidth), .LineBytes(LineBytes), .IdWidth(6), .AddrWidth(AddrWidth),
    .Atomics(Atomics)
  ) dut (
    .clk_i, .rst_ni, .awvalid_i(s_axi_awvalid), .awready_o(s_axi_awready), .awid_i(s_axi_awid),
    .aw_i(aw), .awatop_i(s_axi_awuser), .wvalid_i(s_axi_wvalid), .wready_o(s_axi_wready),
    .wdata_i(s_axi_wdata), .wstrb_i(s_axi_wstrb), .bvalid_o(s_axi_bvalid), .bready_i(s_axi_bready),
    .bid_o(s_axi_bid), .bresp_o(s_axi_bresp), .arvalid_i(s_axi_arvalid), .arready_o(s_axi_arready),
    .arid_i(s_axi_arid), .ar_i(ar), .rvalid_o(rvalid), .rready_i(rready), .rid_o(s_axi_rid),
    .rdata_o(s_axi_rdata), .rresp_o(s_axi_rresp), .rlast_o(s_axi_rlast),
    .core_valid_o(virt_valid_o), .core_ready_i(virt_ready_o), .core_write_o(core_write),
    .core_index_o(core_index), .core_tag_o(virt_tag_o), .core_mask_o(core_mask),
    .core_data_o(core_data), .core_atomic_o(core_atomic), .core_rsp_valid_i(virt_rsp_valid_o),
    .core_rsp_tag_i(virt_rsp_tag_o), .core_rsp_error_i(core_fault),
    .core_rsp_data_i(core_rsp_data)
  );
  assign virt_index_o = index_t'(core_index);
  if (Virtual) begin : gen_virtual
    ccix_translate #(
      .NumMiss(4), .PagesLog2(PagesLog2), .Ahead(Ahead), .Early(1'b1), .InOrder(InOrder),
      .Atomics(Atomics), .Direct(Direct), .DirectWrites(1'b0), .BaseSets(BaseSets)
    ) u_translate (
      .clk_i, .rst_ni, .req_valid_i(virt_valid_o), .req_ready_o(virt_ready_o),
      .req_write_i(core_write), .req_index_i(virt_index_o), .req_tag_i(virt_tag_o),
      .req_mask_i(core_mask), .req_data_i(core_data), .req_atomic_i(core_atomic),
      .rsp_valid_o(virt_rsp_valid_o), .rsp_tag_o(virt_rsp_tag_o), .rsp_fault_o(core_fault),
      .rsp_data_o(core_rsp_data), .phys_valid_o, .phys_ready_i(phys_ready_o),
      .phys_write_o(phys_write), .phys_index_o, .phys_tag_o, .phys_mask_o(phys_mask),
      .phys_data_o(phys_data), .phys_atomic_o(phys_atomic), .phys_direct_o,
      .phys_key_o(phys_key), .phys_rsp_valid_i(phys_rsp_valid), .phys_rsp_tag_i(phys_rsp_tag),
      .phys_rsp_fault_i(phys_rsp_fault), .phys_rsp_data_i(phys_rsp_data), .msg_valid_o(trn_valid_o),
      .msg_ready_i(trn_ready_i), .msg_words_o(trn_words_o), .msg_o(trn_o), .in_valid_i, .in_word_i,
      .fail_o(fail[0])
    );
  end else begin : gen_physical
    assign phys_valid_o     = virt_valid_o;
    assign virt_ready_o     = phys_ready_o;
    assign phys_write       = core_write;
    assign phys_index_o     = virt_index_o;
    assign phys_tag_o       = virt_tag_o;
    assign phys_mask        = core_mask;
    assign phys_data        = core_data;
    assign phys_atomic      = core_atomic;
    assign virt_rsp_valid_o = phys_rsp_valid;
    assign virt_rsp_tag_o   = phys_rsp_tag;
    assign core_rsp_data    = phys_rsp_data;
    assign {phys_direct_o, phys_key, core_fault, fail[0]} = '0;
    assign {trn_valid_o, trn_words_o, trn_o} = '0;
    logic unused_translation;
    assign unused_translation = ^{trn_ready_i, in_valid_i, in_word_i, phys_rsp_fault};
  end
  assign phys = '{
    write: phys_write, index: phys_index_o, tag: phys_tag_o, mask: phys_mask, data: phys_data
  };
  ccix_cached_bench #(
    .Sets(2), .Places(Places), .Atomics(Atomics), .Direct(Direct)
  ) u_cached (
    .clk_i, .rst_ni, .req_valid_i(phys_valid_o), .req_ready_o(phys_ready_o), .req_i(phys),
    .req_atomic_i(phys_atomic), .req_direct_i(phys_direct_o), .req_key_i(phys_key),
    .rsp_valid_o(phys_rsp_valid), .rsp_tag_o(phys_rsp_tag), .rsp_fault_o(phys_rsp_fault),
    .rsp_data_o(phys_rsp_data), .msg_valid_o, .msg_ready_i, .msg_words_o, .msg_o, .dir_valid_o,
    .dir_ready_i, .dir_o, .ans_valid_i, .ans_header_i, .ans_data_i, .stray_o, .fail_o(fail[2:1])
  );
  assign fail_o       = fail != '0;
  assign s_axi_rvalid = rvalid && !s_axi_rid[5];
  assign rready       = s_axi_rid[5] ? rvalid : s_axi_rready;
  assign old_valid_o  = rvalid && s_axi_rid[5];
  assign old_id_o     = s_axi_rid;
  assign old_data_o   = s_axi_rdata;
  assign old_resp_o   = s_axi_rresp;
  assign old_last_o   = s_axi_rlast;
  logic unused;
  assign unused = s_axi_wlast;
endmodule
