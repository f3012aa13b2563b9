// SPDX-License-Identifier: SHL-2.1
/// Messages between a request agent in an FPGA and the home of host memory, in words of 64 bits.
///
/// The kinds are CCIX's for an agent without a cache: ReadOnce, WriteUnique, their completions, an
/// exchange of credits. The layout is ours (docs/explanation/cores/ccix.md): a request has a word
/// of header and a word of address, a write behind them a word of byte mask where it is a part of a
/// line, and the line. With bit 0 of the address it is virtual: the home translates it. An answer
/// has one word of header, a read's the line behind it.
/// Address translation has the services of PCIe (request, completion, invalidation, page request)
/// as messages of the same channel.
package ccix_pkg;
  localparam int unsigned LineBytes  = 64;
  localparam int unsigned LineWords  = 8;
  localparam int unsigned BeatWords  = 8;   // of the CCIX interface of a PCIe hard block: 512 bits
  localparam int unsigned MostWords  = 11;  // of a message: WritePart
  localparam int unsigned AnswerWords = 9;  // of an answer with a line
  localparam int unsigned IndexWidth = 42;  // a line's number: 48 bits of address

  typedef logic [63:0] word_t;
  typedef word_t [BeatWords-1:0] beat_t;
  typedef logic [LineWords-1:0][63:0] line_t;
  typedef logic [LineBytes-1:0] mask_t;
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [7:0] txn_t;

  typedef enum logic [3:0] {
    MsgNone      = 4'd0,
    MsgRead      = 4'd1,  // ReadOnce
    MsgWrite     = 4'd2,  // WriteUnique, all of a line
    MsgWritePart = 4'd3,  // WriteUnique, some bytes
    MsgComp      = 4'd4,  // a write is visible
    MsgCompData  = 4'd5,  // the line of a read
    MsgCredit    = 4'd6,  // credits alone
    // Of address translation. From the device: where is a page, access to one that is not allowed,
    // an invalidation is complete. From the host: a page, and an invalidation.
    MsgTranslate   = 4'd7,
    MsgFault       = 4'd8,
    MsgInvalidated = 4'd9,
    MsgTranslated  = 4'd10,
    MsgInvalidate  = 4'd11,
    // Of an agent with a cache: a request or a response of coherence_pkg, in its own header behind
    // this one; from the home, what to do with a line. Answers are MsgComp and MsgCompData.
    MsgCacheRequest  = 4'd12,
    MsgCacheResponse = 4'd13,
    MsgSnoop         = 4'd14,
    MsgLock          = 4'd15  // an order to a lock table, or its answer
  } message_e;

  /// The first word of each message. Credits are those that a home gives back.
  typedef struct packed {
    message_e    kind;
    logic [3:0]  words;  // of the message
    txn_t        txn;
    logic [7:0]  requests;
    logic [7:0]  lines;
    logic        fault;  // the request's virtual address does not allow it: nothing was done
    logic [30:0] zero;
  } header_t;

  /// A page of a translation, instead of the header. The last one says so.
  typedef struct packed {
    message_e    kind;
    logic [3:0]  words;
    txn_t        id;
    logic        last;
    logic [1:0]  size;   // svm_pkg::page_size_e
    logic        read;   // neither: not mapped
    logic        write;
    logic [2:0]  page;   // of the block
    logic [3:0]  zero;
    logic [35:0] frame;  // of 4 KiB
  } translated_t;

  /// An invalidation of 2^log2 pages of 4 KiB, instead of the header.
  typedef struct packed {
    message_e    kind;
    logic [3:0]  words;
    txn_t        tag;
    logic [5:0]  log2;
    logic [5:0]  zero;
    logic [35:0] page;
  } invalidate_t;

  /// A forward of the home, instead of the header.
  typedef struct packed {
    message_e   kind;
    logic [3:0] words;
    logic [2:0] zero;
    logic [4:0] message;  // coherence_pkg::message_e
    logic [5:0] zero_42;
    index_t     index;
  } snoop_t;

  /// An order to a lock table or its answer, instead of the header.
  typedef struct packed {
    message_e    kind;
    logic [3:0]  words;
    txn_t        owner;
    logic        answer;
    logic [2:0]  code;       // svm_pkg::lock_op_e, or lock_status_e
    logic        exclusive;
    logic [10:0] zero;
    logic [15:0] lock;
    logic [15:0] fence;
  } lock_message_t;

  /// What the host's log is sent.
  typedef enum logic [1:0] {
    LogUpdate   = 2'd0,  // of a record, before it is made: its old and its new value follow
    LogComplete = 2'd1,  // a transaction has made all its updates, and may release its locks
    LogUndone   = 2'd2   // all its updates are undone
  } log_e;

  /// A message to it, instead of the header: a MsgLock that is no order and no answer.
  typedef struct packed {
    message_e    kind;
    logic [3:0]  words;
    txn_t        slot;
    logic [3:0]  mark;   // all ones: an answer with no status
    log_e        what;
    logic [9:0]  zero;
    logic [31:0] id;     // of the transaction; of an update its record
  } log_message_t;

  /// What is logged, all in one cycle: each a strobe with its slot.
  typedef struct packed {
    logic        update;
    logic [5:0]  update_slot;
    logic [31:0] record;
    logic [63:0] old_value;
    logic [63:0] new_value;
    logic        complete;
    logic [5:0]  complete_slot;
    logic        undone;
    logic [5:0]  undone_slot;
  } log_events_t;

  /// An access of an agent's user to a line.
  typedef struct packed {
    logic       write;
    index_t     index;
    logic [7:0] tag;
    mask_t      mask;
    line_t      data;
  } access_t;

  /// A step of a transaction.
  typedef struct packed {
    logic        no_wait;  // the lock is tried
    logic        write;    // an update, else a read
    logic [15:0] record;   // its line, and its lock
  } update_step_t;

  /// Words of a request.
  function automatic logic [3:0] words_of(message_e kind);
    unique case (kind)
      MsgRead, MsgTranslate, MsgFault: return 4'd2;
      MsgWrite:     return 4'd10;
      MsgWritePart: return 4'd11;
      MsgCompData:  return 4'd9;
      default:      return 4'd1;
    endcase
  endfunction
endpackage
