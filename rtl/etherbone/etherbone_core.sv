// SPDX-License-Identifier: SHL-2.1
/// Etherbone version 1 slave engine: words of requests in, bus operations out, words of replies
/// out.
///
/// Every word of a request makes exactly one word of its reply (the protocol's same-size rule), so
/// one queue of reply slots keeps the order (etherbone_reply).
///
///   Request     rx_valid_i/rx_ready_o, rx_last_i on a frame's last word. rx_verified_i: the word
///               on rx_data_i belongs to a frame whose checks have all passed. rx_open_i: a word
///               has been taken from a frame whose checks are still open. rx_abort_i: pulse, that
///               frame failed, its remaining words will not arrive (rx_valid_i is low in that
///               cycle)
///   Reply       tx_valid_o/tx_ready_i, tx_data_o; after a frame's last word one beat with
///               tx_end_o: tx_commit_o: the frame's words are a reply to send. Never before the
///               frame is verified
///   Bus         Wishbone B4 pipelined master; cyc is held until the record with the CYC flag, or
///               the frame, is complete and every answer has arrived
///   Order       operations reach the bus in the order of the frame; a config read sees the errors
///               of every operation before it
///   Latency     first word in to first word out: 1. Last word in to last word out: 2 + slave
///               latency
///   Throughput  one word and one operation a cycle, no gap between records; one idle bus cycle
///               after a record with CYC, hidden by the next record's two header words
///   Parameters  Width 32 or 64 (address and data), Depth power of two 8..256 (operations in
///               flight), Stream 0: frames with a header each; 1: one handshake, then an endless
///               sequence of records, rx_abort_i restarts
///   Not done    mixed widths, MSI, config space writes (accepted and discarded)
module etherbone_core
  import etherbone_pkg::*;
