// SPDX-License-Identifier: SHL-2.1
/// Reads of an AXI master whose page may be away: a beat that comes with SLVERR is requested again.
///
/// Bursts go to the port as they come. At a beat with SLVERR those that are open come back to
/// their ends and are dropped; Wait cycles later the first burst is requested again from that beat
/// on, and then those behind it. Reads change nothing, so what was dropped may be read twice; the
/// master gets each beat once.
///
///   Handshake   AXI4: valid/ready, held until taken
///   Ordering    one ID: beats in the order of AR, so a read is never older than the one before
///   Bursts      INCR of whole beats of the bus, aligned; a burst of one beat of any kind and size
///   Retries     Tries at most for each beat, behind its first access; then the beat goes to the
///               master with its error, and so do those of its burst that follow it. DECERR is not
///               tried again                     (proved: formal/ccix/ccix_retry_read.sby)
///   Latency     arvalid_i to arvalid_o 1 cycle; R 0 cycles
///   Throughput  a burst and a beat a cycle
///   Parameters  DataWidth 64..512; Bursts 2..64 open, a power of two; Tries 1..255; Wait 1..65535
///   Not done    several IDs; an order of reads and writes, which is the master's
module ccix_retry_read #(
  parameter  int unsigned DataWidth = 512,
  parameter  int unsigned Bursts    = 64,
  parameter  int unsigned Tries     = 63,
  parameter  int unsigned Wait      = 64
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // the master
  input  logic                 arvalid_i,
  output logic                 arready_o,
  input  axi_pkg::address_t    ar_i,
  output logic                 rvalid_o,
  input  logic                 rready_i,
  output logic [DataWidth-1:0] rdata_o,
  output logic [1:0]           rresp_o,
  output logic                 rlast_o,
  // the port
  output logic                 arvalid_o,
  input  logic                 arready_i,
  output axi_pkg::address_t    ar_o,
  input  logic                 rvalid_i,  // one answer a beat, in the order of arvalid_o
  output logic                 rready_o,
  input  logic [DataWidth-1:0] rdata_i,
  input  logic [1:0]           rresp_i,
  input  logic                 rlast_i,
  output logic                 retry_o  // strobe: the first burst is to be requested again
);
  if (Bursts < 2 || Bursts > 64 || (Bursts & (Bursts - 1)) != 0) begin : gen_bursts_check
    $error("ccix_retry_read: Bursts is %0d, legal is a power of two, 2..64", Bursts);
  end
  if (Tries < 1 || Tries > 255 || Wait < 1 || Wait > 65535) begin : gen_tries_check
    $error("ccix_retry_read: Tries is %0d, legal is 1..255; Wait is %0d, legal is 1..65535",
           Tries, Wait);
  end
  localparam int unsigned BeatLog2 = $clog2(DataWidth / 8);
  localparam int unsigned Index    = $clog2(Bursts);
  localparam int unsigned TryWidth = $clog2(Tries + 1);
  localparam int unsigned WaitWidth = $clog2(Wait + 1);
  localparam logic [1:0] SlvErr = 2'd2;
  typedef logic [Index:0] pointer_t;  // with a bit more than the ring has, for full and empty
  typedef enum logic [1:0] {
    Run,    // beats go to the master
    Drain,  // beats of what is open are dropped
    Pause   // until the next try
  } state_e;

  // ---------------------------------------------------------------- bursts of the master
  axi_pkg::address_t ring_q [Bursts];
  pointer_t head_q, tail_q, send_q;  // the first open one; behind the last; the next to the port
  logic offered_q, push, sent, first;
  logic [7:0] beats_q;  // of the first open one that the master has
  state_e state_q;
  assign arready_o = pointer_t'(tail_q - head_q) != pointer_t'(Bursts);
  assign push      = arvalid_i && arready_o;
  assign first     = send_q == head_q;
  assign arvalid_o = send_q != tail_q && (state_q == Run || offered_q);
  assign sent      = arvalid_o && arready_i;
  always_comb begin
    ar_o = ring_q[send_q[Index-1:0]];
    if (first && beats_q != '0) begin
      ar_o.addr[11:BeatLog2] = ar_o.addr[11:BeatLog2] + (12 - BeatLog2)'(beats_q);
      ar_o.len               = ar_o.len - beats_q;
    end
  end
  always_ff @(posedge clk_i) if (push) ring_q[tail_q[Index-1:0]] <= ar_i;

  // ---------------------------------------------------------------- beats
  logic [TryWidth-1:0] tries_q;  // of the next beat, that were answered with SLVERR
  logic [WaitWidth-1:0] wait_q;
  logic gave_q;                 // the rest of the first burst goes to the master as it comes
  pointer_t open_q;             // bursts at the port
  logic again, beat, burst, ended;
  assign again    = state_q == Run && rvalid_i && rresp_i == SlvErr && !gave_q &&
                    tries_q != TryWidth'(Tries);
  assign rvalid_o = state_q == Run && rvalid_i && !again;
  assign rready_o = state_q != Run || again || rready_i;
  assign rdata_o  = rdata_i;
  assign rresp_o  = rresp_i;
  assign rlast_o  = rlast_i;
  assign beat     = rvalid_o && rready_i;
  assign burst    = beat && rlast_i;
  assign ended    = rvalid_i && rready_o && rlast_i;
  assign retry_o  = again;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {head_q, tail_q, send_q, open_q} <= '0;
      {offered_q, gave_q, beats_q, tries_q, wait_q} <= '0;
      state_q <= Run;
    end else begin
      tail_q    <= tail_q + pointer_t'(push);
      head_q    <= head_q + pointer_t'(burst);
      send_q    <= send_q + pointer_t'(sent);
      open_q    <= open_q + pointer_t'(sent) - pointer_t'(ended);
      offered_q <= arvalid_o && !arready_i;
      if (beat) begin
        beats_q <= rlast_i ? '0 : beats_q + 8'd1;
        tries_q <= '0;
        gave_q  <= !rlast_i && (gave_q || rresp_i == SlvErr);
      end
      unique case (state_q)
        Drain: begin
          wait_q <= WaitWidth'(Wait - 1);
          if (open_q == '0 && !offered_q) state_q <= Pause;
        end
        Pause: begin
          wait_q <= wait_q - WaitWidth'(1);
          if (wait_q == '0) begin
            state_q <= Run;
            send_q  <= head_q;
          end
        end
        default: begin
          if (again) begin
            state_q <= Drain;
            tries_q <= tries_q + TryWidth'(1);
          end
        end
      endcase
    end
  end

  // What comes was requested, and each burst ends where it was to end.
  prim_assert u_open (.clk_i, .rst_ni, .ok_i(!rvalid_i || open_q != '0));
  prim_assert u_last (
    .clk_i, .rst_ni,
    .ok_i(!rvalid_o || rlast_i == (beats_q == ring_q[head_q[Index-1:0]].len))
  );
endmodule
