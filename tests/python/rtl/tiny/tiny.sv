// SPDX-License-Identifier: SHL-2.1
/// A device with one port bundle of each kind: counts clocks and GMII bytes, echoes bytes inverted.
///
///   Latency     1 cycle from gmii_rxd_i to gmii_txd_o
///   Parameters  Width 1..32
///   Not done    anything useful
module tiny #(
  parameter int unsigned Width = 16,
  parameter logic [47:0] Address = 48'h02_00_00_00_00_01
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic      [63:0] time_ns_i,
  input  logic     [127:0] cfg_key_i,
  input  logic       [7:0] cfg_step_i,
  input  logic             gmii_rx_clk_i,
  input  logic       [7:0] gmii_rxd_i,
  input  logic             gmii_rx_dv_i,
  input  logic             gmii_rx_er_i,
  output logic       [7:0] gmii_txd_o,
  output logic             gmii_tx_en_o,
  output logic             gmii_tx_er_o,
  input  logic       [3:0] trigger_i,
  output logic       [1:0] probe_o,
  output logic  [1:0][7:0] probe_tag_o,
  output logic [Width-1:0] status_cycles_o,
  output logic      [31:0] status_rx_bytes_o,
  output logic     [127:0] status_key_o,
  output logic      [47:0] status_address_o,
  output logic      [63:0] status_time_o,
  output logic             idle_o
);
  if (Width < 1 || Width > 32) begin : gen_width_check
    $error("tiny: Width is %0d, legal is 1..32", Width);
  end

  logic [Width-1:0] cycles_q;
  logic [31:0] rx_bytes_q;
  logic [7:0] data_q, tag_q;
  logic valid_q, error_q;

  assign gmii_txd_o        = ~data_q;
  assign gmii_tx_en_o      = valid_q;
  assign gmii_tx_er_o      = error_q;
  assign probe_o           = {valid_q & ~gmii_rx_dv_i, ~valid_q & gmii_rx_dv_i};
  assign probe_tag_o       = {tag_q, tag_q};
  assign status_cycles_o   = cycles_q;
  assign status_rx_bytes_o = rx_bytes_q;
  assign status_key_o      = ~cfg_key_i;
  assign status_address_o  = Address;
  assign status_time_o     = time_ns_i + 64'(trigger_i);
  assign idle_o            = ~valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycles_q <= '0;
      valid_q  <= 1'b0;
      error_q  <= 1'b0;
      data_q   <= '0;
      tag_q    <= '0;
    end else begin
      cycles_q <= cycles_q + Width'(cfg_step_i);
      valid_q  <= gmii_rx_dv_i;
      error_q  <= gmii_rx_er_i;
      data_q   <= gmii_rxd_i;
      tag_q    <= tag_q + 8'(valid_q & ~gmii_rx_dv_i);
    end
  end

  always_ff @(posedge gmii_rx_clk_i or negedge rst_ni) begin
    if (!rst_ni) rx_bytes_q <= '0;
    else if (gmii_rx_dv_i) rx_bytes_q <= rx_bytes_q + 32'd1;
  end
endmodule
