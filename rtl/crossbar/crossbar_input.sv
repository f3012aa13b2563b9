// SPDX-License-Identifier: SHL-2.1
/// One input of a buffered crossbar: which crosspoint a packet goes to, and its stamp of entry.
///
///   Handshake   none: a flit is passed on in the cycle in which it comes
///   Latency     0 cycles
///   Bench       with bench_i data word 4 becomes stamp_i of the cycle in which the Sop came
///   Parameters  NumPorts 2..64
///   Not done    checks of the id: ids of NumPorts and more never come
module crossbar_input
  import link_pkg::*;
#(
  parameter  int unsigned NumPorts = 8,
  localparam int unsigned IdxWidth = $clog2(NumPorts)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                bench_i,
  input  logic [31:0]         stamp_i,
  input  logic                rx_valid_i,
  input  flit_t               rx_flit_i,
  input  id_t                 rx_id_i,
  output logic [NumPorts-1:0] valid_o,  // one-hot: to that crosspoint
  output flit_t               flit_o
);
  if (NumPorts < 2 || NumPorts > 64) begin : gen_num_ports_check
    $error("crossbar_input: NumPorts is %0d, legal is 2..64", NumPorts);
  end

  logic [2:0] word_q;  // data words of this packet so far, up to 5
  logic [31:0] stamp_q;

  always_comb begin
    flit_o = rx_flit_i;
    if (bench_i && word_q == 3'd4 && rx_flit_i.kind == FlitData) flit_o.data = stamp_q;
  end
  assign valid_o = NumPorts'(rx_valid_i) << rx_id_i[IdxWidth-1:0];
  logic unused;
  assign unused = &{1'b0, rx_id_i};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q <= '0;
    end else if (rx_valid_i) begin
      if (rx_flit_i.kind == FlitSop) word_q <= '0;
      else if (word_q != 3'd5) word_q <= word_q + 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rx_valid_i && rx_flit_i.kind == FlitSop) stamp_q <= stamp_i;
  end
endmodule
