// SPDX-License-Identifier: SHL-2.1
/// Buffered crossbar: every input has a buffer of its own in front of every output.
///
///   Inputs      rx_valid_i, rx_flit_i: packets (Sop, data, end) for output rx_id_i, not stalled;
///               the sender keeps to the room that is left of Depth - stored_o
///   Outputs     tx_*: packets for the link, see crossbar_output; up_i, room_i: the far end's
///   Source      bind_i, source_i, forged_o: see crossbar_input
///   Credit      stored_o[i][o]: words in the buffer from input i to output o
///   Ordering    packets of one input to one output leave in the order in which they came, whole
///   Isolation   a stopped output stops no other one: only its own buffers fill
///   Latency     Sop at rx_flit_i to Sop at tx_flit_o 3 cycles, idle crossbar with room
///   Throughput  each input and each output one word a cycle, no speed-up inside
///   Fairness    round robin by packet at each output, see crossbar_output
///   Memory      NumPorts^2 block RAMs of Depth x 36
///   Parameters  NumPorts 2..64, Depth 2..512, MaxWords 1..Depth-1
///   Not done    multicast, priorities, virtual channels
module crossbar
  import link_pkg::*;
#(
  parameter  int unsigned NumPorts = 8,
  parameter  int unsigned Depth    = 512,
  parameter  int unsigned MaxWords = 128,
  parameter  int unsigned RoomLag  = 1,
  localparam int unsigned IdxWidth = $clog2(NumPorts)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                bench_i,  // data words 4 and 5 become time stamps
  input  logic                bind_i,
  input  logic [6:0]          source_i [NumPorts],
  input  logic [31:0]         time_i,  // cycles of clk_i, for the stamps
  input  logic [NumPorts-1:0] rx_valid_i,
  input  flit_t               rx_flit_i [NumPorts],
  input  id_t                 rx_id_i   [NumPorts],
  output count_t [NumPorts-1:0] stored_o [NumPorts],
  output logic [NumPorts-1:0] forged_o,
  output logic [NumPorts-1:0] refused_o,  // a packet did not fit: its sender broke the credit rules
  input  logic [NumPorts-1:0] up_i,
  input  count_t              room_i    [NumPorts],
  output logic [NumPorts-1:0] tx_valid_o,
  input  logic [NumPorts-1:0] tx_ready_i,
  output flit_t               tx_flit_o [NumPorts],
  output logic [IdxWidth-1:0] source_o  [NumPorts],  // input of the packet that tx_flit_o is of
  output logic                idle_o                 // nothing changes until an input does
);
  // Indexed [input][output] where a word enters, [output][input] where it leaves.
  logic [NumPorts-1:0] write   [NumPorts];
  logic [NumPorts-1:0] take    [NumPorts];
  logic [NumPorts-1:0] request [NumPorts];
  logic [NumPorts-1:0] valid   [NumPorts];
  logic [NumPorts-1:0] refused [NumPorts];
  logic [NumPorts-1:0] at_rest [NumPorts];
  flit_t entry [NumPorts];
  flit_t head [NumPorts][NumPorts];
  logic [NumPorts-1:0] row_idle, column_idle;

  // A Sop that comes or goes now: when it was, or will be, on the pins.
  logic [31:0] entered, leaves;
  assign entered = time_i - 32'(RxLatency);
  assign leaves  = time_i + 32'(TxLatency);

  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_input
    crossbar_input #(
      .NumPorts(NumPorts)
    ) u_input (
      .clk_i,
      .rst_ni,
      .bench_i,
      .bind_i,
      .source_i  (source_i[i]),
      .stamp_i   (entered),
      .rx_valid_i(rx_valid_i[i]),
      .rx_flit_i (rx_flit_i[i]),
      .rx_id_i   (rx_id_i[i]),
      .valid_o   (write[i]),
      .flit_o    (entry[i]),
      .forged_o  (forged_o[i])
    );
    for (genvar o = 0; o < int'(NumPorts); o++) begin : gen_crosspoint
      crosspoint #(
        .Depth(Depth)
      ) u_crosspoint (
        .clk_i,
        .rst_ni,
        .valid_i  (write[i][o]),
        .flit_i   (entry[i]),
        .stored_o (stored_o[i][o]),
        .refused_o(refused[i][o]),
        .request_o(request[o][i]),
        .valid_o  (valid[o][i]),
        .flit_o   (head[o][i]),
        .take_i   (take[o][i]),
        .idle_o   (at_rest[i][o])
      );
    end
    assign refused_o[i] = refused[i] != '0;
    assign row_idle[i]  = !rx_valid_i[i] && !forged_o[i] && at_rest[i] == '1;
  end

  for (genvar o = 0; o < int'(NumPorts); o++) begin : gen_output
    crossbar_output #(
      .NumPorts(NumPorts),
      .MaxWords(MaxWords),
      .RoomLag (RoomLag)
    ) u_output (
      .clk_i,
      .rst_ni,
      .bench_i,
      .stamp_i   (leaves),
      .request_i (request[o]),
      .valid_i   (valid[o]),
      .flit_i    (head[o]),
      .take_o    (take[o]),
      .up_i      (up_i[o]),
      .room_i    (room_i[o]),
      .tx_valid_o(tx_valid_o[o]),
      .tx_ready_i(tx_ready_i[o]),
      .tx_flit_o (tx_flit_o[o]),
      .source_o  (source_o[o]),
      .idle_o    (column_idle[o])
    );
  end

  assign idle_o = row_idle == '1 && column_idle == '1;
endmodule
