// SPDX-License-Identifier: SHL-2.1
/// Stream DMA engine: words from a ring in host memory, or pushed by the host, to a service; the
/// service's words to another ring in host memory.
///
/// Independent of the words' meaning. The driver's view of rings, status word and doorbells:
/// docs/explanation/cores/pcie.md.
///
///   Control     control_i is sampled when enable rises; state_o. Disabling, or an error response
///               from host memory, ends transfers in flight without effect, then the engine is off
///   Push        push_* as in pcie_word_buffer, from pcie_push, while push_open_o and at most
///               push_room_o words
///   To service  rx_valid_o/rx_ready_i, rx_data_o (byte n of memory in bits 8n+7:8n), rx_first_o:
///               first word of a burst or push. abort_o: pulse, discard the stream so far and the
///               word offered in that clock; then idle_i must rise once no more words will follow
///   From it     tx_valid_i/tx_ready_o, tx_data_i, tx_first_i. promise_i: words that will follow
///               without further input; it decreases with each word taken, and may increase one
///               clock late; waiting_o: words in flight to rx_valid_o, for a service that answers
///               each word with a word
///   Memory      reads within the request ring      (proved: formal/pcie/pcie_dma_fetch.sby);
///               writes within the reply ring and the status word, each word to its position's
///               address                         (proved: formal/pcie/pcie_dma_write.sby)
///   Latency     push committed to rx_valid_o 1 (a push of 4 beats; 3 for one beat), doorbell to
///               dma_o.arvalid 6, dma_i.rvalid to rx_valid_o 3, tx word to dma_o.wvalid 1
///   Throughput  one word a clock each way, with RoundTrip clocks from address to data
///   Parameters  BufferWords power of two 64..1024, at least RoundTrip and a read burst;
///               ReadBytes, WriteBytes: longest bursts, powers of two 64..512 (PCIe: at most the
///               read request size and the payload size that the host allows)
///   Not done    scatter lists, several streams, unaligned rings
module pcie_dma
  import pcie_dma_pkg::*;