#(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 32,
  parameter bit Stream = 1'b0,
  parameter admission_e Admission = ReadsEarly
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic             rx_valid_i,
  output logic             rx_ready_o,
  input  logic [Width-1:0] rx_data_i,
  input  logic             rx_last_i,
  input  logic             rx_verified_i,
  input  logic             rx_open_i,
  input  logic             rx_abort_i,

  output logic             tx_valid_o,
  input  logic             tx_ready_i,
  output logic [Width-1:0] tx_data_o,
  output logic             tx_end_o,
  output logic             tx_commit_o,

  output logic               wb_cyc_o,
  output logic               wb_stb_o,
  output logic               wb_we_o,
  output logic [  Width-1:0] wb_adr_o,
  output logic [Width/8-1:0] wb_sel_o,
  output logic [  Width-1:0] wb_dat_o,
  input  logic               wb_stall_i,
  input  logic               wb_ack_i,
  input  logic               wb_err_i,
  input  logic [  Width-1:0] wb_dat_i,

  // Config space contents: bus address of the SDB table, own identity on the network.
  input logic [31:0] sdb_address_i,
  input logic [47:0] own_mac_i,
  input logic [31:0] own_ip_i,
  input logic [15:0] own_port_i,

  // One-cycle strobes for counters and probes.
  output logic frame_done_o,
  output logic malformed_o,
  output logic record_o,
  output logic operation_o,  // an operation goes to the bus in the next cycle
  output logic bus_error_o,
  output logic idle_o
);
  if (Width != 32 && Width != 64) begin : gen_width_check
    $error("etherbone_core: Width is %0d, legal are 32 and 64", Width);
  end
  if (Depth < 8 || Depth > 256 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("etherbone_core: Depth is %0d, legal are powers of two 8..256", Depth);
  end

  localparam int unsigned CountW = $clog2(Depth) + 1;
  localparam logic [3:0] Code = width_code(Width);
  // The reply to a probe carries version, probe reply and no reads, as both public slaves send it.
  localparam logic [31:0] ProbeReply = {Magic, Version, 4'b0110, Code, Code};
  localparam logic [31:0] DataReply = {Magic, Version, 4'b0100, Code, Code};

  typedef enum logic [3:0] {
    StHead,
    StProbeId,
    StRecord,
    StWriteBase,
    StWriteValue,
    StReadBase,
    StReadAddr,
    StSkip,
    StEnd
  } state_e;

  typedef struct packed {
    slot_e            kind;
    logic [Width-1:0] word;
  } slot_t;

  // ---------------------------------------------------------------- parser
  state_e state_q, state_d;
  logic [7:0] flags_q, sel_q, wcount_q, rcount_q;
  logic silent_q, bad_q, bad_d, first_value_q;
  logic take, push, slot_ready, record_end, malformed;
  slot_t slot_in;

  logic [31:0] word;  // headers and record headers: the first four bytes
  assign word = rx_data_i[Width-1-:32];

  logic head_v1, head_probe, head_data;
  assign head_v1    = word[31:16] == Magic && word[15:12] == Version;
  assign head_probe = head_v1 && word[8+HdrProbe];
  assign head_data  = head_v1 && !word[8+HdrProbe] && !word[8+HdrProbeReply] &&
                      word[7:0] == {Code, Code};

  function automatic logic [Width-1:0] first_bytes(logic [31:0] value);
    logic [Width-1:0] wide;
    wide = '0;
    wide[Width-1-:32] = value;
    return wide;
  endfunction

  logic [Width-1:0] reply_record;
  assign reply_record = first_bytes({reply_flags(flags_q), sel_q, rcount_q, 8'd0});

  logic needs_bus, may_start, closing_q, stb_q, spare_valid_q;
  assign needs_bus = (state_q == StWriteValue && !flags_q[RecWca]) ||
                     (state_q == StReadAddr && !flags_q[RecRca]);
  assign may_start = rx_verified_i || Stream || (Admission == AsItArrives) ||
                     (Admission == ReadsEarly && state_q == StReadAddr);
  // The base address waits in the bus address register, but not while that holds an operation. No
  // path from the bus's stall: a second operation has a separate register.
  assign rx_ready_o = slot_ready && (state_q != StEnd) &&
                      (state_q != StWriteBase || (!stb_q && !spare_valid_q)) &&
                      (!needs_bus || (!spare_valid_q && !closing_q && may_start));
  assign take = rx_valid_i && rx_ready_o && !rx_abort_i;

  logic frame_end;
  assign frame_end = state_q == StEnd && slot_ready && !rx_open_i && !rx_abort_i;

  always_comb begin
    state_d      = state_q;
    bad_d        = bad_q;
    push         = take;
    slot_in.kind = SlotWord;
    slot_in.word = '0;
    record_end   = 1'b0;
    malformed    = 1'b0;

    unique case (state_q)
      StHead: begin
        if (head_probe) begin
          slot_in.word = first_bytes(ProbeReply);
          if (Width == 64) slot_in.word[31:0] = rx_data_i[31:0];
        end else begin
          slot_in.word = first_bytes(DataReply);
        end
        if (take) begin
          if (head_probe) begin
            if (Width == 64) begin
              state_d   = Stream ? StRecord : rx_last_i ? StEnd : StSkip;
              malformed = !Stream && !rx_last_i;
            end else begin
              state_d   = (rx_last_i && !Stream) ? StEnd : StProbeId;
              malformed = rx_last_i && !Stream;
            end
          end else if (head_data) begin
            state_d = (rx_last_i && !Stream) ? StEnd : StRecord;
          end else begin
            // Pushed in any case, since its reply will be dropped: keeps the queue off this path.
            push      = !Stream;
            malformed = 1'b1;
            state_d   = Stream ? StHead : rx_last_i ? StEnd : StSkip;
          end
        end
      end

      StProbeId: begin
        slot_in.word = rx_data_i;
        if (take) begin
          state_d   = Stream ? StRecord : rx_last_i ? StEnd : StSkip;
          malformed = !Stream && !rx_last_i;
        end
      end

      StRecord: begin
        // A record with reads only is answered with its record header at once.
        if (word[15:8] == '0 && word[7:0] != '0) begin
          slot_in.word = first_bytes({reply_flags(word[31:24]), word[23:16], word[7:0], 8'd0});
        end
        if (take) begin
          if (word[15:8] != '0) state_d = StWriteBase;
          else if (word[7:0] != '0) state_d = StReadBase;
          else record_end = word[24+RecCyc];
        end
      end

      StWriteBase: if (take) state_d = StWriteValue;

      StWriteValue: begin
        slot_in.kind = flags_q[RecWca] ? SlotWord : SlotWrite;
        // If reads follow, their record header is behind the zeros of the writes.
        if (wcount_q == 8'd1 && rcount_q != '0) slot_in.word = reply_record;
        if (take && wcount_q == 8'd1) begin
          if (rcount_q != '0) begin
            state_d = StReadBase;
          end else begin
            state_d    = StRecord;
            record_end = flags_q[RecCyc];
          end
        end
      end

      StReadBase: begin
        slot_in.word = rx_data_i;
        if (take) state_d = StReadAddr;
      end

      StReadAddr: begin
        slot_in.kind = flags_q[RecRca] ? SlotConfig : SlotRead;
        slot_in.word = rx_data_i;
        // Beyond the config space: in a stream treated as a register that reads 0, so that the
        // reply's longer paths there do not include this comparison.
        if (Stream && flags_q[RecRca] && rx_data_i[15:6] != '0) slot_in.word[5:3] = 3'd7;
        if (take && rcount_q == 8'd1) begin
          state_d    = StRecord;
          record_end = flags_q[RecCyc];
        end
      end

      StSkip: begin
        push = 1'b0;
        if (take && rx_last_i) state_d = StEnd;
      end

      StEnd: begin
        slot_in.kind = SlotEnd;
        slot_in.word[0] = !bad_q && !silent_q;
        push = frame_end;
        if (frame_end) state_d = StHead;
      end

      default: state_d = StHead;
    endcase

    if (!Stream && take && rx_last_i &&
        state_q inside {StRecord, StWriteBase, StWriteValue, StReadBase, StReadAddr}) begin
      malformed = state_d != StRecord;
      state_d   = StEnd;
    end
    if (state_q == StHead) bad_d = 1'b0;
    if (malformed) bad_d = 1'b1;
    if (rx_abort_i) begin
      state_d = Stream ? StHead : StEnd;
      bad_d   = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StHead;
      bad_q   <= 1'b0;
    end else begin
      state_q <= state_d;
      bad_q   <= bad_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      if (state_q == StHead) silent_q <= word[8+HdrNoReads] && !head_probe;
      if (state_q == StRecord) begin
        flags_q  <= word[31:24];
        sel_q    <= word[23:16];
        wcount_q <= word[15:8];
        rcount_q <= word[7:0];
      end
      if (state_q == StWriteValue) wcount_q <= wcount_q - 8'd1;
      if (state_q == StReadAddr) rcount_q <= rcount_q - 8'd1;
      first_value_q <= state_q == StWriteBase;
    end
  end

  // ---------------------------------------------------------------- bus
  typedef struct packed {
    logic               we;
    logic [  Width-1:0] adr;
    logic [Width/8-1:0] sel;
    logic [  Width-1:0] dat;
  } operation_t;

  logic cyc_q;
  operation_t bus_q, spare_q, operation;
  logic [CountW-1:0] pending_q;  // operations taken by the bus, not yet answered
  logic issue, held, taken, answer, drained;

  assign issue   = take && needs_bus;
  assign held    = stb_q && wb_stall_i;
  assign taken   = stb_q && !wb_stall_i;
  assign answer  = (wb_ack_i || wb_err_i) && pending_q != '0;
  assign drained = !stb_q && !spare_valid_q &&
                   (pending_q == '0 || (pending_q == CountW'(1) && answer));

  // bus_q holds the latest operation whenever the spare is empty: a write continues from it.
  always_comb begin
    operation.we  = state_q == StWriteValue;
    operation.sel = sel_q[Width/8-1:0];
    operation.dat = rx_data_i;
    operation.adr = bus_q.adr;
    if (!operation.we) operation.adr = rx_data_i;
    else if (!first_value_q && !flags_q[RecWff]) operation.adr = bus_q.adr + Width'(Width / 8);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cyc_q         <= 1'b0;
      stb_q         <= 1'b0;
      spare_valid_q <= 1'b0;
      closing_q     <= 1'b0;
      pending_q     <= '0;
    end else begin
      stb_q         <= held || issue || spare_valid_q;
      spare_valid_q <= held && (issue || spare_valid_q);

      if (issue) cyc_q <= 1'b1;
      else if (closing_q && drained) cyc_q <= 1'b0;

      if (record_end || rx_abort_i || frame_end) closing_q <= 1'b1;
      else if (drained) closing_q <= 1'b0;

      pending_q <= pending_q + CountW'(taken) - CountW'(answer);
    end
  end

  always_ff @(posedge clk_i) begin
    if (issue) spare_q <= operation;
    if (!held && spare_valid_q) bus_q <= spare_q;
    else if (!held && issue) bus_q <= operation;
    else if (take && state_q == StWriteBase) bus_q.adr <= rx_data_i;
  end

  assign wb_cyc_o = cyc_q;
  assign wb_stb_o = stb_q;
  assign wb_we_o  = bus_q.we;
  assign wb_adr_o = bus_q.adr;
  assign wb_sel_o = bus_q.sel;
  assign wb_dat_o = bus_q.dat;

  // ---------------------------------------------------------------- reply
  logic reply_empty;
  identity_t identity;
  assign identity = '{sdb_address: sdb_address_i, mac: own_mac_i, ip: own_ip_i, port: own_port_i};

  etherbone_reply #(
    .Width (Width),
    .Depth (Depth),
    .Stream(Stream)
  ) u_reply (
    .clk_i,
    .rst_ni,
    .slot_valid_i(push),
    .slot_ready_o(slot_ready),
    .slot_kind_i (slot_in.kind),
    .slot_word_i (slot_in.word),
    .answer_i    (answer),
    .err_i       (wb_err_i),
    .dat_i       (wb_dat_i),
    .identity_i  (identity),
    .tx_valid_o,
    .tx_ready_i,
    .tx_data_o,
    .tx_end_o,
    .tx_commit_o,
    .bus_error_o,
    .empty_o     (reply_empty)
  );

  assign frame_done_o = frame_end;
  assign malformed_o  = malformed;
  assign record_o     = take && state_q == StRecord;
  assign operation_o  = issue;
  assign idle_o       = (Stream || state_q == StHead) && reply_empty && !cyc_q && !closing_q;
endmodule
