// SPDX-License-Identifier: SHL-2.1
/// Invalidations of an ATC: kept in order, each walked over the pages that its stores can have.
///
///   Contract    start_o: the invalidation vpn_o, log2_o begins; a translation that was requested
///               before may come from the old page table. Then per slot_i one page of each size,
///               index_o: hit_o[s] is written to the store of size s, or clear_o[s] empties it
///               whole where the invalidation has more of its pages than sets. end_o: no later
///               lookup finds an old translation, and none that did is in the pipe
///   Handshake   inv: valid/ready, held while NumInv wait. ready_i: all stores take an operation;
///               begin_i: an epoch is free to end with the invalidation
///   Latency     inv_valid_i to start_o 1 cycle; start_o to end_o the largest count of pages and 2
///   Parameters  NumInv a power of two from 2 on; Big, HugeLog2 and sets as atc
///   Not done    completion: it waits for uses of the old translation (atc_epochs)
module atc_invalidate #(
  parameter  int unsigned VpnWidth    = 36,
  parameter  int unsigned BigLog2     = 9,
  parameter  int unsigned HugeLog2    = 18,
  parameter  int unsigned BaseSets    = 32,
  parameter  int unsigned BigSets     = 8,
  parameter  int unsigned HugeSets    = 2,
  parameter  int unsigned NumInv      = 8,
  parameter  int unsigned InvTagWidth = 5,
  localparam int unsigned Log2Width   = $clog2(VpnWidth + 1),
  localparam int unsigned IndexWidth  = 13  // of a page of an invalidation: tag_store's most sets
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   inv_valid_i,
  output logic                   inv_ready_o,
  input  logic [VpnWidth-1:0]    inv_vpn_i,
  input  logic [Log2Width-1:0]   inv_log2_i,
  input  logic [InvTagWidth-1:0] inv_tag_i,
  input  logic                   ready_i,
  input  logic                   begin_i,
  input  logic                   slot_i,      // the stores take a page in this cycle
  output logic                   pending_o,   // some invalidation is not done
  output logic                   running_o,   // pages follow, one with each slot
  output logic [VpnWidth-1:0]    vpn_o,
  output logic [Log2Width-1:0]   log2_o,
  output logic [InvTagWidth-1:0] tag_o,
  output logic                   start_o,
  output logic [IndexWidth-1:0]  index_o,
  output logic [2:0]             hit_o,
  output logic [2:0]             clear_o,
  output logic                   end_o
);
  localparam int unsigned NumStores = 3;
  localparam int unsigned Shift [NumStores] = '{0, BigLog2, HugeLog2};
  localparam int unsigned Sets [NumStores] = '{BaseSets, BigSets, HugeSets};
  typedef enum logic [1:0] {InvIdle, InvRun, InvEnd} inv_e;
  typedef struct packed {
    logic [VpnWidth-1:0]    vpn;
    logic [Log2Width-1:0]   log2;
    logic [InvTagWidth-1:0] tag;
  } inv_t;
  inv_t inv;
  inv_e inv_q;
  logic inv_op, inv_last;
  logic [NumStores-1:0] inv_more, inv_clear;
  logic [IndexWidth-1:0] inv_index_q;
  fifo #(.Width($bits(inv_t)), .Depth(NumInv)) u_inv (
    .clk_i, .rst_ni, .clear_i(1'b0), .valid_i(inv_valid_i), .ready_o(inv_ready_o),
    .data_i({inv_vpn_i, inv_log2_i, inv_tag_i}), .valid_o(pending_o), .ready_i(end_o),
    .data_o(inv), .usage_o()
  );
  assign {vpn_o, log2_o, tag_o} = inv;
  assign running_o = inv_q == InvRun;
  assign start_o   = inv_q == InvIdle && pending_o && begin_i && ready_i;
  assign inv_op    = running_o && slot_i;
  assign inv_last  = inv_more == '0;
  assign end_o     = inv_q == InvEnd && ready_i;
  assign index_o   = inv_index_q;
  for (genvar s = 0; s < NumStores; s++) begin : gen_store
    logic [IndexWidth-1:0] count;  // pages of this size in the invalidation
    assign inv_clear[s] = inv.log2 > Log2Width'(Shift[s] + $clog2(Sets[s]));
    assign count        = inv.log2 <= Log2Width'(Shift[s]) ? 1 :
        IndexWidth'(1) << (inv.log2 - Log2Width'(Shift[s]));
    assign hit_o[s]     = inv_op && !inv_clear[s] && inv_index_q < count;
    assign inv_more[s]  = !inv_clear[s] && inv_index_q + 1'b1 < count;
    assign clear_o[s]   = inv_op && inv_clear[s] && inv_index_q == '0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inv_q       <= InvIdle;
      inv_index_q <= '0;
    end else begin
      case (inv_q)
        InvIdle: begin
          inv_index_q <= '0;
          if (start_o) inv_q <= InvRun;
        end
        InvRun: begin
          if (inv_op) begin
            inv_index_q <= inv_index_q + 1'b1;
            if (inv_last) inv_q <= InvEnd;
          end
        end
        default: if (end_o) inv_q <= InvIdle;
      endcase
    end
  end
endmodule
