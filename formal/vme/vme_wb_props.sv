// SPDX-License-Identifier: SHL-2.1
/// vme_wb between a VME master that may time out at any time and an arbitrary bus.
module vme_wb_props #(
  parameter int unsigned Timeout = 16
) (
  input logic        clk_i,
  input logic        vme_as_ni,
  input logic [ 1:0] vme_ds_ni,
  input logic        vme_write_ni,
  input logic        vme_lword_ni,
  input logic        vme_iack_ni,
  input logic [ 5:0] vme_am_i,
  input logic [30:0] vme_addr_i,
  input logic [31:0] vme_data_i,
  input logic [ 6:0] base_i,
  input logic [31:0] sdb_address_i,
  input logic        wb_stall_i,
  input logic        wb_ack_i,
  input logic        wb_err_i,
  input logic [31:0] wb_dat_i
);
  logic        rst_ni;
  logic [31:0] vme_data_o, wb_adr_o, wb_dat_o;
  logic [ 3:0] wb_sel_o;
  logic        vme_data_oe_o, vme_dtack_no, vme_berr_no, wb_cyc_o, wb_stb_o, wb_we_o;
  logic        access_o, operation_o, bus_error_o, timeout_o, answer_o, idle_o;

  vme_wb #(.Timeout(Timeout)) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  logic [6:0] base_q;
  always_ff @(posedge clk_i) base_q <= started_q ? base_q : base_i;
  assign rst_ni = started_q;

  logic answer, answer_q, drives_q, seen, seen_q, answered_q, asked_q, ours_q;
  logic let_go_q, let_go_before_q;  // the strobes were high since the answer began
  logic [1:0] owed_q;
  assign answer = !vme_dtack_no || !vme_berr_no;
  assign seen   = dut.any_strobe;  // a data strobe, behind its registers

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      answer_q   <= 1'b0;
      drives_q   <= 1'b0;
      seen_q     <= 1'b0;
      answered_q <= 1'b0;
      asked_q    <= 1'b0;
      ours_q     <= 1'b0;
      owed_q     <= '0;
      let_go_q   <= 1'b0;
      let_go_before_q <= 1'b0;
    end else begin
      let_go_q        <= answer && !let_go_q && !seen;
      let_go_before_q <= let_go_q;
      answer_q   <= answer;
      drives_q   <= vme_data_oe_o;
      seen_q     <= seen;
      // Answered once since the strobes were last high.
      answered_q <= seen && (answered_q || (answer && !let_go_q));
      asked_q    <= seen && (asked_q || access_o);
      if (access_o) begin
        ours_q <= vme_addr_i[30:24] == base_i && vme_iack_ni && vme_am_i inside {6'h09, 6'h0D};
      end
      owed_q <= wb_cyc_o ? owed_q + 2'(wb_stb_o && !wb_stall_i) - 2'(wb_ack_i || wb_err_i) : '0;
    end
  end

  logic bus_state, drive_state, answer_state, release_state, quiet_state;
  assign quiet_state   = dut.state_q inside {3'd0, 3'd1, 3'd2};
  assign bus_state     = dut.state_q == 3'd3;
  assign drive_state   = dut.state_q == 3'd4;
  assign answer_state  = dut.state_q == 3'd5;
  assign release_state = dut.state_q == 3'd6;

  always_comb begin
    if (started_q) begin
      // The bus answers only accepted operations.
      if (wb_ack_i || wb_err_i) assume (owed_q != '0);
      assume (base_i == base_q);

      // One of the two, for an access of ours, while a data strobe was low when it began.
      assert (vme_dtack_no || vme_berr_no);
      if (answer && !answer_q) assert (seen_q && ours_q && asked_q && !answered_q);
      // It is held until the strobes are high.
      if (answer_q && !answer) assert (let_go_before_q);
      // And goes then: two clocks later.
      if (let_go_before_q) assert (!answer);
      // Data is driven before a read's DTACK and released before DTACK is.
      if (!vme_dtack_no && !answer_q && !dut.write_q) assert (vme_data_oe_o && drives_q);
      if (answer_q && !answer) assert (!vme_data_oe_o && !drives_q);
      if (vme_data_oe_o) assert (!dut.write_q && ours_q);
      // A bus operation belongs to an access of ours.
      if (wb_stb_o) assert (wb_cyc_o && ours_q);

      // Inductive strengthening.
      assert (answer == (answer_state || release_state));
      if (vme_data_oe_o) assert (drive_state || answer_state);
      if (!quiet_state) assert (ours_q == dut.ours);
      if (dut.state_q == 3'd1) assert (ours_q == dut.ours);
      if (!quiet_state) assert (ours_q);
      assert (!dut.stb_q || bus_state);
      if (bus_state || drive_state || dut.state_q == 3'd1) begin
        assert (!answer_q);
        if (!dut.gone_q) assert (seen_q && asked_q && !answered_q);
      end
      if (answer_state && !answer_q) assert (seen_q && asked_q && !answered_q);
      if (answer_state && seen && answer_q) assert (answered_q);
      if (release_state) assert (answer_q && !seen_q);
      assert (let_go_q == release_state);
      if (let_go_before_q) assert (dut.state_q == 3'd0);
      if (answer_q) assert (answer_state || release_state || dut.state_q == 3'd0);
      if (answer_state && answer_q && seen_q) assert (answered_q);
      assert (answer_state || !answered_q);
      if (answer_state && !dut.write_q && !dut.error_q) assert (vme_data_oe_o);
      if (answer_state && answer_q) assert (drives_q == vme_data_oe_o || !vme_data_oe_o);
      if (drive_state && !dut.write_q && !dut.error_q) assert (vme_data_oe_o);
      if (release_state) assert (!vme_data_oe_o);
      if (dut.state_q == 3'd0) assert (!vme_data_oe_o);

      cover (!vme_dtack_no && vme_data_oe_o && !dut.registers);
      cover (!vme_berr_no && timeout_o == 1'b0 && dut.registers == 1'b0 && dut.long_q);
      cover (!vme_berr_no && !dut.long_q);
      cover (timeout_o);
      cover (dut.gone_q && seen);
      cover (dut.hold_q && bus_state);
    end
  end
endmodule
