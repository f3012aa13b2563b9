// SPDX-License-Identifier: SHL-2.1
/// ccix_credits between a sender that takes a credit whenever it likes and has one, and a home with
/// any number of places, that gives back any number of free ones at any time: credits are places,
/// none is lost or made. A second one has a home that gives what it likes: what is too much is
/// reported, for good, and changes nothing.
module ccix_credits_props #(
  parameter int unsigned Most = 128
) (
  input logic       clk_i,
  input logic [7:0] give_i,
  input logic       take_i,
  input logic [7:0] wrong_give_i,
  input logic       wrong_take_i,
  input logic       release_i
);
  // Any constant.
  logic [7:0] total;
  always_ff @(posedge clk_i) total <= total;
  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic some_o, fail_o;
  logic [7:0] count_o;
  ccix_credits #(.Most(Most)) dut (.*);

  // The home: places that it has not given, and places in use.
  logic [8:0] free_q, used_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      free_q <= 9'(total);
      used_q <= '0;
    end else begin
      free_q <= free_q - 9'(give_i) + 9'(release_i);
      used_q <= used_q + 9'(take_i) - 9'(release_i);
    end
  end
  logic wrong_some, wrong_fail, wrong_q;
  logic [7:0] wrong_count;
  ccix_credits #(.Most(Most)) u_wrong (
    .clk_i,
    .rst_ni,
    .give_i (wrong_give_i),
    .take_i (wrong_take_i),
    .some_o (wrong_some),
    .count_o(wrong_count),
    .fail_o (wrong_fail)
  );
  logic [9:0] places_q, places;
  assign places = places_q + 10'(wrong_give_i) - 10'(wrong_take_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      places_q <= '0;
      wrong_q  <= 1'b0;
    end else if (places <= 10'(Most)) begin
      places_q <= places;
    end else begin
      wrong_q <= 1'b1;
    end
  end

  always_comb begin
    assume (!wrong_take_i || wrong_some);
    assume (total <= 8'(Most));
    assume (9'(give_i) <= free_q);
    assume (!release_i || used_q != '0);
    assume (!take_i || some_o);
    if (rst_ni) begin
      conserved : assert (10'(free_q) + 10'(used_q) + 10'(count_o) == 10'(total));
      no_more_than_places : assert (9'(count_o) <= 9'(total) && used_q <= 9'(total));
      never_fails : assert (!fail_o);
      usable : assert (some_o == (count_o != '0));
      too_much_is_told : assert (wrong_fail == wrong_q);
      too_much_changes_nothing : assert (10'(wrong_count) == places_q && places_q <= 10'(Most));
      wrong_usable : assert (wrong_some == (places_q != '0));
    end
    told : cover (rst_ni && wrong_fail && wrong_count == 8'd5);
    all_out : cover (rst_ni && used_q == 9'd3 && total == 8'd3);
    returned : cover (rst_ni && used_q == '0 && total == 8'd2 && count_o == 8'd2 && take_i);
  end
endmodule
