// SPDX-License-Identifier: SHL-2.1
/// VMEbus slave, A32 D32 single cycles, to a Wishbone master.
///
/// 32 MiB of VME: the lower half is a window of 16 MiB onto Wishbone, the upper half has registers.
///
///   0x1000000  bit 0: the cycle line is held from access to access; else each access is a cycle
///   0x1000004  bits 31:24: bits 31:24 of the window's Wishbone addresses
///   0x1000008  error shift register, bits 63:32     0x100000C  bits 31:0, bit 0 the latest access
///   0x1000010  Wishbone address of the SDB table    others read 0, and writes do nothing
///
///   Handshake   exactly one DTACK or BERR for each data strobe to this slave, held until the
///               strobe rises; none for others or after the master timed out
///                                                             (proved: formal/vme/vme_wb.sby)
///   Answers     BERR for an access that is not of 32 bits, for a Wishbone error, and for a bus
///               that does not answer for Timeout clocks (see wb_timeout)
///   Data        driven a cycle before DTACK, released a cycle before DTACK is
///   Latency     strobes at the pins to the answer: register 5 cycles, Wishbone 6 + the slave's;
///               one less or none for the phase of the strobe
///   Clock       vme_* is asynchronous; strobes pass two registers, all other signals are stable
///               before and while they are low. At most 8 ns: an answer is 30 ns behind its strobe
///   Parameters  Timeout 16..2^24 clocks
///   Not done    block transfers, A24, A16, D16, D08, D64, interrupts, CR/CSR space
module vme_wb #(
  parameter int unsigned Timeout = 1_000
) (
  input logic clk_i,
  input logic rst_ni,

  input  logic        vme_as_ni,      // address strobe: the address is stable
  input  logic [ 1:0] vme_ds_ni,      // data strobes DS1, DS0
  input  logic        vme_write_ni,   // low: a write
  input  logic        vme_lword_ni,   // low, with both data strobes and A01: 32 bits
  input  logic        vme_iack_ni,    // low: an interrupt cycle, not for this slave
  input  logic [ 5:0] vme_am_i,       // address modifier
  input  logic [30:0] vme_addr_i,     // A31..A01
  input  logic [31:0] vme_data_i,     // of a write
  output logic [31:0] vme_data_o,     // of a read
  output logic        vme_data_oe_o,  // drives vme_data_o
  output logic        vme_dtack_no,   // low: done
  output logic        vme_berr_no,    // low: failed

  input logic [ 6:0] base_i,         // A31..A25 of our 32 MiB
  input logic [31:0] sdb_address_i,  // of the bus's self-description; constant

  output logic        wb_cyc_o,  // wb_*: Wishbone B4 pipelined, taken at cyc & stb & ~stall
  output logic        wb_stb_o,
  output logic        wb_we_o,
  output logic [31:0] wb_adr_o,  // of a byte
  output logic [ 3:0] wb_sel_o,
  output logic [31:0] wb_dat_o,
  input  logic        wb_stall_i,
  input  logic        wb_ack_i,  // one ack or err for each operation
  input  logic        wb_err_i,
  input  logic [31:0] wb_dat_i,

  output logic access_o,     // pulses, for counters and probes
  output logic operation_o,  // a bus operation was taken
  output logic bus_error_o,  // a bus operation was answered err
  output logic timeout_o,    // the bus did not answer in time
  output logic answer_o,     // DTACK or BERR goes to the pins
  output logic idle_o        // level: nothing changes until an input does
);
  localparam logic [5:0] AmUserData = 6'h09;
  localparam logic [5:0] AmSupervisorData = 6'h0D;
  // Strobes of one access fall within 20 ns of each other.
  localparam logic [2:0] StrobeSkew = 3'd5;

  typedef enum logic [2:0] {
    StIdle,
    StDecode,
    StOther,   // other address, or timed out: until the strobes rise
    StBus,
    StDrive,
    StAnswer,
    StRelease
  } state_e;

  // ---------------------------------------------------------------- strobes
  logic as_n, any_strobe, both_strobes, strobes_settled;
  logic [1:0] ds_n;
  sync_bits #(
    .Width     (3),
    .ResetValue('1)
  ) u_strobes (
    .clk_i,
    .rst_ni,
    .d_i      ({vme_as_ni, vme_ds_ni}),
    .q_o      ({as_n, ds_n}),
    .settled_o(strobes_settled)
  );
  assign any_strobe   = ds_n != '1;
  assign both_strobes = ds_n == '0;

  // ---------------------------------------------------------------- access
  state_e state_q, state_d;
  logic [2:0] skew_q;
  logic [30:1] addr_q;
  logic [5:0] am_q;
  logic [31:0] wdata_q, rdata_q;
  logic write_q, long_q, iack_q, error_q, stb_q;
  logic gone_q;  // the master gave up: strobes that are low now belong to another access
  logic start, ours, registers, done, ack, err, stall;
  logic [31:0] dat_r, register_value;

  assign start     = state_q == StIdle && !as_n && any_strobe &&
                     (both_strobes || skew_q == StrobeSkew);
  assign ours      = addr_q[30:24] == base_i && !iack_q &&
                     am_q inside {AmUserData, AmSupervisorData};
  assign registers = addr_q[23];
  assign done      = state_q == StBus && !stb_q && (ack || err);

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: if (start) state_d = StDecode;
      StDecode: begin
        if (!ours) state_d = StOther;
        else if (!long_q || registers) state_d = StDrive;
        else state_d = StBus;
      end
      StOther: if (!any_strobe) state_d = StIdle;
      StBus: if (done) state_d = (any_strobe && !gone_q) ? StDrive : StIdle;
      StDrive: state_d = (any_strobe && !gone_q) ? StAnswer : StIdle;
      StAnswer: if (!any_strobe) state_d = StRelease;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      skew_q  <= '0;
      stb_q   <= 1'b0;
      gone_q  <= 1'b0;
    end else begin
      state_q <= state_d;
      gone_q  <= state_q inside {StDecode, StBus} && (gone_q || !any_strobe);
      if (state_q != StIdle || as_n || !any_strobe) skew_q <= '0;
      else if (skew_q != StrobeSkew) skew_q <= skew_q + 3'd1;
      if (state_q == StDecode) stb_q <= state_d == StBus;
      else if (!stall) stb_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      addr_q  <= vme_addr_i[30:1];
      am_q    <= vme_am_i;
      wdata_q <= vme_data_i;
      write_q <= !vme_write_ni;
      iack_q  <= !vme_iack_ni;
      long_q  <= both_strobes && !vme_lword_ni && !vme_addr_i[0];
    end
    if (state_q == StDecode) begin
      error_q <= !long_q;
      rdata_q <= register_value;
    end else if (done) begin
      error_q <= err;
      rdata_q <= dat_r;
    end
  end

  // ---------------------------------------------------------------- registers
  logic hold_q, register_write;
  logic [7:0] upper_q;
  logic [63:0] errors_q;

  assign register_write = state_q == StDecode && ours && long_q && registers && write_q;

  always_comb begin
    unique case (addr_q[22:1])
      22'd0:   register_value = {31'd0, hold_q};
      22'd1:   register_value = {upper_q, 24'd0};
      22'd2:   register_value = errors_q[63:32];
      22'd3:   register_value = errors_q[31:0];
      22'd4:   register_value = sdb_address_i;
      default: register_value = '0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hold_q   <= 1'b0;
      upper_q  <= '0;
      errors_q <= '0;
    end else begin
      if (register_write && addr_q[22:1] == 22'd0) hold_q <= wdata_q[0];
      if (register_write && addr_q[22:1] == 22'd1) upper_q <= wdata_q[31:24];
      if (done) errors_q <= {errors_q[62:0], err};
    end
  end

  // ---------------------------------------------------------------- bus
  logic cyc;
  assign cyc = hold_q || state_q == StBus;

  wb_timeout #(
    .MaxOutstanding(1),
    .Timeout       (Timeout)
  ) u_timeout (
    .clk_i,
    .rst_ni,
    .m_cyc_i  (cyc),
    .m_stb_i  (stb_q),
    .m_we_i   (write_q),
    .m_adr_i  ({upper_q, addr_q[22:1], 2'b00}),
    .m_sel_i  (4'hF),
    .m_dat_i  (wdata_q),
    .m_stall_o(stall),
    .m_ack_o  (ack),
    .m_err_o  (err),
    .m_dat_o  (dat_r),
    .s_cyc_o  (wb_cyc_o),
    .s_stb_o  (wb_stb_o),
    .s_we_o   (wb_we_o),
    .s_adr_o  (wb_adr_o),
    .s_sel_o  (wb_sel_o),
    .s_dat_o  (wb_dat_o),
    .s_stall_i(wb_stall_i),
    .s_ack_i  (wb_ack_i),
    .s_err_i  (wb_err_i),
    .s_dat_i  (wb_dat_i),
    .timeout_o
  );

  // ---------------------------------------------------------------- answer
  logic dtack_nq, berr_nq, drive_q, answers;
  assign answers = state_d == StAnswer || state_d == StRelease;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dtack_nq <= 1'b1;
      berr_nq  <= 1'b1;
      drive_q  <= 1'b0;
    end else begin
      dtack_nq <= !(answers && !error_q);
      berr_nq  <= !(answers && error_q);
      drive_q  <= state_d == StAnswer ? drive_q :
                  state_d == StDrive && !write_q && (done ? !err : long_q);
    end
  end

  assign vme_data_o    = rdata_q;
  assign vme_data_oe_o = drive_q;
  assign vme_dtack_no  = dtack_nq;
  assign vme_berr_no   = berr_nq;

  assign access_o    = start;
  assign operation_o = stb_q && !stall;
  assign bus_error_o = done && err;
  assign answer_o    = state_q == StDrive && state_d == StAnswer;

  logic synced;
  assign synced = strobes_settled;
  assign idle_o = synced && (state_q == StOther ? any_strobe
                                                : state_q == StIdle && (as_n || !any_strobe));
endmodule
