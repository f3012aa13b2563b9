// SPDX-License-Identifier: SHL-2.1
/// Stands in for the soft processor of the published interface, which finds the buffer of each
/// datagram.
///
/// The processor is in the FPGA, so it is here and not in the world; what its program takes is no
/// gateware, so the times are inputs: the platform has them, from the document's own figures of the
/// two stages.
///
///   Handshake   req_valid_i is held until answer_valid_o, a strobe. taken_o: a strobe, the program
///               reads the request
///   Latency     to taken_o cfg_i.wake_min to wake_min + wake_span cycles, uniform; from there
///               work
///   Throughput  one request at a time, as one program
///   Parameters  Seed of the pseudo-random sequence, not 0
///   Not done    what the program computes: the address comes from the list, as in the other
///               profile
module nanet_firmware #(
  parameter logic [31:0] Seed = 32'h1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  nanet_pkg::firmware_t cfg_i,
  input  logic                 req_valid_i,
  output logic                 taken_o,
  output logic                 answer_valid_o,
  output logic                 idle_o  // nothing changes until an input does
);
  if (Seed == '0) begin : gen_seed_check
    $error("nanet_firmware: Seed is 0");
  end
  typedef enum logic [1:0] {
    StIdle,
    StWake,
    StWork
  } state_e;

  state_e state_q;
  logic [15:0] left_q;
  logic [31:0] random_q;
  /* verilator lint_off UNUSEDSIGNAL */  // the integer part is used
  logic [31:0] product;
  /* verilator lint_on UNUSEDSIGNAL */

  assign product = {16'd0, random_q[15:0]} * ({16'd0, cfg_i.wake_span} + 32'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      left_q   <= '0;
      random_q <= Seed;
    end else begin
      left_q <= left_q - 16'd1;
      unique case (state_q)
        StIdle: begin
          left_q <= cfg_i.wake_min + product[31:16];
          if (req_valid_i && !answer_valid_o) begin
            state_q  <= StWake;
            // x^32 + x^22 + x^2 + x + 1, 16 steps a request
            random_q <= step16(random_q);
          end
        end
        StWake: begin
          if (left_q <= 16'd1) begin
            state_q <= StWork;
            left_q  <= cfg_i.work;
          end
        end
        default: if (left_q <= 16'd1) state_q <= StIdle;
      endcase
    end
  end

  function automatic logic [31:0] step16(logic [31:0] from);
    logic [31:0] now;
    now = from;
    for (int unsigned i = 0; i < 16; i++) now = {now[30:0], now[31] ^ now[21] ^ now[1] ^ now[0]};
    return now;
  endfunction

  assign taken_o        = state_q == StWake && left_q <= 16'd1;
  assign answer_valid_o = state_q == StWork && left_q <= 16'd1;
  assign idle_o         = state_q == StIdle && !req_valid_i;
endmodule
