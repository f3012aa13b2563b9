// SPDX-License-Identifier: SHL-2.1
/// Blocks of a link: eight words of 64 bits, seven of payload and one of control.
///
/// Word i of the payload is at bits [64*i +: 64], the control word at [511:448]. The check covers
/// the whole block, with the block's number where the check itself will be: a block that vanishes
/// between two ends is then found like one that was altered. SYNC blocks have no number.
package blocklink_pkg;
  localparam int unsigned NumVcs = 13;
  // Proofs need few numbers, and small words.
`ifdef FORMAL
  localparam int unsigned BlockWords = `BLOCKLINK_BLOCK_WORDS;
  localparam int unsigned ChunkWords = `BLOCKLINK_CHUNK_WORDS;
  localparam int unsigned SeqWidth = `BLOCKLINK_SEQ_WIDTH;
  localparam int unsigned WordWidth = `BLOCKLINK_WORD_WIDTH;
`else
  localparam int unsigned BlockWords = 7;  // of payload
  localparam int unsigned ChunkWords = 9;  // that one circuit hands over in a cycle, at most
  localparam int unsigned SeqWidth = 8;
  localparam int unsigned WordWidth = 64;
`endif
  localparam int unsigned CreditUnit = 8;  // words that one bit of the credit field returns
  localparam logic [3:0] NoVc = 4'd15;  // the word carries nothing

  typedef logic [WordWidth-1:0] word_t;
  typedef logic [SeqWidth-1:0] seq_t;

  typedef enum logic [2:0] {
    KindDataLow  = 3'b100,  // credits are those of circuits 0 to 7
    KindDataHigh = 3'b101,  // of 8 to 12
    KindSync     = 3'b110,
    KindIdle     = 3'b111
  } kind_e;

  typedef struct packed {
    logic [2:0]      kind;
    logic            ack;     // one numbered block has arrived
    logic [7:0]      credit;
    logic [6:0][3:0] vc;      // of each payload word
    logic [23:0]     check;
  } control_t;

  /// In the place of `credit` and `vc` of a SYNC block.
  typedef struct packed {
    logic [33-2*SeqWidth:0] zero;
    logic        answer;   // the next numbered block is `tx`
    logic        request;  // wanted: an answer
    seq_t        tx;       // number of the next block
    seq_t        rx;       // number of the next block expected
  } sync_t;

  typedef struct packed {
    control_t           control;
    word_t [BlockWords-1:0] words;
  } block_t;

  /// What is kept of a numbered block until it is acknowledged.
  typedef struct packed {
    logic                   high;
    logic [7:0]             credit;
    logic [6:0][3:0]        vc;
    word_t [BlockWords-1:0] words;
  } payload_t;

  /// Words of the receive buffer of circuit `vc`: circuits 2 to 5 carry lines.
  function automatic int unsigned depth_of(int unsigned vc, int unsigned data, int unsigned rest);
    return (vc >= 2 && vc <= 5) ? data : rest;
  endfunction
endpackage
