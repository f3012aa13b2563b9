// SPDX-License-Identifier: SHL-2.1
/// Requests and answers of arp_ask, whatever the wire and the transmitter do.
///
///   Assumed   nothing of the bytes, their positions and the verdicts; done_i only while pending
///             (a frame begins at 12, and once more where 12 comes again: behind a tag)
///   Proved    an answer only to a request that was taken and has none, with its address; a frame
///             with a wrong byte at any of the places that are looked at gives none, nor does one
///             with another verdict than Other; a request is pending from when no reply is until it
///             is done, once each; the next one is taken only then. An answer has the last six
///             bytes of the sender's places; the request has the address that is asked for; idle_o
///             exactly while nothing is asked for, sent, reported or received
module arp_ask_props
  import arp_pkg::*;
  import eth_pkg::*;
(
  input logic         clk_i,
  input logic [31:0]  cfg_ip_i,
  input ask_t         ask_i,
  input byte_t        byte_i,
  input logic         verdict_valid_i,
  input eth_verdict_e verdict_i,
  input logic         busy_i,
  input logic         done_i,
  input logic [3:0]   addr_i,
  input logic [4:0]   place_i
);
  logic rst_ni;
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  logic        ask_ready, pending, select, idle, done;
  answer_t     answer;
  logic [7:0]  data;
  assign done = done_i && pending;

  arp_ask dut (
    .clk_i,
    .rst_ni,
    .cfg_ip_i,
    .ask_i,
    .ask_ready_o(ask_ready),
    .answer_o   (answer),
    .byte_i,
    .verdict_valid_i,
    .verdict_i,
    .busy_i,
    .pending_o  (pending),
    .done_i     (done),
    .addr_i,
    .select_o   (select),
    .data_o     (data),
    .idle_o     (idle)
  );

  // One of the places, and the byte that a reply has there.
  logic [4:0] place_q;
  logic [10:0] at;
  logic [7:0]  right;
  logic [31:0] asked_ip_q, own_q;
  always_comb begin
    unique case (place_q)
      5'd0:  {at, right} = {11'd12, 8'h08};
      5'd1:  {at, right} = {11'd13, 8'h06};
      5'd2:  {at, right} = {11'd14, 8'h00};
      5'd3:  {at, right} = {11'd15, 8'h01};
      5'd4:  {at, right} = {11'd16, 8'h08};
      5'd5:  {at, right} = {11'd17, 8'h00};
      5'd6:  {at, right} = {11'd18, 8'h06};
      5'd7:  {at, right} = {11'd19, 8'h04};
      5'd8:  {at, right} = {11'd20, 8'h00};
      5'd9:  {at, right} = {11'd21, 8'h02};
      5'd10: {at, right} = {11'd28, asked_ip_q[31:24]};
      5'd11: {at, right} = {11'd29, asked_ip_q[23:16]};
      5'd12: {at, right} = {11'd30, asked_ip_q[15:8]};
      5'd13: {at, right} = {11'd31, asked_ip_q[7:0]};
      5'd14: {at, right} = {11'd38, own_q[31:24]};
      5'd15: {at, right} = {11'd39, own_q[23:16]};
      5'd16: {at, right} = {11'd40, own_q[15:8]};
      default: {at, right} = {11'd41, own_q[7:0]};
    endcase
  end

  // Neither it nor the own address changes.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) own_q <= cfg_ip_i;
    if (!rst_ni) place_q <= place_i;
  end
  always_comb if (rst_ni) assume (cfg_ip_i == own_q);

  logic        open_q;       // a request without an answer
  logic        sending_q;    // a request that has not been sent
  logic        wrong_q;      // the place had another byte, or byte 12 came before the request
  logic        verdict_q;
  byte_t       byte_q;
  logic        pending_q, busy_q, done_q, waited_q;
  logic        take;
  logic        again_q;      // 12 came twice since the last 0
  logic [1:0]  came_q;
  logic [47:0] mac_q, mac1_q;   // the last bytes at places 22 to 27, now and a cycle ago
  logic [5:0]  had_q = '0, had1_q = '0;   // which of them have come
  logic [3:0]  addr_q;
  assign take = ask_i.valid && ask_ready;

  always_ff @(posedge clk_i) begin
    if (take) asked_ip_q <= ask_i.ip;
    if (byte_q.valid && byte_q.pos inside {[11'd22 : 11'd27]}) begin
      mac_q <= {mac_q[39:0], byte_q.data};
      had_q <= {had_q[4:0], 1'b1};
    end
    mac1_q <= mac_q;
    had1_q <= had_q;
    addr_q <= addr_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q    <= 1'b0;
      sending_q <= 1'b0;
      wrong_q   <= 1'b1;
      byte_q    <= '0;
      verdict_q <= 1'b0;
      pending_q <= 1'b0;
      busy_q    <= 1'b0;
      done_q    <= 1'b0;
      waited_q  <= 1'b0;
    end else begin
      byte_q    <= byte_i;
      verdict_q <= verdict_valid_i && verdict_i == VerdictOther && !wrong_q && !take && open_q;
      if (take) open_q <= 1'b1;
      else if (verdict_valid_i && verdict_i == VerdictOther && dut.match_q) open_q <= 1'b0;
      if (take) sending_q <= 1'b1;
      else if (done) sending_q <= 1'b0;
      if (byte_q.valid && byte_q.pos == 11'd12) wrong_q <= at == 11'd12 && byte_q.data != right;
      else if (take || (byte_q.valid && byte_q.pos == at && byte_q.data != right)) wrong_q <= 1'b1;
      pending_q <= pending;
      busy_q    <= busy_i;
      done_q    <= done;
      waited_q  <= sending_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      came_q  <= '0;
      again_q <= 1'b0;
    end else if (byte_q.valid) begin
      if (byte_q.pos == '0) came_q <= '0;
      else if (byte_q.pos == 11'd12 && came_q != '1) came_q <= came_q + 2'd1;
      again_q <= came_q == 2'd2;
    end
  end

  always_comb begin
    if (rst_ni) begin
      assert (dut.asked_q == open_q);
      assert (dut.byte_q == byte_q);
      if (open_q) assert (!dut.match_q || !wrong_q);
      if (open_q || sending_q) assert (dut.ip_q == asked_ip_q);
      // Answers
      if (answer.valid) begin
        assert (verdict_q);
        assert (answer.ip == asked_ip_q);
        for (int unsigned i = 0; i < 6; i++)
          if (had1_q[i]) assert (answer.mac[8*i +: 8] == mac1_q[8*i +: 8]);
      end
      // Requests
      assert (sending_q == (dut.wanted_q || pending));
      assert (!(dut.wanted_q && pending));
      assert (ask_ready == !sending_q);
      if (pending && !pending_q) assert (!busy_q && waited_q);
      if (pending_q && !pending) assert (done_q);
      if (done_q) assert (!pending);
      if (waited_q && !pending_q && !busy_q) assert (pending);
      assert (select == pending_q);
      if (waited_q)
        assert (data == (addr_q[3:2] == 2'd3 ? asked_ip_q[8*(3 - addr_q[1:0]) +: 8] : 8'hFF));
      assert (idle == (!sending_q && !answer.valid && !byte_q.valid && !ask_i.valid));
      // What makes the above inductive.
      for (int unsigned i = 0; i < 6; i++)
        if (had_q[i]) assert (dut.mac_q[8*i +: 8] == mac_q[8*i +: 8]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      cover (answer.valid);
      cover (answer.valid && again_q);
      cover (pending && busy_i);
    end
  end
endmodule
