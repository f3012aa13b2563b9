// SPDX-License-Identifier: SHL-2.1
/// A Wishbone's signals, self-describing bus (SDB) records, and the identities of the cores in this
/// family.
///
/// A record is 64 bytes, big-endian, so the packed struct below is its bytes in order. Texts are
/// exactly 19 characters, padded with blanks.
// verilator lint_off UNUSEDPARAM
package wb_pkg;
  /// What a master gives and gets, B4 pipelined. Boards concatenate their signals in this order.
  typedef struct packed {
    logic        cyc;
    logic        stb;
    logic        we;
    logic [31:0] adr;
    logic [3:0]  sel;
    logic [31:0] dat;
  } request_t;
  typedef struct packed {
    logic        stall;
    logic        ack;
    logic        err;
    logic [31:0] dat;
  } response_t;

  localparam logic [31:0] SdbMagic = 32'h5344_422D;

  typedef struct packed {
    logic [63:0]      vendor;
    logic [31:0]      device;
    logic [31:0]      version;
    logic [31:0]      date;     // BCD, yyyymmdd
    logic [18:0][7:0] name;
  } sdb_product_t;

  typedef enum logic [7:0] {
    SdbInterconnect = 8'h00,
    SdbDevice       = 8'h01,
    SdbBridge       = 8'h02,
    SdbMsi          = 8'h03,
    SdbIntegration  = 8'h80,
    SdbEmpty        = 8'hFF
  } sdb_type_e;

  typedef struct packed {
    logic [63:0]  head;         // meaning depends on record_type
    logic [63:0]  addr_first;
    logic [63:0]  addr_last;
    sdb_product_t product;
    sdb_type_e    record_type;
  } sdb_record_t;

  // Bus-specific flags of a device record: which operand sizes it takes, and its byte order.
  localparam logic [31:0] SdbWidth32      = 32'h0000_0004;
  localparam logic [31:0] SdbWidth8To32   = 32'h0000_0007;
  localparam logic [31:0] SdbLittleEndian = 32'h0000_0080;

  localparam logic [63:0] VendorGsi  = 64'h0000_0000_0000_0651;
  localparam logic [63:0] VendorCern = 64'h0000_0000_0000_CE42;

  /// Mask of wb_xbar for a window of `bytes`, a power of two.
  function automatic logic [31:0] window_mask(int unsigned bytes);
    return ~(bytes - 32'd1);
  endfunction

  /// Record of a device at first..last; `flags` is the bus-specific word.
  function automatic sdb_record_t sdb_device(logic [31:0] first, logic [31:0] last,
                                             logic [31:0] flags, logic [7:0] major,
                                             logic [7:0] minor, sdb_product_t product);
    return '{
        head: {16'h0000, major, minor, flags},
        addr_first: {32'h0, first},
        addr_last: {32'h0, last},
        product: product,
        record_type: SdbDevice
    };
  endfunction

  /// Record of a bridge at first..last whose own table is at `child`, relative to `first`.
  function automatic sdb_record_t sdb_bridge(logic [31:0] first, logic [31:0] last,
                                             logic [31:0] child, sdb_product_t product);
    return '{
        head: {32'h0, child},
        addr_first: {32'h0, first},
        addr_last: {32'h0, last},
        product: product,
        record_type: SdbBridge
    };
  endfunction

  /// Record 0 of a table with `records` records, this one included.
  function automatic sdb_record_t sdb_interconnect(logic [31:0] first, logic [31:0] last,
                                                   logic [15:0] records, sdb_product_t product);
    return '{
        head: {SdbMagic, records, 8'h01, 8'h00},
        addr_first: {32'h0, first},
        addr_last: {32'h0, last},
        product: product,
        record_type: SdbInterconnect
    };
  endfunction

  // Identities that host software searches for. Versions and dates are those of these cores.
  localparam sdb_product_t ProductCrossbar = '{
      vendor: VendorGsi, device: 32'hE6A5_42C9, version: 32'h1, date: 32'h2026_1121,
      name: "WB4-Crossbar-GSI   "};
  localparam sdb_product_t ProductEca = '{
      vendor: VendorGsi, device: 32'hB2AF_C251, version: 32'h1, date: 32'h2026_1121,
      name: "ECA_UNIT:CONTROL   "};
  localparam sdb_product_t ProductTlu = '{
      vendor: VendorGsi, device: 32'h1005_1981, version: 32'h2, date: 32'h2026_1121,
      name: "GSI_TM_LATCH_V2    "};
  localparam sdb_product_t ProductEbConfig = '{
      vendor: VendorGsi, device: 32'h6820_2B22, version: 32'h1, date: 32'h2026_1121,
      name: "Etherbone-Config   "};
  // The names from here on carry no registered vendor; the vendor number spells "isthmus".
  localparam logic [63:0] VendorIsthmus = 64'h0069_7374_686D_7573;
  localparam sdb_product_t ProductRam = '{
      vendor: VendorIsthmus, device: 32'h0000_0001, version: 32'h1, date: 32'h2026_1121,
      name: "isthmus-ram        "};
  localparam sdb_product_t ProductGigeCtrl = '{
      vendor: VendorIsthmus, device: 32'h0000_0002, version: 32'h1, date: 32'h2026_1121,
      name: "isthmus-gige-ctrl  "};
  localparam sdb_product_t ProductPcieDma = '{
      vendor: VendorIsthmus, device: 32'h0000_0003, version: 32'h1, date: 32'h2026_1121,
      name: "isthmus-pcie-dma   "};
  localparam sdb_product_t ProductPcieMmio = '{
      vendor: VendorIsthmus, device: 32'h0000_0004, version: 32'h1, date: 32'h2026_1121,
      name: "isthmus-pcie-mmio  "};
endpackage
// verilator lint_on UNUSEDPARAM
