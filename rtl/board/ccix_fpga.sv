// SPDX-License-Identifier: SHL-2.1
/// Device: an FPGA that reads and writes host memory over CCIX, by a request agent without a cache
/// or with one.
///
/// tasks -> ccix_traffic -> ccix_translate -> ccix_node -> CCIX interface of a PCIe hard block
/// (docs/explanation/cores/ccix.md)
///
///   Pins        cxs: a packet's beats of 512 bits, credits both ways. task: the traffic
///               generator's commands and their ends
///   Translation with Translate: addresses are virtual, ccix_translate has the pages of the host's
///               tables. Without: physical addresses, a wire. With CacheLines as well the cache
///               is behind it, and keeps lines by their physical addresses
///   Port        with AxiPort: axi_traffic -> AXI of 512 bits -> coherence_axi in the place of
///               ccix_traffic; with Translate its addresses are virtual, and a page that does not
///               allow the access is SLVERR. With Tries ccix_retry is in front of the port, and
///               tries again so often; an error that is left sets status_fail_o
///   Atomics     with this parameter: atomic_*, by axi_atomic. One waits until no task is under
///               way, and no task begins while it waits or is open
///   Latency     a task to its first beat 3 cycles, with translation 5 on a hit; an answer's last
///               beat to the task's end 2 cycles. In front of a cache a translation that hits costs
///               1 cycle. With AxiPort a read that hits the cache: its address on AR to its beat on
///               R 5 cycles, by a virtual address 6
///   Throughput  a request a cycle, a beat a cycle, a response a cycle
///   Probes      at the cycle of what they say
///   Parameters  NumTxns, MaxWords, MaxMessages, CacheLines as ccix_node; NumMiss, PagesLog2,
///               Ahead, Direct as ccix_translate; with CacheLines reads alone are direct, and
///               ccix_direct is beside the cache; AxiPort only with CacheLines; Atomics, and Tries
///               0..255 with Wait 1..65535 cycles between them, only with AxiPort
///   Not done    the hard block
module ccix_fpga
  import ccix_pkg::*;
  import ccix_fpga_pkg::*;