#(
  parameter  int unsigned BufferWords = 256,
  parameter  int unsigned RoundTrip   = 150,
  parameter  int unsigned ReadBytes   = 256,
  parameter  int unsigned WriteBytes  = 256,
  parameter  int unsigned PromiseW    = 10,
  localparam int unsigned RoomW       = $clog2(BufferWords) + 1
) (
  input logic clk_i,
  input logic rst_ni,

  input  control_t control_i,
  output state_t   state_o,
  output logic     irq_o,  // strobe: a status word was written, with control_i.irq

  output logic             push_open_o,
  output logic [RoomW-1:0] push_room_o,
  input  logic             push_write_i,
  input  logic [1:0]       push_lanes_i,
  input  logic [63:0]      push_data_i,
  input  logic             push_first_i,
  input  logic             push_commit_i,
  input  logic             push_rollback_i,
  input  logic [RoomW-1:0] push_words_i,    // of the push that is committed
  input  logic             push_refused_i,  // strobe, for the count

  output logic             rx_valid_o,
  input  logic             rx_ready_i,
  output logic [31:0]      rx_data_o,
  output logic             rx_first_o,
  output logic             abort_o,
  output logic [RoomW-1:0] waiting_o,
  input  logic             idle_i,

  input  logic                tx_valid_i,
  output logic                tx_ready_o,
  input  logic [31:0]         tx_data_i,
  input  logic                tx_first_i,
  input  logic [PromiseW-1:0] promise_i,

  output axi_pkg::request_t  dma_o,
  output logic [63:0]        dma_wdata_o,  // with dma_o.wvalid; byte n in bits 8n+7:8n
  output logic [7:0]         dma_wstrb_o,  // bit n: byte n is written
  input  axi_pkg::response_t dma_i,
  input  logic [63:0]        dma_rdata_i,  // with dma_i.rvalid; byte n in bits 8n+7:8n

  // Strobes for probes.
  output logic       fetch_o,  // a read burst begins
  output logic [1:0] unit_o,   // number of unit-begin reply words in flight to memory
  output logic       told_o,   // so is a status word
  output logic       start_o,  // positions are 0
  output logic       idle_o    // nothing changes until an input does
);
  if (BufferWords < RoundTrip + ReadBytes / 4) begin : gen_buffer_check
    $error("pcie_dma: BufferWords is %0d, a round trip of %0d and bursts of %0d bytes need %0d",
           BufferWords, RoundTrip, ReadBytes, RoundTrip + ReadBytes / 4);
  end

  typedef enum logic [2:0] {
    StOff,
    StCheck,
    StRun,
    StDrain,
    StHalt  // after an error, until disabled
  } state_e;
  state_e state_q;

  // ---------------------------------------------------------------- configuration
  // Sampled when the engine starts.
  logic [63:6] req_base_q, rep_base_q;
  logic [21:0] req_last_q;   // words less one
  logic [22:0] rep_words_q;
  logic [63:3] status_q;
  logic legal_q, run_q, start, fatal_q, fatal, abort_q, quiet;
  logic fetch_quiet, write_quiet, fetch_idle, write_idle, fetch_error, write_error;
  logic [2:0] settle_q;

  function automatic logic size_legal(logic [4:0] size);
    return size >= 5'd6 && size <= 5'd24;
  endfunction

  always_ff @(posedge clk_i) begin
    if (state_q == StOff) begin
      req_base_q  <= control_i.req_base[63:6];
      req_last_q  <= ~(22'h3F_FFFF << (control_i.req_size - 5'd2));
      rep_base_q  <= control_i.rep_base[63:6];
      rep_words_q <= 23'd1 << (control_i.rep_size - 5'd2);
      status_q    <= control_i.status[63:3];
      // Without the highest address bit no ring's end passes the end of the address space.
      legal_q     <= size_legal(control_i.req_size) && size_legal(control_i.rep_size) &&
                  control_i.req_base[5:0] == '0 && control_i.rep_base[5:0] == '0 &&
                  control_i.status[2:0] == '0 && !control_i.req_base[63] &&
                  !control_i.rep_base[63] && !control_i.status[63];
    end
  end

  assign start = state_q == StCheck && legal_q;
  assign fatal = fetch_error || write_error;
  assign abort_o = abort_q;
  assign quiet = fetch_quiet && write_quiet && idle_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StOff;
      run_q    <= 1'b0;
      fatal_q  <= 1'b0;
      settle_q <= '0;
      abort_q  <= 1'b0;
    end else begin
      unique case (state_q)
        StOff:   if (control_i.enable) state_q <= StCheck;
        StCheck: state_q <= legal_q ? StRun : StHalt;
        StRun:   if (fatal_q || !control_i.enable) state_q <= StDrain;
        StDrain: if (settle_q == '1) state_q <= fatal_q ? StHalt : StOff;
        default: if (!control_i.enable) state_q <= StOff;
      endcase
      run_q    <= start || (state_q == StRun && !fatal_q && control_i.enable);
      fatal_q  <= (fatal || fatal_q) && control_i.enable;
      abort_q  <= state_q == StRun && (fatal_q || !control_i.enable);
      settle_q <= (state_q == StDrain && quiet) ? settle_q + 3'd1 : '0;
    end
  end

  // ---------------------------------------------------------------- doorbells
  logic [29:0] tail, consumed, head, sent;
  logic tail_pending, tail_refused, consumed_pending, consumed_refused;

  pcie_doorbell u_tail (
    .clk_i,
    .rst_ni,
    .start_i   (start),
    .run_i     (run_q),
    .new_i     (control_i.tail_new),
    .value_i   (control_i.tail),
    .most_i    (30'(req_last_q) - (tail + ~head)),  // last + 1 less (tail - head)
    .position_o(tail),
    .pending_o (tail_pending),
    .refused_o (tail_refused)
  );
  pcie_doorbell u_consumed (
    .clk_i,
    .rst_ni,
    .start_i   (start),
    .run_i     (run_q),
    .new_i     (control_i.consumed_new),
    .value_i   (control_i.consumed),
    .most_i    (sent - consumed),
    .position_o(consumed),
    .pending_o (consumed_pending),
    .refused_o (consumed_refused)
  );

  // ---------------------------------------------------------------- words to the service
  logic fetch_write, fetch_first, fetch_pending, fetch_burst;
  logic [1:0] fetch_lanes;
  logic [63:0] fetch_data;
  logic [RoomW-1:0] used, room;
  assign room = RoomW'(BufferWords) - used;

  pcie_dma_fetch #(
    .BurstBytes(ReadBytes),
    .MaxBursts (8),
    .RoomW     (RoomW)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .start_i  (start),
    .run_i    (run_q),
    .base_i   (req_base_q),
    .last_i   (req_last_q),
    .tail_i   (tail),
    .room_i   (room),
    .write_o  (fetch_write),
    .lanes_o  (fetch_lanes),
    .data_o   (fetch_data),
    .first_o  (fetch_first),
    .arvalid_o(dma_o.arvalid),
    .arready_i(dma_i.arready),
    .ar_o     (dma_o.ar),
    .rvalid_i (dma_i.rvalid),
    .rready_o (dma_o.rready),
    .rdata_i  (dma_rdata_i),
    .rresp_i  (dma_i.rresp),
    .rlast_i  (dma_i.rlast),
    .head_o   (head),
    .pending_o(fetch_pending),
    .burst_o  (fetch_burst),
    .error_o  (fetch_error),
    .quiet_o  (fetch_quiet),
    .idle_o   (fetch_idle)
  );

  // A push waits for the ring, so the two never write at once. Permission and space are one clock
  // old, which is safe: push_open_o can only fall by a doorbell, which uses the same path as pushes
  // and ends a clock before the next; used space can only decrease meanwhile.
  logic push_open_q;
  logic [RoomW-1:0] push_room_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      push_open_q <= 1'b0;
      push_room_q <= '0;
    end else begin
      push_open_q <= run_q && !fetch_pending && !control_i.tail_new && !tail_pending;
      push_room_q <= room;
    end
  end
  assign push_open_o = push_open_q;
  assign push_room_o = push_room_q;

  pcie_word_buffer #(
    .Depth(BufferWords)
  ) u_buffer (
    .clk_i,
    .rst_ni,
    .clear_i    (!run_q),
    .write_i    (fetch_write || push_write_i),
    .lanes_i    (fetch_write ? fetch_lanes : push_lanes_i),
    .data_i     (fetch_write ? fetch_data : push_data_i),
    .first_i    (fetch_write ? fetch_first : push_first_i),
    .commit_i   (fetch_write || push_commit_i),
    .rollback_i (push_rollback_i),
    .valid_o    (rx_valid_o),
    .ready_i    (rx_ready_i),
    .data_o     (rx_data_o),
    .first_o    (rx_first_o),
    .used_o     (used),
    .committed_o(waiting_o)
  );

  // ---------------------------------------------------------------- words from the service
  logic write_burst, told, told_done;

  // The promise is a clock late, so the ring's end is delayed by a clock too.
  logic more_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) more_q <= 1'b0;
    else more_q <= fetch_pending;
  end

  pcie_dma_write #(
    .BurstBytes(WriteBytes),
    .MaxWrites (16),
    .PromiseW  (PromiseW)
  ) u_write (
    .clk_i,
    .rst_ni,
    .start_i    (start),
    .run_i      (run_q),
    .base_i     (rep_base_q),
    .size_i     (rep_words_q),
    .status_i   (status_q),
    .consumed_i (consumed),
    .head_i     (head),
    .promise_i,
    .more_i     (more_q),
    .valid_i    (tx_valid_i),
    .ready_o    (tx_ready_o),
    .data_i     (tx_data_i),
    .first_i    (tx_first_i),
    .awvalid_o  (dma_o.awvalid),
    .awready_i  (dma_i.awready),
    .aw_o       (dma_o.aw),
    .wvalid_o   (dma_o.wvalid),
    .wready_i   (dma_i.wready),
    .wdata_o    (dma_wdata_o),
    .wstrb_o    (dma_wstrb_o),
    .wlast_o    (dma_o.wlast),
    .bvalid_i   (dma_i.bvalid),
    .bready_o   (dma_o.bready),
    .bresp_i    (dma_i.bresp),
    .tail_o     (sent),
    .burst_o    (write_burst),
    .told_o     (told),
    .told_done_o(told_done),
    .unit_o,
    .error_o    (write_error),
    .quiet_o    (write_quiet),
    .idle_o     (write_idle)
  );

  // ---------------------------------------------------------------- counters
  // Event pulses are timing-critical: registered before the counters.
  typedef struct packed {
    logic [1:0]       ring_words;
    logic [RoomW-1:0] push_words;
    logic             reply_word;
    logic             read_burst;
    logic             write_burst;
    logic             told;
    logic [1:0]       axi_errors;
  } events_t;
  events_t events_q;
  errors_t errors_q;
  counters_t counters_q;
  logic irq_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      events_q   <= '0;
      errors_q   <= '0;
      counters_q <= '0;
      irq_q      <= 1'b0;
    end else begin
      irq_q    <= told_done && control_i.irq;
      errors_q <= '{
          config_bad: state_q == StCheck && !legal_q,
          tail_bad: tail_refused,
          consumed_bad: consumed_refused,
          push_refused: push_refused_i,
          read_response: fetch_error,
          write_response: write_error
      };
      events_q <= '{
          ring_words: fetch_write ? 2'(fetch_lanes[0]) + 2'(fetch_lanes[1]) : '0,
          push_words: push_commit_i ? push_words_i : '0,
          reply_word: tx_valid_i && tx_ready_o && run_q,
          read_burst: fetch_burst,
          write_burst: write_burst,
          told: told,
          axi_errors: 2'(dma_i.rvalid && dma_i.rresp[1]) +
                      2'(dma_i.bvalid && dma_i.bresp != 2'b00)
      };
      counters_q.ring_words    <= counters_q.ring_words + 32'(events_q.ring_words);
      counters_q.push_words    <= counters_q.push_words + 32'(events_q.push_words);
      counters_q.reply_words   <= counters_q.reply_words + 32'(events_q.reply_word);
      counters_q.read_bursts   <= counters_q.read_bursts + 32'(events_q.read_burst);
      counters_q.write_bursts  <= counters_q.write_bursts + 32'(events_q.write_burst);
      counters_q.status_writes <= counters_q.status_writes + 32'(events_q.told);
      counters_q.push_refused  <= counters_q.push_refused + 32'(errors_q.push_refused);
      counters_q.axi_errors    <= counters_q.axi_errors + 32'(events_q.axi_errors);
    end
  end

  assign state_o = '{
      running: run_q,
      draining: state_q == StDrain,
      errors: errors_q,
      head: {head, 2'b00},
      tail: {sent, 2'b00},
      counters: counters_q
  };
  assign irq_o   = irq_q;
  assign fetch_o = fetch_burst;
  assign told_o  = told;
  assign start_o = start;

  logic stable;
  assign stable = state_q == StRun ? (control_i.enable && !fatal_q) :
                  state_q == StHalt ? control_i.enable : (state_q == StOff && !control_i.enable);
  assign idle_o = stable && !control_i.tail_new && !control_i.consumed_new && !tail_pending &&
                  !consumed_pending && fetch_idle && write_idle && used == '0 &&
                  events_q == '0 && errors_q == '0 && !irq_q;
endmodule
