// SPDX-License-Identifier: SHL-2.1
/// Words of a lane: 64b/67b coding, metaframes and scrambler, as Interlaken has them
/// (docs/explanation/cores/lanes.md).
package blocklink_lane_pkg;
  /// A coded word at a transceiver's user side: AMD's TXHEADER[2:0] and TXDATA.
  typedef struct packed {
    logic        inverted;  // the word's bits are inverted
    logic [1:0]  header;
    logic [63:0] word;
  } code_t;

  localparam logic [1:0] HeaderData    = 2'b01;
  localparam logic [1:0] HeaderControl = 2'b10;

  /// What a word is. A metaframe: SYNC, SCRAMBLER, SKIP, words of blocks, DIAG.
  typedef enum logic [2:0] {
    SlotSync,
    SlotScrambler,
    SlotSkip,
    SlotDiag,
    SlotData,    // a block's word
    SlotControl  // a block's last word, the control word
  } slot_e;

  localparam logic [63:0] SyncWord      = 64'h78F678F6_78F678F6;
  localparam logic [63:0] SkipWord      = 64'h1E1E1E1E_1E1E1E1E;
  localparam logic [5:0]  ScramblerType = 6'b001010;
  localparam logic [5:0]  DiagType      = 6'b011001;

  typedef logic [57:0] state_t;

  /// The 64 bits that x^58 + x^39 + 1 makes next, the first one at bit 63.
  function automatic logic [63:0] made(state_t state);
    logic [63:0] bits;
    bits[63:25] = state[57:19] ^ state[38:0];
    bits[24:6]  = state[18:0] ^ bits[63:45];
    bits[5:0]   = bits[63:58] ^ bits[44:39];
    return bits;
  endfunction

  /// What a word is scrambled with: the state, and the bits made first.
  function automatic logic [63:0] key_of(state_t state);
    return {state, 6'(made(state) >> 58)};
  endfunction

  /// The state behind a word.
  function automatic state_t after(state_t state);
    return state_t'(made(state));
  endfunction
endpackage
