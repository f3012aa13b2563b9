// SPDX-License-Identifier: SHL-2.1
/// Translations of an ATC in flight: requested from the host, and kept until no lookup waits for
/// them.
///
///   Contract    alloc_i requests the block of look_vpn_i, in free_miss_o. match_*: one that is in
///               flight and fits the lookup. cpl_*_o: a page that came, a cycle later, for the
///               stores where fill_o. done_o: those that came; they stay while awaited_i or their
///               fault waits. drain_*: the outcome of the lookup look_* in the translation
///               drain_miss_i; drain_i: it is the answer, and a fault is reported. inv_start_i:
///               what is in flight of these pages is dropped, and asked for again where it is
///               awaited
///   Handshake   ask, fault: valid/ready. cpl: a sink
///   Fairness    requests and faults: round robin
///   Latency     alloc_i to ask_valid_o 1 cycle; cpl_valid_i to fill_o 1, to done_o 2
///   Parameters  as atc
///   Not done    joining a translation that has come: what it found is stored, and a fault would
///               stay for as long as lookups of its block come
module atc_misses
  import svm_pkg::*;
#(
  parameter  int unsigned VpnWidth  = 36,
  parameter  int unsigned PpnWidth  = 36,
  parameter  int unsigned BigLog2   = 9,
  parameter  int unsigned HugeLog2  = 18,
  parameter  int unsigned NumMiss   = 8,
  parameter  int unsigned PagesLog2 = 0,
  localparam int unsigned MissWidth = NumMiss > 1 ? $clog2(NumMiss) : 1,
  localparam int unsigned PageWidth = PagesLog2 > 0 ? PagesLog2 : 1,
  localparam int unsigned Log2Width = $clog2(VpnWidth + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // completions, and what they give the stores
  input  logic                 cpl_valid_i,
  input  logic [MissWidth-1:0] cpl_id_i,
  input  logic                 cpl_last_i,
  input  page_t                cpl_page_i,
  input  logic [PageWidth-1:0] cpl_number_i,  // of the page in its block
  input  logic [PpnWidth-1:0]  cpl_ppn_i,
  output logic                 cpl_o,         // a page is here
  output logic                 fill_o,        // and is stored
  output page_t                fill_page_o,
  output logic [VpnWidth-1:0]  fill_vpn_o,
  output logic [PpnWidth-1:0]  fill_ppn_o,
  input  logic                 inv_start_i,
  input  logic [VpnWidth-1:0]  inv_vpn_i,
  input  logic [Log2Width-1:0] inv_log2_i,
  // the lookup in the second cycle
  input  logic [VpnWidth-1:0]  look_vpn_i,
  input  logic                 look_write_i,
  output logic                 match_some_o,
  output logic [MissWidth-1:0] match_miss_o,
  input  logic                 alloc_i,
  output logic [NumMiss-1:0]   free_o,
  output logic [MissWidth-1:0] free_miss_o,
  output logic [NumMiss-1:0]   done_o,
  input  logic [NumMiss-1:0]   awaited_i,
  input  logic                 drain_i,
  input  logic [MissWidth-1:0] drain_miss_i,
  output status_e              drain_status_o,
  output logic [PpnWidth-1:0]  drain_ppn_o,
  output logic                 ask_valid_o,
  input  logic                 ask_ready_i,
  output logic [MissWidth-1:0] ask_id_o,
  output logic [VpnWidth-1:0]  ask_vpn_o,
  output logic                 ask_write_o,
  output logic                 fault_valid_o,
  input  logic                 fault_ready_i,
  output logic [VpnWidth-1:0]  fault_vpn_o,
  output logic                 fault_write_o
);
  if (NumMiss < 1 || NumMiss > 64) begin : gen_miss_check
    $error("atc_misses: NumMiss is %0d, legal is 1..64", NumMiss);
  end
  localparam int unsigned NumStores = 3;
  typedef logic [VpnWidth-1:0] vpn_t;
  typedef logic [PpnWidth-1:0] ppn_t;
  typedef logic [MissWidth-1:0] miss_t;
  typedef logic [PageWidth-1:0] number_t;
  typedef logic [MissWidth+PagesLog2-1:0] place_t;
  typedef struct packed {
    page_size_e size;
    ppn_t       ppn;
    logic       read;
    logic       write;
  } result_t;
  typedef enum logic [1:0] {MissFree, MissAsk, MissWait, MissDone} miss_e;

  function automatic place_t place_of(miss_t id, number_t page);
    return PagesLog2 > 0 ? place_t'({id, page}) : place_t'(id);
  endfunction
  function automatic vpn_t block_of(vpn_t vpn);
    return vpn >> PagesLog2 << PagesLog2;
  endfunction
  function automatic ppn_t frame_of(page_size_e size, ppn_t ppn, logic [HugeLog2-1:0] low);
    case (size)
      SizeBig:  return {ppn[PpnWidth-1:BigLog2], low[BigLog2-1:0]};
      SizeHuge: return {ppn[PpnWidth-1:HugeLog2], low};
      default:  return ppn;
    endcase
  endfunction

  miss_e   [NumMiss-1:0] miss_state_q;
  vpn_t    [NumMiss-1:0] miss_block_q;
  logic    [NumMiss-1:0] miss_write_q, miss_large_q, miss_fault_q;
  logic    [NumMiss-1:0][(1<<PagesLog2)-1:0] miss_got_q;
  // The page of each size around the block was invalidated since it was asked for. Bit 3: unused.
  logic    [NumMiss-1:0][NumStores:0] miss_stale_q;
  vpn_t    [NumMiss-1:0] fault_vpn_q;
  logic    [NumMiss-1:0] fault_write_q;
  result_t result_q [NumMiss << PagesLog2];

  // ---------------------------------------------------------------- completions: registered
  logic    cpl_q, cpl_last_q, cpl_stale, cpl_keep;
  miss_t   cpl_id_q;
  number_t cpl_page_q;
  result_t cpl_result_q;
  vpn_t    cpl_vpn;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cpl_q <= 1'b0;
    else cpl_q <= cpl_valid_i;
  end
  always_ff @(posedge clk_i) begin
    cpl_id_q     <= cpl_id_i;
    cpl_last_q   <= cpl_last_i;
    cpl_page_q   <= PagesLog2 > 0 && cpl_page_i.size == SizeBase ? cpl_number_i : '0;
    cpl_result_q <= '{size: cpl_page_i.size, ppn: cpl_ppn_i, read: cpl_page_i.read,
                      write: cpl_page_i.write};
  end
  // What it says may be older than an invalidation of that page.
  assign cpl_stale   = miss_stale_q[cpl_id_q][cpl_result_q.size];
  assign cpl_keep    = cpl_q && !cpl_stale && (cpl_result_q.read || cpl_result_q.write);
  assign cpl_vpn     = miss_block_q[cpl_id_q] | vpn_t'(cpl_page_q);
  assign cpl_o       = cpl_q;
  assign fill_o      = cpl_keep;
  assign fill_page_o = '{size: cpl_result_q.size, read: cpl_result_q.read,
                         write: cpl_result_q.write};
  assign fill_vpn_o  = cpl_vpn;
  assign fill_ppn_o  = cpl_result_q.ppn;

  // ---------------------------------------------------------------- the lookup
  number_t look_page;
  result_t result;
  logic result_got;
  logic [NumMiss-1:0] match;
  assign look_page  = PagesLog2 > 0 ? look_vpn_i[PageWidth-1:0] : '0;
  assign result     = result_q[place_of(drain_miss_i, miss_large_q[drain_miss_i] ? '0 : look_page)];
  assign result_got = miss_large_q[drain_miss_i] || miss_got_q[drain_miss_i][look_page];
  assign drain_status_o = !result_got ? StatusUnmapped :
      (look_write_i ? result.write : result.read) ? StatusOk : StatusDenied;
  assign drain_ppn_o = frame_of(result.size, result.ppn, look_vpn_i[HugeLog2-1:0]);
  for (genvar m = 0; m < NumMiss; m++) begin : gen_match
    assign free_o[m] = miss_state_q[m] == MissFree;
    assign done_o[m] = miss_state_q[m] == MissDone;
    assign match[m]  = miss_state_q[m] inside {MissAsk, MissWait} &&
        miss_block_q[m] == block_of(look_vpn_i) && (miss_write_q[m] || !look_write_i);
  end
  assign match_some_o = match != '0;
  always_comb begin
    match_miss_o = '0;
    free_miss_o  = '0;
    for (int unsigned m = NumMiss; m > 0; m--) begin
      if (match[m-1]) match_miss_o = miss_t'(m - 1);
      if (free_o[m-1]) free_miss_o = miss_t'(m - 1);
    end
  end

  // ---------------------------------------------------------------- requests
  logic [NumMiss-1:0] asking, ask_gnt, fault_gnt;
  miss_t fault_miss;
  arb_rr #(.NumReq(NumMiss)) u_ask (
    .clk_i, .rst_ni, .req_i(asking), .last_i(ask_ready_i), .gnt_o(ask_gnt), .idx_o(ask_id_o)
  );
  assign ask_valid_o = ask_gnt != '0;
  assign ask_vpn_o   = miss_block_q[ask_id_o];
  assign ask_write_o = miss_write_q[ask_id_o];

  for (genvar m = 0; m < NumMiss; m++) begin : gen_miss
    logic last, again, hit_result;
    logic [NumStores:0] hit_inv;  // the invalidation that starts has a page of this size in common
    vpn_t differ;
    assign asking[m]  = miss_state_q[m] == MissAsk;
    assign last       = cpl_q && cpl_last_q && cpl_id_q == miss_t'(m);
    assign again      = awaited_i[m] || miss_fault_q[m];
    assign differ     = (inv_vpn_i ^ miss_block_q[m]) >> inv_log2_i << inv_log2_i;
    assign hit_inv    = {1'b0, differ >> HugeLog2 == '0, differ >> BigLog2 == '0,
                         differ >> PagesLog2 == '0};
    assign hit_result = inv_start_i && (miss_large_q[m] ? hit_inv[SizeHuge] : hit_inv[SizeBase]);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        miss_state_q[m] <= MissFree;
      end else begin
        case (miss_state_q[m])
          MissFree: if (alloc_i && free_miss_o == miss_t'(m)) miss_state_q[m] <= MissAsk;
          MissAsk:  if (ask_gnt[m] && ask_ready_i) miss_state_q[m] <= MissWait;
          MissWait: begin
            if (last && (cpl_stale || (inv_start_i && hit_inv[cpl_result_q.size])))
              miss_state_q[m] <= again ? MissAsk : MissFree;
            else if (last) miss_state_q[m] <= MissDone;
          end
          default: begin  // MissDone
            if (!again) miss_state_q[m] <= MissFree;
            else if (hit_result) miss_state_q[m] <= MissAsk;
          end
        endcase
      end
    end
    always_ff @(posedge clk_i) begin
      if (miss_state_q[m] == MissFree) begin
        miss_block_q[m] <= block_of(look_vpn_i);
        miss_write_q[m] <= look_write_i;
      end
      if (miss_state_q[m] == MissAsk) miss_stale_q[m] <= '0;
      else if (inv_start_i) miss_stale_q[m] <= miss_stale_q[m] | hit_inv;
      if (miss_state_q[m] == MissAsk) begin
        miss_got_q[m]   <= '0;
        miss_large_q[m] <= 1'b0;
      end else if (cpl_keep && cpl_id_q == miss_t'(m)) begin
        if (cpl_result_q.size == SizeBase) miss_got_q[m][cpl_page_q] <= 1'b1;
        else miss_large_q[m] <= 1'b1;
      end
    end
    // The first fault of a translation is the one that is reported to the host.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) miss_fault_q[m] <= 1'b0;
      else if (drain_i && drain_status_o != StatusOk && drain_miss_i == miss_t'(m))
        miss_fault_q[m] <= 1'b1;
      else if (fault_gnt[m] && fault_ready_i) miss_fault_q[m] <= 1'b0;
    end
    always_ff @(posedge clk_i) begin
      if (!miss_fault_q[m] || (fault_gnt[m] && fault_ready_i)) begin
        fault_vpn_q[m]   <= look_vpn_i;
        fault_write_q[m] <= look_write_i;
      end
    end
    // A completion is of a translation that was asked for, a larger page its only beat.
    prim_assert u_asked (
      .clk_i,
      .rst_ni,
      .ok_i(!cpl_q || cpl_id_q != miss_t'(m) || (miss_state_q[m] == MissWait && !miss_large_q[m] &&
            (cpl_result_q.size == SizeBase || (cpl_last_q && miss_got_q[m] == '0))))
    );
  end
  always_ff @(posedge clk_i) begin
    if (cpl_keep) result_q[place_of(cpl_id_q, cpl_page_q)] <= cpl_result_q;
  end

  arb_rr #(.NumReq(NumMiss)) u_fault (
    .clk_i, .rst_ni, .req_i(miss_fault_q), .last_i(fault_ready_i), .gnt_o(fault_gnt),
    .idx_o(fault_miss)
  );
  assign fault_valid_o = fault_gnt != '0;
  assign fault_vpn_o   = fault_vpn_q[fault_miss];
  assign fault_write_o = fault_write_q[fault_miss];
endmodule
