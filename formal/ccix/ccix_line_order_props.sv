// SPDX-License-Identifier: SHL-2.1
/// ccix_line_order: a request of any watched line is taken only in a cycle by whose end all older
/// ones of the line have their answers. So answers are in the order of the requests, with any
/// answers of a translation cache that are not of the cycle behind the lookup. What is said to hit
/// does hit.
///
/// The translation cache: a set of pages that hit, by kind of access, which changes as it likes but
/// in no cycle in which lookups are taken. Tags and pages are all alike to the module: 8 tags and 4
/// pages stand for all.
module ccix_line_order_props
  import ccix_pkg::*;
(
  input logic       clk_i,
  input logic       atc_ready_i,
  input logic       req_valid_i,
  input logic       req_write_i,
  input index_t     req_index_i,
  input logic [7:0] req_tag_i,
  input logic       answer_i,
  input logic       answer_ok_i,
  input logic [7:0] answer_tag_i,
  input logic [7:0] stored_i  // pages that hit, reads and writes
);
  logic rst_ni, hold_o, take_i;
  assign take_i = req_valid_i && atc_ready_i && !hold_o;
  ccix_line_order dut (.*);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  assign rst_ni = started_q;

  // Any constant.
  index_t line_q;
  always_ff @(posedge clk_i) line_q <= line_q;
  function automatic logic [5:0] bucket_of(index_t index);
    return index[5:0] ^ index[11:6];
  endfunction

  // ------------------------------------------------------------ the translation cache
  logic [7:0] stored_q;
  logic taken_q, last_hits_q, last_mine_q;
  logic [7:0] last_tag_q, open_q;  // tags of requests that wait: taken, and not in the last cycle
  logic [2:0] place;
  assign place = {req_index_i[7:6], req_write_i};
  always_ff @(posedge clk_i) begin
    if (!atc_ready_i) stored_q <= stored_i;
    taken_q     <= started_q && take_i;
    last_hits_q <= stored_q[place];
    last_tag_q  <= req_tag_i;
    last_mine_q <= req_index_i == line_q;
    if (!started_q) begin
      open_q <= '0;
    end else if (taken_q) begin
      if (!answer_i) open_q[last_tag_q[2:0]] <= 1'b1;
    end else if (answer_i) begin
      open_q[answer_tag_i[2:0]] <= 1'b0;
    end
  end
  // Of the watched line one waits.
  logic mine_q;
  logic [2:0] mine_tag_q;
  always_ff @(posedge clk_i) begin
    if (!started_q) begin
      mine_q <= 1'b0;
    end else if (taken_q && last_mine_q && !answer_i) begin
      mine_q     <= 1'b1;
      mine_tag_q <= last_tag_q[2:0];
    end else if (!taken_q && answer_i && answer_tag_i[2:0] == mine_tag_q) begin
      mine_q <= 1'b0;
    end
  end

  always_comb begin
    if (started_q) begin
      assume (req_tag_i < 8'd8 && answer_tag_i < 8'd8 && req_index_i[IndexWidth-1:8] == '0);
      if (req_valid_i) assume (!open_q[req_tag_i[2:0]] && !(taken_q && req_tag_i == last_tag_q));
      if (taken_q) begin
        assume (!answer_i || answer_tag_i == last_tag_q);
        assume ((answer_i && answer_ok_i) == last_hits_q);
      end else if (answer_i) begin
        assume (open_q[answer_tag_i[2:0]]);
      end

      // What is proved.
      if (take_i && req_index_i == line_q) begin
        assert (!mine_q && !(taken_q && last_mine_q && !answer_i));
      end
      if (taken_q && last_mine_q && !answer_i) assert (!mine_q);

      // What makes it inductive.
      assert (dut.taken_q == taken_q);
      if (taken_q) begin
        assert (last_tag_q < 8'd8 && dut.page_q[IndexWidth-7:2] == '0);
        assert (!open_q[last_tag_q[2:0]]);
        assert (dut.bucket_q[last_tag_q] == dut.last_q);
        if (last_mine_q) assert (dut.last_q == bucket_of(line_q));
        assert (last_hits_q == stored_q[{dut.page_q[1:0], dut.write_q}]);
        assert (!dut.sure_q || last_hits_q);
        assert (!dut.waits_q[dut.last_q]);
      end
      assert (taken_q || !dut.sure_q);
      if (dut.known_q) begin
        assert (dut.known_page_q[IndexWidth-7:2] == '0);
        assert (stored_q[{dut.known_page_q[1:0], dut.known_write_q}]);
      end
      for (int unsigned a = 0; a < 8; a++) begin
        if (open_q[a]) begin
          assert (dut.waits_q[dut.bucket_q[a]]);
          for (int unsigned b = 0; b < a; b++) begin
            if (open_q[b]) assert (dut.bucket_q[a] != dut.bucket_q[b]);
          end
        end
      end
      if (mine_q) assert (open_q[mine_tag_q] && dut.bucket_q[mine_tag_q] == bucket_of(line_q));
      cover (taken_q && dut.sure_q && take_i && last_mine_q && req_index_i == line_q);
      cover (mine_q && answer_i && answer_tag_i[2:0] == mine_tag_q);
      cover (mine_q && taken_q && answer_i);
    end
  end
endmodule
