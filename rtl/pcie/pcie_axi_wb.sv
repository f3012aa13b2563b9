// SPDX-License-Identifier: SHL-2.1
/// AXI4 slave, 64 bits, onto a Wishbone of 32: each lane of 4 bytes of each beat is one operation.
///
///   AXI         one burst at a time, writes first; INCR, beats of 1..8 bytes. A beat of 8 bytes is
///               two operations, the lower address first; a lane of a write without strobes makes
///               none. A burst with an operation answered err gets SLVERR, and such a read all ones
///   Wishbone    B4 pipelined, one operation at a time; cyc only for that operation; the bus must
///               always answer: put wb_timeout behind it if a slave may not answer
///   Latency     address accepted to stb 1 clock (read; write: from its first beat), answer to
///               rvalid 1
///   Throughput  an operation every 2 clocks and the slave's latency
///   Parameters  AddrWidth 4..32, of the BAR's addresses
///   Not done    WRAP and FIXED bursts: treated as INCR
module pcie_axi_wb #(
  parameter int unsigned AddrWidth = 17
) (
  input logic clk_i,
  input logic rst_ni,

  input  axi_pkg::bar_request_t  bar_i,  // AXI4 requests, valid/ready; of a byte
  output axi_pkg::bar_response_t bar_o,  // answers, each with its id: 0 OKAY, 2 SLVERR

  output logic                 wb_cyc_o,  // wb_*: Wishbone B4 pipelined, taken at cyc&stb&~stall
  output logic                 wb_stb_o,
  output logic                 wb_we_o,
  output logic [AddrWidth-1:0] wb_adr_o,  // of a byte; bits 1:0 are 0
  output logic [3:0]           wb_sel_o,  // bit n: byte in bits 8n+7:8n
  output logic [31:0]          wb_dat_o,
  input  logic                 wb_stall_i,
  input  logic                 wb_ack_i,  // one ack or err for each operation
  input  logic                 wb_err_i,  // instead of wb_ack_i: SLVERR to the host
  input  logic [31:0]          wb_dat_i,

  output logic idle_o  // nothing changes until an input does
);
  if (AddrWidth < 4 || AddrWidth > 32) begin : gen_addr_check
    $error("pcie_axi_wb: AddrWidth is %0d, legal is 4..32", AddrWidth);
  end

  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  typedef enum logic [2:0] {
    StIdle,
    StBeat,    // wait for a beat of the write
    StAsk,     // operation on the bus
    StAnswer,
    StRead,    // beat of the read on offer
    StWritten  // response on offer
  } state_e;

  state_e state_q;
  logic write_q, last_q, failed_q;
  logic [1:0] lanes_q;  // still to do in this beat
  logic [AddrWidth-1:3] addr_q;
  logic addr2_q;        // lower end of a beat narrower than 8 bytes
  logic [2:0] size_q;
  logic [7:0] beats_q;
  logic [7:0] strb_q;
  logic [63:0] data_q;
  logic [3:0] id_q;
  logic [AddrWidth-1:0] beat_step;  // sub-word position included, so that narrow bursts advance
  logic [1:0] low_q;

  // Lanes of a read's beat that begins at `upper`.
  function automatic logic [1:0] read_lanes(logic [2:0] size, logic upper);
    if (size == 3'd3) return upper ? 2'b10 : 2'b11;
    return upper ? 2'b10 : 2'b01;
  endfunction

  logic answered, done;
  logic [1:0] write_lanes, lanes_d;
  assign answered    = wb_ack_i || wb_err_i;
  assign write_lanes = {bar_i.wstrb[7:4] != '0, bar_i.wstrb[3:0] != '0};
  assign lanes_d     = lanes_q[0] ? {lanes_q[1], 1'b0} : 2'b00;
  assign done        = lanes_d == '0;
  // Address of the next beat: that of this one, rounded down to its size, and its size.
  assign beat_step = ({addr_q, addr2_q, low_q} >> size_q << size_q) + (AddrWidth'(1) << size_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      write_q  <= 1'b0;
      last_q   <= 1'b0;
      failed_q <= 1'b0;
      lanes_q  <= '0;
    end else begin
      unique case (state_q)
        StIdle: begin
          failed_q <= 1'b0;
          write_q  <= bar_i.awvalid;
          if (bar_i.awvalid) begin
            state_q <= StBeat;
          end else if (bar_i.arvalid) begin
            state_q <= StAsk;
            lanes_q <= read_lanes(bar_i.arsize, bar_i.araddr[2]);
          end
        end
        StBeat: begin
          if (bar_i.wvalid) begin
            last_q  <= bar_i.wlast;
            lanes_q <= write_lanes;
            state_q <= write_lanes != '0 ? StAsk : bar_i.wlast ? StWritten : StBeat;
          end
        end
        StAsk: if (!wb_stall_i) state_q <= StAnswer;
        StAnswer: begin
          if (answered) begin
            lanes_q <= lanes_d;
            if (wb_err_i) failed_q <= 1'b1;
            if (!done) state_q <= StAsk;
            else if (!write_q) state_q <= StRead;
            else state_q <= last_q ? StWritten : StBeat;
          end
        end
        StRead: begin
          if (bar_i.rready) begin
            failed_q <= 1'b0;
            state_q  <= beats_q == '0 ? StIdle : StAsk;
            lanes_q  <= read_lanes(size_q, beat_step[2]);
          end
        end
        default: if (bar_i.bready) state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      {addr_q, addr2_q, low_q} <= bar_i.awvalid ? bar_i.awaddr[AddrWidth-1:0] :
                                                      bar_i.araddr[AddrWidth-1:0];
      size_q                   <= bar_i.awvalid ? bar_i.awsize : bar_i.arsize;
      id_q                     <= bar_i.awvalid ? bar_i.awid : bar_i.arid;
      beats_q                  <= bar_i.arlen;
    end
    if (state_q == StBeat && bar_i.wvalid) begin
      data_q <= bar_i.wdata;
      strb_q <= bar_i.wstrb;
    end
    if (state_q == StAnswer && answered && !write_q) begin
      if (lanes_q[0]) data_q[31:0] <= wb_err_i ? '1 : wb_dat_i;
      else data_q[63:32] <= wb_err_i ? '1 : wb_dat_i;
    end
    if (state_q == StBeat && bar_i.wvalid && write_lanes == '0) begin
      {addr_q, addr2_q, low_q} <= beat_step;
    end
    if (state_q == StAnswer && answered && done && write_q) {addr_q, addr2_q, low_q} <= beat_step;
    if (state_q == StRead && bar_i.rready) begin
      {addr_q, addr2_q, low_q} <= beat_step;
      beats_q                  <= beats_q - 8'd1;
    end
  end

  assign bar_o.awready = state_q == StIdle;
  assign bar_o.arready = state_q == StIdle && !bar_i.awvalid;
  assign bar_o.wready  = state_q == StBeat;
  assign bar_o.bvalid  = state_q == StWritten;
  assign bar_o.bid     = id_q;
  assign bar_o.bresp   = failed_q ? SlvErr : Okay;
  assign bar_o.rvalid  = state_q == StRead;
  assign bar_o.rid     = id_q;
  assign bar_o.rdata   = data_q;
  assign bar_o.rresp   = failed_q ? SlvErr : Okay;
  assign bar_o.rlast   = beats_q == '0;

  assign wb_cyc_o = state_q == StAsk || state_q == StAnswer;
  assign wb_stb_o = state_q == StAsk;
  assign wb_we_o  = write_q;
  assign wb_adr_o = {addr_q, !lanes_q[0], 2'b00};
  assign wb_sel_o = !write_q ? 4'hF : lanes_q[0] ? strb_q[3:0] : strb_q[7:4];
  assign wb_dat_o = lanes_q[0] ? data_q[31:0] : data_q[63:32];
  assign idle_o   = state_q == StIdle;

  if (AddrWidth < 32) begin : gen_unused
    logic unused;
    assign unused = ^{bar_i.awaddr[31:AddrWidth], bar_i.araddr[31:AddrWidth]};
  end
endmodule