#(
  parameter int unsigned NumTxns     = 128,
  parameter int unsigned MaxWords    = 32,
  parameter int unsigned MaxMessages = 31,
  parameter bit          Translate   = 1'b0,
  parameter int unsigned NumMiss     = 8,
  parameter int unsigned PagesLog2   = 0,
  parameter int unsigned Ahead       = 0,
  parameter bit          Direct      = 1'b0,
  parameter int unsigned CacheLines  = 0,
  parameter bit          AxiPort     = 1'b0,
  parameter bit          Atomics     = 1'b0,
  parameter int unsigned Tries       = 0,
  parameter int unsigned Wait        = 64
) (
  input logic clk_i,
  input logic rst_ni,

  output logic         cxs_tx_valid_o,  // cxs_tx_*: a beat of a packet to the block, with a credit
  output logic         cxs_tx_last_o,   // the packet's last beat
  output logic [3:0]   cxs_tx_words_o,  // words in it, 1..8, from bit 0 of data on
  output logic [511:0] cxs_tx_data_o,
  input  logic         cxs_tx_credit_i,  // strobe: the block takes one beat more
  input  logic         cxs_rx_valid_i,   // cxs_rx_*: a beat from the block, as cxs_tx_*
  input  logic [3:0]   cxs_rx_words_i,
  input  logic [511:0] cxs_rx_data_i,
  output logic         cxs_rx_credit_o,  // strobe: one beat more may come

  input  logic        task_valid_i,  // task_*: held until task_ready_o
  output logic        task_ready_o,
  input  logic        task_write_i,    // 0: read and compare; 1: write
  input  logic [7:0]  task_tag_i,      // not that of an open task; comes back with its end
  input  logic [47:0] task_address_i,  // of a line's first byte; virtual with Translate
  input  logic [16:0] task_bytes_i,    // 1 at least
  input  logic [31:0] task_seed_i,     // of the pattern that is written or expected
  output logic        task_done_o,     // strobe: the task is over
  output logic [7:0]  task_done_tag_o,
  output logic        task_done_fault_o,  // with it: a line of it was not accessed

  input  logic        atomic_valid_i,  // atomic_*: held until atomic_ready_o
  output logic        atomic_ready_o,
  input  logic [5:0]  atomic_code_i,     // AWATOP, or 0, as axi_atomic
  input  logic [47:0] atomic_address_i,  // of a byte, a multiple of 8; virtual with Translate
  input  logic [63:0] atomic_operand_i,  // little-endian, as atomic_old_o
  output logic        atomic_done_o,     // strobe: it is done
  output logic [63:0] atomic_old_o,      // with it: the word as it was

  output logic [NumProbes-1:0]      probe_o,      // strobes, by probe_e; for simulation
  output logic [NumProbes-1:0][7:0] probe_tag_o,  // of the task at its ends, else of the request

  output logic        status_up_o,        // level: the host has given credits
  output logic        status_fail_o,      // level: a protocol error
  output logic [31:0] status_requests_o,  // lines asked of the agent; all counters wrap
  output logic [31:0] status_packets_o,   // sent
  output logic [31:0] status_words_o,     // sent, of 64 bits
  output logic [31:0] status_wrong_o,     // lines read that had a wrong byte
  output logic [31:0] status_stray_o,     // answers that match no request
  output logic [31:0] status_faults_o,    // lines whose page did not allow the access
  output logic [31:0] status_retries_o    // errors of the AXI port that were tried again
);
  logic line_valid, line_ready, line_write, phys_valid, phys_ready, phys_write, phys_direct;
  index_t line_index, phys_index, phys_key;
  logic [7:0] line_tag, line_rsp_tag, phys_tag, rsp_tag;
  mask_t line_mask, phys_mask;
  coherence_atomic_pkg::atomic_t line_atomic, phys_atomic;
  line_t line_data, line_rsp_data, phys_data, rsp_data, ans_data;
  logic line_rsp_valid, line_rsp_fault, rsp_valid, rsp_fault, wrong;
  logic trn_valid, trn_ready, ans_valid, for_translate;
  logic [3:0] trn_words;
  word_t [1:0] trn;
  header_t ans_header;
  logic [1:0] fail;

  // ---------------------------------------------------------------- the FPGA's logic
  logic refused;  // the AXI port answered with an error
  if (AxiPort) begin : gen_axi
    if (CacheLines == 0) begin : gen_cache_check
      $error("ccix_fpga: AxiPort needs CacheLines");
    end
    // A cache does not take more than 39 bits of a physical address.
    localparam int unsigned AddrWidth = Translate ? 48 : 39;
    localparam int unsigned Lines   = 32;  // of writes that ccix_retry has open
    localparam int unsigned IdWidth = Tries > 0 ? $clog2(Lines) : 1;
    axi_pkg::address_t aw, ar, task_aw, atomic_aw;
    logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    logic rlast, change, task_awvalid, task_wvalid, task_bready, task_rready;
    logic atomic_awvalid, atomic_wvalid, atomic_bready, atomic_rready;
    logic [1:0] bresp, rresp;
    logic [5:0] atop;
    logic [IdWidth-1:0] task_awid, bid, rid;
    logic [AddrWidth-7:0] index;
    line_t wdata, rdata, task_wdata, atomic_wdata;
    mask_t wstrb, task_wstrb, atomic_wstrb;
    logic atomic_retry, atomic_lost, task_refused;
    logic [31:0] retries, atomic_retries_q;

    // The tasks' master.
    axi_pkg::address_t m_aw, m_ar;
    logic m_awvalid, m_awready, m_wvalid, m_wready, m_wlast, m_bvalid, m_bready, m_arvalid;
    logic m_arready, m_rvalid, m_rready, m_rlast, task_hold, task_ready;
    logic [1:0] m_bresp, m_rresp;
    line_t m_wdata, m_rdata;
    mask_t m_wstrb;
    assign task_ready_o = task_ready && !task_hold;
    axi_traffic u_traffic (
      .clk_i, .rst_ni, .task_valid_i(task_valid_i && !task_hold), .task_ready_o(task_ready),
      .task_write_i, .task_tag_i, .task_address_i, .task_bytes_i, .task_seed_i, .task_done_o,
      .task_done_tag_o, .awvalid_o(m_awvalid), .awready_i(m_awready), .aw_o(m_aw),
      .wvalid_o(m_wvalid), .wready_i(m_wready), .wdata_o(m_wdata), .wstrb_o(m_wstrb),
      .wlast_o(m_wlast), .bvalid_i(m_bvalid), .bready_o(m_bready), .bresp_i(m_bresp),
      .arvalid_o(m_arvalid), .arready_i(m_arready), .ar_o(m_ar), .rvalid_i(m_rvalid),
      .rready_o(m_rready), .rdata_i(m_rdata), .rresp_i(m_rresp), .rlast_i(m_rlast),
      .wrong_o(wrong), .error_o(task_refused)
    );
    if (Tries > 0) begin : gen_retry
      ccix_retry #(.DataWidth(512), .Bursts(64), .Lines(Lines), .Tries(Tries), .Wait(Wait))
      u_retry (
        .clk_i, .rst_ni, .m_awvalid_i(m_awvalid), .m_awready_o(m_awready), .m_aw_i(m_aw),
        .m_wvalid_i(m_wvalid), .m_wready_o(m_wready), .m_wdata_i(m_wdata), .m_wstrb_i(m_wstrb),
        .m_bvalid_o(m_bvalid), .m_bready_i(m_bready), .m_bresp_o(m_bresp),
        .m_arvalid_i(m_arvalid), .m_arready_o(m_arready), .m_ar_i(m_ar), .m_rvalid_o(m_rvalid),
        .m_rready_i(m_rready), .m_rdata_o(m_rdata), .m_rresp_o(m_rresp), .m_rlast_o(m_rlast),
        .awvalid_o(task_awvalid), .awready_i(awready && !change), .awid_o(task_awid),
        .aw_o(task_aw), .wvalid_o(task_wvalid), .wready_i(wready && !change),
        .wdata_o(task_wdata), .wstrb_o(task_wstrb), .bvalid_i(bvalid && !change), .bid_i(bid),
        .bresp_i(bresp), .arvalid_o(arvalid), .arready_i(arready), .ar_o(ar),
        .rvalid_i(rvalid && !change), .rready_o(task_rready), .rdata_i(rdata), .rresp_i(rresp),
        .rlast_i(rlast), .retries_o(retries)
      );
      assign task_bready = 1'b1;
      logic unused;
      assign unused = ^{m_wlast, m_bready};
    end else begin : gen_no_retry
      assign {task_awvalid, task_aw, task_wvalid, task_wdata, task_wstrb, arvalid, ar} =
             {m_awvalid, m_aw, m_wvalid, m_wdata, m_wstrb, m_arvalid, m_ar};
      assign {task_awid, retries} = '0;
      assign m_awready   = awready && !change;
      assign m_wready    = wready && !change;
      assign m_bvalid    = bvalid && !change;
      assign m_arready   = arready;
      assign m_rvalid    = rvalid && !change;
      assign task_bready = m_bready;
      assign task_rready = m_rready;
      assign {m_bresp, m_rresp, m_rdata, m_rlast} = {bresp, rresp, rdata, rlast};
      logic unused;
      assign unused = ^{bid, m_wlast};
    end

    // The master of atomics.
    if (Atomics) begin : gen_atomic
      logic [4:0] under_way_q;
      logic atomic_ready, idle;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) under_way_q <= '0;
        else under_way_q <= under_way_q + 5'(task_valid_i && task_ready_o) - 5'(task_done_o);
      end
      assign idle           = under_way_q == '0;
      assign atomic_ready_o = atomic_ready && idle;
      assign change         = !atomic_ready;
      assign task_hold      = atomic_valid_i || change;
      axi_atomic #(.Tries(Tries), .Wait(Wait)) u_atomic (
        .clk_i, .rst_ni, .req_valid_i(atomic_valid_i && idle), .req_ready_o(atomic_ready),
        .req_code_i(atomic_code_i), .req_address_i(atomic_address_i),
        .req_operand_i(atomic_operand_i), .done_o(atomic_done_o), .old_o(atomic_old_o),
        .lost_o(atomic_lost), .retry_o(atomic_retry),
        .awvalid_o(atomic_awvalid), .awready_i(awready && change), .aw_o(atomic_aw),
        .awatop_o(atop), .wvalid_o(atomic_wvalid), .wready_i(wready && change),
        .wdata_o(atomic_wdata), .wstrb_o(atomic_wstrb), .bvalid_i(bvalid && change),
        .bready_o(atomic_bready), .bresp_i(bresp), .rvalid_i(rvalid && change),
        .rready_o(atomic_rready), .rdata_i(rdata), .rresp_i(rresp)
      );
    end else begin : gen_no_atomic
      assign {change, task_hold, atomic_ready_o, atomic_done_o, atomic_old_o} = '0;
      assign {atomic_awvalid, atomic_aw, atop, atomic_wvalid, atomic_wdata, atomic_wstrb} = '0;
      assign {atomic_bready, atomic_rready, atomic_retry, atomic_lost} = '0;
      logic unused_atomic;
      assign unused_atomic = ^{atomic_valid_i, atomic_code_i, atomic_address_i,
                               atomic_operand_i};
    end
    assign awvalid = change ? atomic_awvalid : task_awvalid;
    assign aw      = change ? atomic_aw : task_aw;
    assign wvalid  = change ? atomic_wvalid : task_wvalid;
    assign wdata   = change ? atomic_wdata : task_wdata;
    assign wstrb   = change ? atomic_wstrb : task_wstrb;
    assign bready  = change ? atomic_bready : task_bready;
    assign rready  = change ? atomic_rready : task_rready;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        refused          <= 1'b0;
        atomic_retries_q <= '0;
      end else begin
        refused          <= refused || task_refused || atomic_lost;
        atomic_retries_q <= atomic_retries_q + 32'(atomic_retry);
      end
    end
    assign status_retries_o = retries + atomic_retries_q;

    coherence_axi #(
      .DataWidth(512), .LineBytes(LineBytes), .IdWidth(IdWidth), .AddrWidth(AddrWidth),
      .NumReads(32), .NumStores(32), .NumBursts(Tries > 0 ? Lines : 16), .Streams(1),
      .Atomics(Atomics)
    ) u_port (
      .clk_i, .rst_ni, .awvalid_i(awvalid), .awready_o(awready),
      .awid_i(change ? '0 : task_awid), .aw_i(aw), .awatop_i(change ? atop : '0),
      .wvalid_i(wvalid), .wready_o(wready), .wdata_i(wdata), .wstrb_i(wstrb),
      .bvalid_o(bvalid), .bready_i(bready), .bid_o(bid), .bresp_o(bresp), .arvalid_i(arvalid),
      .arready_o(arready), .arid_i('0), .ar_i(ar), .rvalid_o(rvalid), .rready_i(rready),
      .rid_o(rid), .rdata_o(rdata), .rresp_o(rresp), .rlast_o(rlast),
      .core_valid_o(line_valid), .core_ready_i(line_ready), .core_write_o(line_write),
      .core_index_o(index), .core_tag_o(line_tag), .core_mask_o(line_mask),
      .core_data_o(line_data), .core_atomic_o(line_atomic), .core_rsp_valid_i(line_rsp_valid),
      .core_rsp_tag_i(line_rsp_tag), .core_rsp_error_i(line_rsp_fault),
      .core_rsp_data_i(line_rsp_data)
    );
    assign line_index        = index_t'(index);
    assign task_done_fault_o = 1'b0;
    logic unused;
    assign unused = ^rid;
  end else begin : gen_lines
    assign refused     = 1'b0;
    assign line_atomic = '0;
    assign {atomic_ready_o, atomic_done_o, atomic_old_o, status_retries_o} = '0;
    logic unused_atomic;
    assign unused_atomic = ^{atomic_valid_i, atomic_code_i, atomic_address_i, atomic_operand_i};
    ccix_traffic u_traffic (
      .clk_i, .rst_ni, .task_valid_i, .task_ready_o, .task_write_i, .task_tag_i, .task_address_i,
      .task_bytes_i, .task_seed_i, .task_done_o, .task_done_tag_o, .task_done_fault_o,
      .req_valid_o(line_valid), .req_ready_i(line_ready), .req_write_o(line_write),
      .req_index_o(line_index), .req_tag_o(line_tag), .req_mask_o(line_mask),
      .req_data_o(line_data), .rsp_valid_i(line_rsp_valid), .rsp_tag_i(line_rsp_tag),
      .rsp_fault_i(line_rsp_fault), .rsp_data_i(line_rsp_data), .wrong_o(wrong)
    );
  end

  // ---------------------------------------------------------------- translation
  if (Translate) begin : gen_translate
    // Its messages are few, and a request waits for each: they go first.
    assign for_translate = ans_header.kind inside {MsgTranslated, MsgInvalidate};
    ccix_translate #(
      .NumMiss(NumMiss), .PagesLog2(PagesLog2), .Ahead(Ahead), .Direct(Direct),
      .DirectWrites(CacheLines == 0), .Early(CacheLines != 0), .InOrder(AxiPort),
      .Atomics(Atomics)
    ) u_translate (
      .clk_i, .rst_ni, .req_valid_i(line_valid), .req_ready_o(line_ready),
      .req_write_i(line_write), .req_index_i(line_index), .req_tag_i(line_tag),
      .req_mask_i(line_mask), .req_data_i(line_data), .req_atomic_i(line_atomic),
      .rsp_valid_o(line_rsp_valid), .rsp_tag_o(line_rsp_tag), .rsp_fault_o(line_rsp_fault),
      .rsp_data_o(line_rsp_data),
      .phys_valid_o(phys_valid), .phys_ready_i(phys_ready), .phys_write_o(phys_write),
      .phys_index_o(phys_index), .phys_tag_o(phys_tag), .phys_mask_o(phys_mask),
      .phys_data_o(phys_data), .phys_atomic_o(phys_atomic), .phys_direct_o(phys_direct),
      .phys_key_o(phys_key), .phys_rsp_valid_i(rsp_valid), .phys_rsp_tag_i(rsp_tag),
      .phys_rsp_fault_i(rsp_fault), .phys_rsp_data_i(rsp_data), .msg_valid_o(trn_valid),
      .msg_ready_i(trn_ready), .msg_words_o(trn_words), .msg_o(trn),
      .in_valid_i(ans_valid && for_translate), .in_word_i(ans_header), .fail_o(fail[1])
    );
  end else begin : gen_wire
    assign phys_valid     = line_valid;
    assign phys_write     = line_write;
    assign phys_index     = line_index;
    assign phys_tag       = line_tag;
    assign phys_mask      = line_mask;
    assign phys_data      = line_data;
    assign phys_atomic    = line_atomic;
    assign line_ready     = phys_ready;
    assign line_rsp_valid = rsp_valid;
    assign line_rsp_tag   = rsp_tag;
    assign phys_direct    = 1'b0;
    assign phys_key       = line_index;
    assign line_rsp_fault = 1'b0;
    assign line_rsp_data  = rsp_data;
    assign {trn_valid, trn_words, trn, for_translate} = '0;
    assign fail[1]        = 1'b0;
    logic unused;
    assign unused = ^{trn_ready, ans_header, rsp_fault};
  end

  // ---------------------------------------------------------------- agent
  ccix_node #(
    .NumTxns(NumTxns), .MaxWords(MaxWords), .MaxMessages(MaxMessages), .CacheLines(CacheLines),
    .Places(16), .NumDirect(Translate && Direct && CacheLines != 0 ? 32 : 0), .Atomics(Atomics)
  ) u_node (
    .clk_i, .rst_ni, .cxs_tx_valid_o, .cxs_tx_last_o, .cxs_tx_words_o, .cxs_tx_data_o,
    .cxs_tx_credit_i, .cxs_rx_valid_i, .cxs_rx_words_i, .cxs_rx_data_i, .cxs_rx_credit_o,
    .req_valid_i(phys_valid), .req_ready_o(phys_ready),
    .req_i('{phys_write, phys_index, phys_tag, phys_mask, phys_data}), .req_evict_i(1'b0),
    .req_atomic_i(phys_atomic), .req_direct_i(phys_direct), .req_key_i(phys_key),
    .rsp_valid_o(rsp_valid), .rsp_tag_o(rsp_tag), .rsp_fault_o(rsp_fault), .rsp_data_o(rsp_data),
    .hold_snoops_i(1'b0), .side_first_i(1'b1), .side_valid_i(trn_valid),
    .side_ready_o(trn_ready), .side_words_i(trn_words), .side_i((64 * MostWords)'(trn)),
    .ans_valid_o(ans_valid), .ans_header_o(ans_header), .ans_data_o(ans_data),
    .agent_i(!for_translate), .fail_o(fail[0]), .status_up_o, .status_packets_o,
    .status_words_o, .status_stray_o
  );
  logic unused_data;
  assign unused_data = ^ans_data;

  // ---------------------------------------------------------------- counters
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      status_requests_o <= '0;
      status_wrong_o    <= '0;
      status_faults_o   <= '0;
    end else begin
      status_requests_o <= status_requests_o + 32'(phys_valid && phys_ready);
      status_wrong_o    <= status_wrong_o + 32'(wrong);
      status_faults_o   <= status_faults_o + 32'(line_rsp_valid && line_rsp_fault);
    end
  end
  assign status_fail_o = fail != '0 || refused;

  assign probe_o[Taken]          = task_valid_i && task_ready_o;
  assign probe_tag_o[Taken]      = task_tag_i;
  assign probe_o[Requested]      = line_valid && line_ready;
  assign probe_tag_o[Requested]  = line_tag;
  assign probe_o[Translated]     = phys_valid && phys_ready;
  assign probe_tag_o[Translated] = phys_tag;
  assign probe_o[Sent]           = cxs_tx_valid_o && cxs_tx_last_o;
  assign probe_tag_o[Sent]       = '0;
  assign probe_o[Received]       = ans_valid;
  assign probe_tag_o[Received]   = ans_header.txn;
  assign probe_o[Responded]      = line_rsp_valid;
  assign probe_tag_o[Responded]  = line_rsp_tag;
  assign probe_o[Done]           = task_done_o;
  assign probe_tag_o[Done]       = task_done_tag_o;
endmodule
