// SPDX-License-Identifier: SHL-2.1
/// crossbar_output: whole packets of one crosspoint at a time, no dead cycle, at most NumPorts-1
/// packets before one's turn, never a packet without room for a whole one; source_o is whose packet
/// it is. Where idle_o is high the next edge changes nothing,
/// and it is high where nothing can move.
module crossbar_output_props
  import link_pkg::*;
#(
  parameter int unsigned NumPorts = 4,
  parameter int unsigned MaxWords = 7,
  parameter int unsigned RoomLag  = 1,
  localparam int unsigned IdxWidth = $clog2(NumPorts)
) (
  input logic                clk_i,
  input logic                bench_i,
  input logic [31:0]         stamp_i,
  input logic [NumPorts-1:0] request_i,
  input logic [NumPorts-1:0] valid_i,
  input flit_t [NumPorts-1:0] flit_packed_i,
  input logic                tx_ready_i,
  input logic                up_i,
  input count_t              refund_i
);
  logic rst_ni;
  logic [NumPorts-1:0] take_o;
  logic tx_valid_o, idle_o;
  logic [IdxWidth-1:0] source_o;
  flit_t tx_flit_o;
  count_t room_i;
  flit_t flit_i [NumPorts];
  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_flit
    assign flit_i[i] = flit_packed_i[i];
  end

  crossbar_output #(
    .NumPorts(NumPorts),
    .MaxWords(MaxWords),
    .RoomLag (RoomLag)
  ) dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // ---------------------------------------------------------------- crosspoints
  logic [NumPorts-1:0] request_q, valid_q, take_q, ended_q;
  flit_t [NumPorts-1:0] flit_q;
  logic [NumPorts-1:0] ends;
  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_ends
    assign ends[i] = take_o[i] && flit_packed_i[i].kind != FlitData;
  end
  always_ff @(posedge clk_i) begin
    request_q <= rst_ni ? request_i : '0;
    valid_q   <= rst_ni ? valid_i : '0;
    flit_q    <= flit_packed_i;
    take_q    <= rst_ni ? take_o : '0;
    ended_q   <= rst_ni ? ends : '0;
  end
  for (genvar i = 0; i < int'(NumPorts); i++) begin : gen_crosspoint
    always_comb begin
      assume (flit_packed_i[i].kind != FlitSop);
      if (!started_q) assume (!request_i[i] && !valid_i[i]);
      // A packet that has begun is asked for until its end is taken.
      if (request_q[i] && !ended_q[i]) assume (request_i[i]);
      // A word is held until it is taken.
      if (valid_q[i] && !take_q[i]) assume (valid_i[i] && flit_packed_i[i] == flit_q[i]);
      // No word without its packet's request.
      if (valid_i[i]) assume (request_i[i]);
    end
  end

  // ---------------------------------------------------------------- far end
  // It takes when it likes and frees what it likes; packets have at most MaxWords data words.
  logic accepted, inside_q;
  count_t room_q;
  assign accepted = tx_valid_o && tx_ready_i;
  assign room_i   = room_q;
  logic [NumPorts-1:0] taken_data;
  count_t taken_q;  // data words of this packet that have left their crosspoint
  always_comb begin
    for (int unsigned i = 0; i < NumPorts; i++) begin
      taken_data[i] = take_o[i] && flit_packed_i[i].kind == FlitData;
    end
    if (taken_q == count_t'(MaxWords)) assume (taken_data == '0);
    assume (count_t'(room_q + refund_i) <= count_t'(DepthMax) &&
            count_t'(room_q + refund_i) >= room_q && refund_i <= count_t'(DepthMax));
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      room_q   <= '0;
      inside_q <= 1'b0;
      taken_q  <= '0;
    end else begin
      room_q <= room_q + refund_i - count_t'(accepted && tx_flit_o.kind != FlitSop);
      if (accepted) inside_q <= tx_flit_o.kind == FlitSop || tx_flit_o.kind == FlitData;
      if (taken_data != '0) taken_q <= taken_q + 1'b1;
      else if (take_o != '0) taken_q <= '0;
    end
  end

  // ---------------------------------------------------------------- what was before
  logic first_q, tx_valid_q, tx_ready_q, bench_q, room_ok, room_ok_q, nothing_q, idle_q, busy_q;
  logic [IdxWidth-1:0] source_q;
  flit_t tx_flit_q;
  logic [31:0] stamp_q;
  assign room_ok = up_i && room_i >= count_t'(MaxWords + 1 + RoomLag + 1);
  always_ff @(posedge clk_i) begin
    first_q    <= rst_ni;
    tx_valid_q <= tx_valid_o;
    tx_ready_q <= tx_ready_i;
    tx_flit_q  <= tx_flit_o;
    bench_q    <= bench_i;
    room_ok_q  <= rst_ni && room_ok;
    idle_q     <= rst_ni && idle_o;
    busy_q     <= dut.busy_q;
    source_q   <= source_o;
    // Nothing to put into a free slot: no packet that may begin, or no word of the one that has.
    nothing_q  <= dut.busy_q ? !valid_i[dut.source_q] : request_i == '0 || !room_ok_q;
    if (accepted && tx_flit_o.kind == FlitSop) stamp_q <= stamp_i;
  end

  // Any crosspoint: uninitialised and never changed.
  logic [IdxWidth-1:0] watch_q;
  always_ff @(posedge clk_i) watch_q <= watch_q;

  // The owner of the output, seen from outside: the first that is taken from,
  // until its end is taken.
  logic owned_q;
  logic [NumPorts-1:0] owner_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owned_q <= 1'b0;
      owner_q <= '0;
    end else if (take_o != '0) begin
      owned_q <= ends == '0;
      owner_q <= take_o;
    end
  end

  // Packets of others that began while the watched request was pending and its own had not begun.
  logic [IdxWidth:0] passed_q;
  logic waits;
  assign waits = request_i[watch_q] && !(dut.busy_q && dut.source_q == watch_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !waits || (dut.start && dut.pick[watch_q])) passed_q <= '0;
    else passed_q <= passed_q + (IdxWidth + 1)'(dut.start);
  end
  logic [IdxWidth-1:0] last_winner, distance;
  always_comb begin
    last_winner = IdxWidth'(NumPorts - 1);
    for (int unsigned i = 0; i < NumPorts; i++) begin
      if (dut.after_q[i]) last_winner = last_winner - 1'b1;
    end
  end
  assign distance = watch_q - last_winner - 1'b1;  // NumPorts is a power of two here

  always_comb begin
    if (started_q) begin
      // One owner at a time, and only what is there is taken.
      assert ((take_o & (take_o - 1'b1)) == '0);
      assert ((take_o & ~valid_i) == '0);
      if (owned_q && take_o != '0) assert (take_o == owner_q);
      // Whole packets: Sop, data, end, Sop; what is offered is held until it is taken.
      if (tx_valid_o) assert ((tx_flit_o.kind == FlitSop) == !inside_q);
      if (tx_valid_o && tx_flit_o.kind == FlitSop) assert (tx_flit_o.data == '0);
      if (first_q && tx_valid_q && !tx_ready_q) assert (tx_valid_o && tx_flit_o == tx_flit_q);
      // What is taken is offered next, unchanged but for the stamp, data word 5.
      for (int unsigned i = 0; i < NumPorts; i++) begin
        if (first_q && take_q[i]) begin
          assert (tx_valid_o && tx_flit_o.kind == flit_q[i].kind);
          if (bench_q && tx_flit_o.kind == FlitData && taken_q == count_t'(6))
            assert (tx_flit_o.data == stamp_q);
          else assert (tx_flit_o.data == flit_q[i].data);
        end
      end
      // Whose packet: from its Sop on, as long as its words are offered.
      for (int unsigned i = 0; i < NumPorts; i++) begin
        if (take_o[i]) assert (source_o == IdxWidth'(i));
        if (first_q && take_q[i]) assert (source_o == IdxWidth'(i));
      end
      if (first_q && source_o != source_q) begin
        assert (tx_valid_o && tx_flit_o.kind == FlitSop && (!tx_valid_q || tx_ready_q));
      end
      // Idle: the next edge changes nothing; and wherever nothing can move.
      if (idle_q) begin
        assert (tx_valid_o == tx_valid_q && source_o == source_q && dut.busy_q == busy_q);
        assert (!tx_valid_o || tx_flit_o == tx_flit_q);
      end
      if (idle_o) assert (take_o == '0 && !accepted && room_ok == room_ok_q);
      if (room_ok == room_ok_q && (tx_valid_o ? !tx_ready_i : valid_i == '0 &&
                                   (owned_q || request_i == '0))) begin
        assert (idle_o);
      end
      // No dead cycle: a slot stays empty only where there is nothing to put into it.
      if (first_q && (!tx_valid_q || tx_ready_q) && !tx_valid_o) assert (nothing_q);
      // A packet begins only with room for a whole one, whatever the far end's count lags.
      if (tx_valid_o && tx_flit_o.kind == FlitSop) assert (room_q >= count_t'(MaxWords + 1));
      // Fairness.
      assert (passed_q <= (IdxWidth + 1)'(NumPorts - 1));

      // Inductive strengthening.
      assert (inside_q == (tx_valid_o ? tx_flit_o.kind != FlitSop : dut.busy_q));
      if (tx_valid_o)
        assert (dut.busy_q == (tx_flit_o.kind == FlitSop || tx_flit_o.kind == FlitData));
      if (tx_valid_o && tx_flit_o.kind == FlitSop) assert (!owned_q && taken_q == '0);
      if (dut.busy_q) assert (request_i[dut.source_q]);
      if (dut.busy_q) assert (dut.select_q == NumPorts'(1) << dut.source_q);
      if (dut.busy_q) assert (dut.word_q == (taken_q > count_t'(6) ? 3'd6 : taken_q[2:0]));
      if (dut.busy_q && inside_q) assert (dut.stamp_q == stamp_q);
      if (owned_q) assert (dut.busy_q && owner_q == NumPorts'(1) << dut.source_q);
      if (dut.busy_q && !owned_q) assert (taken_q == '0);
      if (!dut.busy_q) assert (!owned_q && taken_q == '0);
      assert (taken_q <= count_t'(MaxWords) && room_q <= count_t'(DepthMax));
      assert (dut.room_q == room_ok_q);
      if (dut.room_q) assert (room_q >= count_t'(MaxWords + 1 + RoomLag));
      assert (((~dut.after_q) & ((~dut.after_q) + 1'b1)) == '0);
      if (dut.busy_q) assert (dut.source_q == last_winner);
      if (waits)
        assert (passed_q + (IdxWidth + 1)'(distance) <= (IdxWidth + 1)'(NumPorts - 1));

      cover (dut.start && dut.pick[watch_q] && passed_q == (IdxWidth + 1)'(NumPorts - 1));
      cover (accepted && tx_flit_o.kind == FlitEdb && room_q < count_t'(MaxWords + 1));
      cover (bench_q && first_q && take_q != '0 && tx_flit_o.kind == FlitData &&
             taken_q == count_t'(6));
    end
  end
endmodule
