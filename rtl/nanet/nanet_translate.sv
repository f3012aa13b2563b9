// SPDX-License-Identifier: SHL-2.1
/// Turns a place in a registered region into an address of the bus, or refuses it, in front of an
/// axi_write_engine.
///
/// A region is up to 2^28 pages of one size, and up to 2^40 bytes: a place behind those is refused.
/// Its page table in host memory has one word of 64 bits a page: bits 63:12 of the page's address,
/// bit 0 valid. So a miss is one read, whatever the size.
/// A buffer's key names a region and must equal the key with which the host registered it.
///
///   Handshake   cmd_*, data_* and out_*, drain_* valid/ready as in axi_write_engine; done_* and
///               engine_done_* strobes; ar_* and r_* are an AXI4 read of one aligned beat
///   Ordering    one command at a time; its data follows it to the engine
///   Bounds      a command whose key is wrong, that leaves its region or a page of 4 KiB, or whose
///               page is not valid reaches no engine: its data is drained and done_error_o is set
///               (proved: formal/nanet/nanet_translate.sby)
///   Latency     hit 1 cycle; direct commands 0. Miss: 4 cycles and the read
///   Throughput  a command in 2 cycles
///   Cache       Ways x Sets pages of all regions; a miss takes a way of its set that is not valid,
///               else the ways in turn
///   Restart     after region_we_i all pages are forgotten, in Sets cycles; a command under way
///               ends with the region that it began with
///   Parameters  DataWidth 64..512; Regions a power of two 2..16; Ways 1..8; Sets a power of two
///               2..256; BytesW, TagW as the engine's
///   Not done    several reads at once; a hit under a miss
module nanet_translate
  import nanet_pkg::*;
