// SPDX-License-Identifier: SHL-2.1
/// One input of a buffered crossbar: the crosspoint of a packet, its stamp of entry, and its
/// source.
///
/// With bind_i, a packet that names another source than this port's in its first data word ends
/// behind that word as Edb, and the rest of it is dropped:
/// a host cannot send in the name of another one.
///
///   Handshake   none: a flit is passed on in the cycle in which it comes
///   Latency     0 cycles
///   Source      bits SourceLsb + 6 : SourceLsb of data word 0 (rdma.md: 30:24); the header's word
///               leaves, no word behind it does
///               (proved: formal/crossbar/crossbar_input.sby)
///   Bench       with bench_i data word 4 becomes stamp_i of the cycle in which the Sop came
///   Parameters  NumPorts 2..64, SourceLsb 0..25
///   Not done    checks of the id: ids of NumPorts and more never come
module crossbar_input
  import link_pkg::*;
#(
  parameter  int unsigned NumPorts  = 8,
  parameter  int unsigned SourceLsb = 24,
  localparam int unsigned IdxWidth  = $clog2(NumPorts)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                bench_i,
  input  logic                bind_i,    // packets must name source_i; changes only between packets
  input  logic [6:0]          source_i,
  input  logic [31:0]         stamp_i,
  input  logic                rx_valid_i,
  input  flit_t               rx_flit_i,
  input  id_t                 rx_id_i,
  output logic [NumPorts-1:0] valid_o,   // one-hot: to that crosspoint
  output flit_t               flit_o,
  output logic                forged_o   // strobe: a packet named another source
);
  if (NumPorts < 2 || NumPorts > 64) begin : gen_num_ports_check
    $error("crossbar_input: NumPorts is %0d, legal is 2..64", NumPorts);
  end
  if (SourceLsb > 25) begin : gen_source_check
    $error("crossbar_input: SourceLsb is %0d, legal is 0..25", SourceLsb);
  end

  logic [2:0] word_q;  // data words of this packet so far, up to 5
  logic [31:0] stamp_q;
  // Word 0 named another source: the next flit becomes the end, those behind it are dropped.
  logic forged_q, dropping_q;
  logic sop, forged;

  assign sop    = rx_flit_i.kind == FlitSop;
  assign forged = bind_i && rx_valid_i && rx_flit_i.kind == FlitData && word_q == '0 &&
                  rx_flit_i.data[SourceLsb+:7] != source_i;

  always_comb begin
    flit_o = rx_flit_i;
    if (bench_i && word_q == 3'd4 && rx_flit_i.kind == FlitData) flit_o.data = stamp_q;
    if (forged_q) flit_o.kind = FlitEdb;
  end
  assign valid_o = NumPorts'(rx_valid_i && (sop || !dropping_q)) << rx_id_i[IdxWidth-1:0];
  logic unused;
  assign unused = &{1'b0, rx_id_i};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q     <= '0;
      forged_q   <= 1'b0;
      dropping_q <= 1'b0;
      forged_o   <= 1'b0;
    end else begin
      forged_o <= forged;
      if (rx_valid_i) begin
        if (sop) word_q <= '0;
        else if (word_q != 3'd5) word_q <= word_q + 3'd1;
        forged_q   <= forged;
        dropping_q <= !sop && (dropping_q || forged_q);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rx_valid_i && sop) stamp_q <= stamp_i;
  end
endmodule
