// SPDX-License-Identifier: SHL-2.1
/// Brings the boards' fragments of an event together, event by event in the order of numbers.
///
///   Handshake   fragment_* as nanet_fragments gives them; begin_* and event_* as nanet_record.
///               hit_valid_o is never stalled; the hits of an event come before event_valid_o
///   Order       a datagram has the events that are left of a packet of the board with the lowest
///               number, MergeEvents at most, one by one
///   Proved      a fragment is in the event of its number and time stamp, once, or it is counted as
///               late, repeated or other (formal/nanet/nanet_join.sby)
///   Waiting     an event waits for a board of which nothing is there: wait_i cycles at most, not
///               while another board's window is full, and not for a board of which nothing came
///               since it was waited for in vain. A board whose next event has a higher number has
///               none of this one
///   Time stamp  that of the lowest board's fragment counts; others are counted and left out
///   Numbers     one of the next Ahead is waited for; any other is late, so that a board with a
///               wrong number does not stop the rest. Where nothing but late fragments come, Lost
///               of them and from more than one board, the next number is taken as it is
///   Burst       behind a datagram with the last event of a burst any number may come, but those of
///               its last events, Tail at most, which are late; those too when for wait_i cycles
///               none of them came
///   Clear       clear_i ends the waiting, and behind the present datagram any number may come.
///               While clear_i is high and no datagram is open, fragments are dropped, as late
///   Latency     a hit 1 cycle; fragments that are there to event_valid_o their hits and 3 cycles,
///               and 1 for each board
///   Throughput  a hit a cycle
///   Parameters  NumPorts 2..4; Ahead, Tail and Lost, events and fragments
///   Not done    events of several bursts at a time
module nanet_join
  import nanet_pkg::*;