#(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned Regions   = MaxRegions,
  parameter  int unsigned Ways      = 4,
  parameter  int unsigned Sets      = 64,
  parameter  int unsigned BytesW    = 12,
  parameter  int unsigned TagW      = 2,
  localparam int unsigned IndexW    = $clog2(Regions)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 region_we_i,
  input  logic [IndexW-1:0]    region_index_i,
  input  region_t              region_i,

  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  logic                 cmd_direct_i,   // cmd_addr_i is the bus's
  input  region_key_t          cmd_key_i,
  input  logic [63:0]          cmd_addr_i,     // in its region
  input  logic [BytesW-1:0]    cmd_bytes_i,
  input  logic [TagW-1:0]      cmd_tag_i,
  input  logic                 data_valid_i,
  output logic                 data_ready_o,
  input  logic                 data_last_i,
  output logic                 done_valid_o,
  output logic [TagW-1:0]      done_tag_o,
  output logic                 done_error_o,

  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [63:0]          out_addr_o,
  output logic [BytesW-1:0]    out_bytes_o,
  output logic [TagW-1:0]      out_tag_o,
  output logic                 out_data_valid_o,
  input  logic                 out_data_ready_i,
  input  logic                 engine_done_valid_i,
  input  logic [TagW-1:0]      engine_done_tag_i,
  input  logic                 engine_done_error_i,

  output logic                 arvalid_o,
  input  logic                 arready_i,
  output axi_pkg::address_t    ar_o,
  input  logic                 rvalid_i,
  output logic                 rready_o,
  input  logic [DataWidth-1:0] rdata_i,
  input  logic [1:0]           rresp_i,

  output translations_t        counters_o,
  output logic                 idle_o
);
  localparam int unsigned SetW  = $clog2(Sets);
  localparam int unsigned WayW  = Ways > 1 ? $clog2(Ways) : 1;
  localparam int unsigned LaneW = $clog2(DataWidth / 8);
  localparam int unsigned Spare = RegionW + PageW - SetW;  // of a page's name, less its set

  if (Sets < 2 || Sets > 256 || (Sets & (Sets - 1)) != 0) begin : gen_sets_check
    $error("nanet_translate: Sets is %0d, legal are powers of two 2..256", Sets);
  end
  if (Regions < 2 || Regions > MaxRegions || (Regions & (Regions - 1)) != 0)
  begin : gen_regions_check
    $error("nanet_translate: Regions is %0d, legal are powers of two 2..%0d", Regions, MaxRegions);
  end
  if (Ways < 1 || Ways > 8) begin : gen_ways_check
    $error("nanet_translate: Ways is %0d, legal is 1..8", Ways);
  end

  typedef struct packed {
    logic             valid;
    logic [Spare-1:0] name;
    logic [51:0]      base;
  } page_t;
  typedef enum logic [2:0] {
    StClear,
    StIdle,
    StLook,
    StRead,
    StWait,
    StAgain,
    StDrain,
    StRefuse
  } state_e;

  state_e  state_q;
  region_t regions[Regions];
  region_t region, region_q;
  region_key_t key_q;
  logic [20:0] offset_q;    // in the largest page
  logic        outside_q;  // bits of the address above the offset's
  logic [BytesW-1:0] bytes_q;
  logic [TagW-1:0]   tag_q;
  logic [PageW-1:0]  page_d, page_q;
  logic [SetW-1:0]   set_d, set_q, clear_q;
  logic [WayW-1:0]   turn_q, victim, way;
  logic [IndexW-1:0] index;
  logic [15:0]       wait_q;
  translations_t     counters_q;

  // ---------------------------------------------------------------- regions
  always_ff @(posedge clk_i) begin
    if (region_we_i) regions[region_index_i] <= region_i;
  end
  // A region never registered is not valid, whatever its memory holds.
  logic [Regions-1:0] known_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= '0;
    else if (region_we_i) known_q[region_index_i] <= region_i.valid;
  end
  // More of the index than that is a part of the key.
  assign index  = cmd_key_i.index[IndexW-1:0];
  assign region = regions[index];

  function automatic logic [PageW-1:0] page_of(page_size_e size, logic [PageW-1:0] smallest);
    unique case (size)
      Page4K:  return smallest;
      Page64K: return smallest >> 4;
      default: return smallest >> 9;
    endcase
  endfunction

  // Of the command under way: its region's number and its page's, less what its set says.
  logic [Spare-1:0] name;
  assign name = {key_q.index, page_q[PageW-1:SetW]};

  // ---------------------------------------------------------------- pages
  logic take, look, fill, clearing, clear_due_q, hit, legal, refuse, miss;
  page_t [Ways-1:0] pages;
  page_t filled;
  logic [Ways-1:0] hits, fill_way;
  logic [51:0] base;
  logic [63:0] word;

  // The place of the page's word in a beat.
  logic [60:0] place;
  logic [(LaneW > 3 ? LaneW-3 : 1)-1:0] word_lane;
  assign place = region_q.pages_at + 61'(page_q);
  if (LaneW > 3) begin : gen_lane
    assign word_lane = place[LaneW-4:0];
  end else begin : gen_no_lane
    assign word_lane = '0;
  end

  assign take     = state_q == StIdle && cmd_valid_i && !cmd_direct_i && !clear_due_q;
  assign page_d   = page_of(page_size_e'(region.size), cmd_addr_i[39:12]);
  // Regions begin in different sets.
  assign set_d    = page_d[SetW-1:0] ^ SetW'({cmd_key_i.index, 2'b0});
  assign look     = take || state_q == StAgain;
  assign clearing = state_q == StClear;
  assign word     = rdata_i[64*word_lane+:64];
  assign fill     = state_q == StWait && rvalid_i && word[0] && !rresp_i[1];
  assign filled   = '{valid: 1'b1, name: name, base: word[63:12]};

  for (genvar i = 0; i < int'(Ways); i++) begin : gen_way
    assign fill_way[i] = fill && victim == WayW'(i);
    ram_1r1w #(
      .Width  ($bits(page_t)),
      .Depth  (Sets),
      .ReadOld(1'b0)
    ) u_pages (
      .clk_i,
      .we_i   (clearing || fill_way[i]),
      .waddr_i(clearing ? clear_q : set_q),
      .wdata_i(clearing ? '0 : filled),
      .re_i   (look),
      .raddr_i(state_q == StAgain ? set_q : set_d),
      .rdata_o(pages[i])
    );
    assign hits[i] = pages[i].valid && pages[i].name == name;
  end
  always_comb begin
    way = '0;
    for (int unsigned i = 0; i < Ways; i++) if (hits[i]) way = WayW'(i);
    victim = turn_q;
    for (int unsigned i = 0; i < Ways; i++) if (!pages[i].valid) victim = WayW'(i);
  end
  assign base = pages[way].base;

  assign legal  = region_q.valid && key_q == region_q.key && !outside_q &&
                  page_q < region_q.pages && bytes_q != '0 &&
                  13'(offset_q[11:0]) + 13'(bytes_q) <= 13'd4096;
  assign refuse = state_q == StLook && !legal;
  assign hit    = state_q == StLook && legal && hits != '0;
  assign miss   = state_q == StLook && legal && hits == '0;

  // ---------------------------------------------------------------- one command
  logic direct;
  assign direct      = state_q == StIdle && cmd_valid_i && cmd_direct_i && !clear_due_q;
  assign cmd_ready_o = take || (direct && out_ready_i);
  assign out_valid_o = direct || hit;
  assign out_bytes_o = direct ? cmd_bytes_i : bytes_q;
  assign out_tag_o   = direct ? cmd_tag_i : tag_q;
  always_comb begin
    if (direct) begin
      out_addr_o = cmd_addr_i;
    end else begin
      unique case (region_q.size)
        Page4K:  out_addr_o = {base, offset_q[11:0]};
        Page64K: out_addr_o = {base[51:4], offset_q[15:0]};
        default: out_addr_o = {base[51:9], offset_q[20:0]};
      endcase
    end
  end

  // What was refused is drained; what waits for its address waits with its data.
  assign out_data_valid_o = state_q == StIdle && data_valid_i;
  assign data_ready_o     = state_q == StIdle ? out_data_ready_i : state_q == StDrain;

  assign done_valid_o = engine_done_valid_i || state_q == StRefuse;
  assign done_tag_o   = engine_done_valid_i ? engine_done_tag_i : tag_q;
  assign done_error_o = !engine_done_valid_i || engine_done_error_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StClear;
      clear_due_q <= 1'b0;
      clear_q     <= '0;
      turn_q      <= '0;
    end else begin
      if (region_we_i) clear_due_q <= 1'b1;
      else if (state_q == StIdle) clear_due_q <= 1'b0;
      unique case (state_q)
        StClear: begin
          clear_q <= clear_q + SetW'(1);
          if (clear_q == '1) state_q <= StIdle;
        end
        StIdle: begin
          if (clear_due_q) state_q <= StClear;
          else if (take) state_q <= StLook;
        end
        StLook: begin
          if (refuse) state_q <= StDrain;
          else if (miss) state_q <= StRead;
          else if (out_ready_i) state_q <= StIdle;
        end
        StRead: if (arready_i) state_q <= StWait;
        StWait: begin
          if (rvalid_i) begin
            state_q <= fill ? StAgain : StDrain;
            if (fill) turn_q <= turn_q == WayW'(Ways - 1) ? '0 : turn_q + WayW'(1);
          end
        end
        StAgain: state_q <= StLook;
        StDrain: if (data_valid_i && data_last_i) state_q <= StRefuse;
        default: if (!engine_done_valid_i) state_q <= StIdle;  // StRefuse
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      key_q          <= cmd_key_i;
      region_q       <= region;
      region_q.valid <= known_q[index];
      offset_q       <= cmd_addr_i[20:0];
      outside_q      <= cmd_addr_i[63:40] != '0;
      bytes_q        <= cmd_bytes_i;
      tag_q          <= cmd_tag_i;
      page_q         <= page_d;
      set_q          <= set_d;
    end
  end

  // ---------------------------------------------------------------- the page's word
  assign arvalid_o = state_q == StRead;
  assign ar_o = '{
      addr: {place[60:LaneW-3], LaneW'(0)},
      len: '0,
      size: 3'(LaneW),
      burst: axi_pkg::BurstIncr
  };
  assign rready_o = state_q == StWait;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counters_q <= '0;
      wait_q     <= '0;
    end else begin
      if (hit && out_ready_i) counters_q.translated <= counters_q.translated + 32'd1;
      if (miss) counters_q.walks <= counters_q.walks + 32'd1;
      if (refuse || (state_q == StWait && rvalid_i && !fill)) begin
        counters_q.refused <= counters_q.refused + 16'd1;
      end
      wait_q <= !(state_q inside {StRead, StWait}) ? '0 : wait_q == '1 ? wait_q : wait_q + 16'd1;
      if (wait_q > counters_q.longest) counters_q.longest <= wait_q;
    end
  end
  logic unused;
  assign unused = ^{rresp_i[0], word[11:1]};
  assign counters_o = counters_q;
  assign idle_o     = state_q == StIdle && !clear_due_q;
endmodule
