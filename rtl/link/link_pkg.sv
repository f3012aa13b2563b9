// SPDX-License-Identifier: SHL-2.1
/// Words of a link (docs/explanation/cores/link.md) and the arithmetic of its checks.
package link_pkg;
  localparam int unsigned IdWidth    = 6;
  // Credits count words modulo 2 ** CountBits: the default of every module's parameter.
  localparam int unsigned CountBits  = 10;
  localparam int unsigned DepthMax   = 1 << (CountBits - 1);  // half the counters' range
  localparam int unsigned CrcWidth   = 24;

  // Cycles in link_port: a word at the pins to its flit, a flit to its word at the pins.
  localparam int unsigned RxLatency = 2;
  localparam int unsigned TxLatency = 1;

  typedef logic [IdWidth-1:0] id_t;
  typedef logic [CountBits-1:0] count_t;

  // One clock at a transceiver's user side.
  typedef struct packed {
    logic [3:0]  k;
    logic [31:0] data;
  } word_t;

  // A byte of it beside its K flag.
  typedef struct packed {
    logic       k;
    logic [7:0] data;
  } symbol_t;

  typedef enum logic [7:0] {
    SymIdle   = 8'hBC,  // K28.5
    SymSop    = 8'hFB,  // K27.7
    SymEop    = 8'hFD,  // K29.7
    SymEdb    = 8'hFE,  // K30.7
    SymCredit = 8'h5C,  // K28.2
    SymCheck  = 8'h7C,  // K28.3
    SymAlign  = 8'h3C   // K28.1
  } symbol_e;
  // INIT and READY share IDLE's symbol. Their check is never 0, so neither is IDLE. K28.1 and K28.5
  // hold the comma on which a transceiver aligns its bytes: every word outside packets has one.
  localparam symbol_e SymInit = SymIdle;

  localparam word_t WordIdle  = '{k: 4'b1000, data: {SymIdle, 24'h000000}};
  localparam word_t WordAlign = '{k: 4'b1000, data: {SymAlign, 24'h000000}};
  localparam word_t WordInit  = '{k: 4'b1000, data: {SymInit, 24'h00003B}};
  localparam word_t WordReady = '{k: 4'b1000, data: {SymInit, 24'h04006F}};

  // Words that an elastic buffer may remove, or put an ALIGN before: they carry nothing that is
  // counted.
  function automatic logic is_removable(word_t word);
    return word == WordIdle || word == WordAlign || word == WordInit || word == WordReady;
  endfunction

  // A packet on its way inside a device: a word a cycle, the end as a word of its own.
  typedef enum logic [1:0] {
    FlitSop,   // data[5:0]: id
    FlitData,  // data: a data word
    FlitEop,   // data[23:0]: crc24
    FlitEdb    // data[23:0]: crc24 as received; the packet is bad
  } flit_kind_e;

  typedef struct packed {
    flit_kind_e  kind;
    logic [31:0] data;
  } flit_t;

  localparam logic [7:0]  Crc8Poly  = 8'h07;
  localparam logic [7:0]  Crc8Init  = 8'hFF;
  localparam logic [23:0] Crc24Poly = 24'h328B63;
  localparam logic [23:0] Crc24Init = 24'hFFFFFF;
endpackage