#(
  parameter int unsigned NumPorts = 4,
  parameter int unsigned Ahead    = 256,
  parameter int unsigned Tail     = 256,
  parameter int unsigned Lost     = 32
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          clear_i,           // forget which events have left
  input  logic          [31:0]          wait_i,
  input  logic          [NumPorts-1:0]  fragment_valid_i,
  output logic          [NumPorts-1:0]  fragment_ready_o,
  input  fragment_t     [NumPorts-1:0]  fragment_i,
  input  logic          [NumPorts-1:0]  full_i,
  output logic                          begin_valid_o,
  input  logic                          begin_ready_i,
  output event_number_t                 begin_number_o,
  output logic          [4:0]           begin_events_o,
  output logic                          event_valid_o,
  input  logic                          event_ready_i,
  output merged_t                       event_o,
  output logic                          hit_valid_o,
  output fragment_hit_t                 hit_o,
  output logic          [NumPorts-1:0]  late_o,            // strobes
  output logic          [NumPorts-1:0]  repeated_o,
  output logic          [NumPorts-1:0]  other_o,
  output logic          [NumPorts-1:0]  missing_o,
  output logic                          quiet_o,           // no datagram is open
  output logic                          idle_o
);
  localparam int unsigned PortW = $clog2(NumPorts);
  localparam int unsigned TailW = $clog2(Tail + 1);
  typedef logic [NumPorts-1:0] ports_t;
  typedef enum logic [2:0] {
    Idle,     // no datagram is open
    Begin,
    Collect,  // the next fragment of the event, or its end
    Take,     // its hits
    Settle,   // the last one goes to its place
    Leave
  } state_e;
  state_e state_q;
  logic open_q, burst_q;          // there is a present event; the burst ends with the datagram
  logic ended_q;                  // the burst has ended, and nothing came since
  logic [TailW-1:0] since_q;      // events since the burst began, Tail at most
  logic silent_q;                 // waited_q counts clocks in which nothing of its tail came
  logic clear_q, clear;           // to be cleared behind the datagram
  event_number_t present_q;       // in a datagram, else the next one
  logic [4:0] left_q;             // of the datagram, with the present one
  logic [PortW-1:0] port_q, first, lowest;
  ports_t taken_q, other_q, absent_q, given;
  logic [31:0] stamp_q, waited_q;
  logic stamped_q;

  // ---------------------------------------------------------------- fronts
  ports_t there, burst, take, drop, shut, late, hit_valid, hit_end, nothing, here;
  ports_t came, waits;
  event_number_t [NumPorts-1:0] number;
  logic [NumPorts-1:0][ 7:0] left;
  logic [NumPorts-1:0][31:0] stamp;
  fragment_hit_t [NumPorts-1:0] hit;
  logic leave, forget, settled, over, begins, astray, silent, timeout, tail_over;
  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_front
    nanet_front #(
      .Ahead(Ahead),
      .TailW(TailW)
    ) u_front (
      .clk_i,
      .rst_ni,
      .clear_i         (forget),
      .fragment_valid_i(fragment_valid_i[i]),
      .fragment_ready_o(fragment_ready_o[i]),
      .fragment_i      (fragment_i[i]),
      .open_i          (open_q),
      .any_i           (clear),
      .ended_i         (ended_q),
      .tail_i          (since_q),
      .present_i       (present_q),
      .leave_i         (leave),
      .given_i         (given[i]),
      .there_o         (there[i]),
      .number_o        (number[i]),
      .left_o          (left[i]),
      .stamp_o         (stamp[i]),
      .burst_o         (burst[i]),
      .take_i          (take[i]),
      .drop_i          (drop[i] || shut[i]),
      .hit_valid_o     (hit_valid[i]),
      .hit_o           (hit[i]),
      .hit_end_o       (hit_end[i]),
      .late_o          (late[i]),
      .repeated_o      (repeated_o[i]),
      .idle_o          (nothing[i])
    );
    assign take[i]  = state_q == Take && port_q == PortW'(i);
    assign here[i]  = there[i] && number[i] == present_q;
  end
  assign given  = taken_q | other_q;
  // A disabled list takes none of what comes.
  assign shut   = state_q == Idle && clear_i ? there : '0;
  assign late_o = late | shut;

  // ---------------------------------------------------------------- which one
  function automatic logic is_before(event_number_t one, event_number_t other);
    event_number_t less = one - other;
    logic unused;
    unused = ^less[22:0];
    return less[23];
  endfunction
  // The board with the lowest number begins; a fragment of the lowest board is taken first.
  always_comb begin
    lowest = '0;
    for (int unsigned i = 1; i < NumPorts; i++) begin
      if (there[i] && (!there[lowest] || is_before(number[i], number[lowest]))) begin
        lowest = PortW'(i);
      end
    end
    first = '0;
    for (int unsigned i = NumPorts; i > 0; i--) if (here[i-1]) first = PortW'(i - 1);
  end
  assign clear   = clear_i || clear_q;
  assign timeout = waited_q >= wait_i;
  assign over    = timeout || full_i != '0 || clear;
  assign came    = there | late_o | repeated_o;
  // A fragment whose heads are being read is waited for in any case.
  assign waits   = ~(there | given) & ~(nothing & (absent_q | {NumPorts{over}}));
  assign settled = waits == '0;
  logic same;
  assign same = !stamped_q || stamp[first] == stamp_q;
  always_comb begin
    drop = '0;
    if (state_q == Collect && here != '0 && !same) drop[first] = 1'b1;
  end
  assign leave     = state_q == Leave && event_ready_i;
  assign begins    = state_q == Idle && there != '0 && settled && !clear && !astray;
  assign silent    = state_q == Idle && ended_q && (&nothing);
  assign tail_over = silent && timeout;
  assign forget    = state_q == Idle && (clear || astray || tail_over || (ended_q && begins));
  assign other_o   = drop;
  assign missing_o = leave ? ~given : '0;

  // Fragments that were late since one was taken, and of which boards.
  logic [$clog2(Lost + 1)-1:0] lost_q;
  ports_t strays_q;
  assign astray = lost_q == ($bits(lost_q))'(Lost) && (strays_q & (strays_q - 1'b1)) != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lost_q   <= '0;
      strays_q <= '0;
    end else if (state_q == Take || forget) begin
      lost_q   <= '0;
      strays_q <= '0;
    end else if (late_o != '0) begin
      if (lost_q != ($bits(lost_q))'(Lost)) lost_q <= lost_q + 1'b1;
      strays_q <= strays_q | late_o;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      open_q    <= 1'b0;
      ended_q   <= 1'b0;
      clear_q   <= 1'b0;
      burst_q   <= 1'b0;
      present_q <= '0;
      left_q    <= '0;
      port_q    <= '0;
      taken_q   <= '0;
      other_q   <= '0;
      absent_q  <= '0;
      stamp_q   <= '0;
      stamped_q <= 1'b0;
      waited_q  <= '0;
      since_q   <= '0;
      silent_q  <= 1'b0;
    end else begin
      if (forget) since_q <= '0;
      else if (leave && since_q != TailW'(Tail)) since_q <= since_q + 1'b1;
      absent_q <= absent_q & ~came;
      if (state_q == Idle) clear_q <= 1'b0;
      else if (clear_i)    clear_q <= 1'b1;
      unique case (state_q)
        Idle: begin
          if (clear || astray || tail_over) begin
            open_q  <= 1'b0;
            ended_q <= 1'b0;
          end
          silent_q <= silent;
          if (silent != silent_q || (there == '0 && !silent)) waited_q <= '0;
          else if (!timeout) waited_q <= waited_q + 32'd1;
          if (begins) begin
            absent_q  <= ~came;
            present_q <= number[lowest];
            left_q    <= left[lowest] > 8'(MergeEvents) ? 5'(MergeEvents) : left[lowest][4:0];
            open_q    <= 1'b1;
            ended_q   <= 1'b0;
            burst_q   <= 1'b0;
            waited_q  <= '0;
            state_q   <= Begin;
          end
        end
        Begin: if (begin_ready_i) state_q <= Collect;
        Collect: begin
          if (here != '0) begin
            port_q <= first;
            if (same) begin
              stamp_q   <= stamp[first];
              stamped_q <= 1'b1;
              burst_q   <= burst_q || burst[first];
              state_q   <= Take;
            end else begin
              other_q[first] <= 1'b1;
            end
          end else if (settled) begin
            absent_q <= ~(came | given);
            state_q  <= Settle;
          end else if (!over) begin
            waited_q <= waited_q + 32'd1;
          end
        end
        Take: begin
          if (hit_end != '0) begin
            taken_q[port_q] <= 1'b1;
            state_q         <= Collect;
          end
        end
        Settle: state_q <= Leave;
        default: begin
          if (event_ready_i) begin
            present_q <= present_q + 24'd1;
            left_q    <= left_q - 5'd1;
            taken_q   <= '0;
            other_q   <= '0;
            stamped_q <= 1'b0;
            waited_q  <= '0;
            state_q   <= left_q == 5'd1 ? Idle : Collect;
            if (left_q == 5'd1 && burst_q) begin
              ended_q  <= 1'b1;
              absent_q <= '0;
            end
          end
        end
      endcase
    end
  end

  assign begin_valid_o  = state_q == Begin;
  assign begin_number_o = present_q;
  assign begin_events_o = left_q;
  assign event_valid_o  = state_q == Leave;
  assign event_o        = '{
      other: MergePorts'(other_q), boards: MergePorts'(taken_q), stamp: stamp_q
  };

  // ---------------------------------------------------------------- a hit
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) hit_valid_o <= 1'b0;
    else         hit_valid_o <= |(hit_valid & take);
  end
  always_ff @(posedge clk_i) hit_o <= hit[port_q];

  assign quiet_o = state_q == Idle;
  assign idle_o = state_q == Idle && (&nothing) && !hit_valid_o;
endmodule
