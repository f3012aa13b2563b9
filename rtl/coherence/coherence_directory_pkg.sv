// SPDX-License-Identifier: SHL-2.1
/// Types of the home with a directory: its entries, its transactions (TBE), what passes its
/// pipeline.
package coherence_directory_pkg;
  import coherence_pkg::*;

  typedef logic [2:0] way_t;     // of 8 at most
  typedef logic [5:0] tbe_id_t;  // of 64 at most

  typedef struct packed {
    logic       used;
    home_e      home;
    directory_e directory;
    logic       has;     // the place has a line
    logic       dirty;   // and memory has another
    logic       pinned;  // a transaction of the line is open
    logic       leaves;  // it is being given up
    index_t     index;
  } entry_t;

  typedef enum logic [2:0] {
    TbeFree,
    TbeMemory,   // waits for memory's response
    TbeGrant,    // for the remote's GACK
    TbeForward,  // for its answer to a forward, and perhaps a victim
    TbeReady,    // goes on when it is chosen
    TbeRuns      // is in the pipeline
  } tbe_phase_e;

  /// What an input is, and why a transaction is open.
  typedef enum logic [1:0] {
    KindResponse,
    KindRequest,
    KindCore,
    KindRecall   // of the entry; its line is then written back
  } kind_e;

  typedef struct packed {
    kind_e      kind;
    message_e   message;  // of a request or a response
    core_e      op;       // of the core
    id_t        id;
    logic [7:0] tag;
    logic [3:0] word;     // of an atomic
    index_t     index;
  } what_t;

  /// An operation of the core: a load, a store or an eviction; with `atomic`, RINC, RDEC or RCAS, a
  /// store is a change of a word instead, and of RCAS word 0 of its data is compared, word 1 new.
  typedef struct packed {
    core_e      op;
    message_e   atomic;  // else MsgNone
    logic [3:0] word;    // of an atomic
  } core_t;

  typedef struct packed {
    logic heard;   // the forward was answered
    logic victim;  // a victim came
    logic needed;  // it has to
    logic given;   // data of HAKO are at the entry's place
    logic old;     // an atomic's old value is known
  } flags_t;

  /// An input of the pipeline, its bytes aside.
  typedef struct packed {
    logic [4:0] source;   // one-hot: a request's circuit, the core; 0: another input
    logic       resumed;  // of an open transaction
    logic       memory;   // memory's response to it
    tbe_id_t    tbe;
    what_t      what;
  } input_t;

  /// What stage 2 knows of the ways of its set.
  typedef struct packed {
    logic   hit;
    way_t   hit_way;
    entry_t entry;       // of the line; of a new one where nothing hits
    logic   some_empty;
    logic   some_new;    // a new line has a way: an empty one, or a clean one without a remote copy
    way_t   new_way;
    logic   some_victim; // an entry has no open transaction
    way_t   victim_way;
    entry_t victim;
    logic   leaving;     // an entry is being given up
  } ways_t;

  /// A change of a transaction.
  typedef struct packed {
    logic       write;
    tbe_id_t    at;
    tbe_phase_e phase;
    flags_t     flags;
    what_t      what;
  } tbe_change_t;

  /// Bytes of a line, and where they come from.
  typedef enum logic [1:0] {
    BytesNone,
    BytesAll,   // of the input
    BytesMask,  // those of its mask
    BytesWord   // an atomic's new word
  } bytes_e;

  /// What stage 2 decides.
  typedef struct packed {
    logic        again;      // the input changes nothing and is offered again
    logic        need_way;   // it makes an entry
    logic        evict;      // an entry is given up for it instead
    logic        write;      // of the entry
    way_t        way;
    entry_t      entry;
    bytes_e      place;      // written to the entry's place
    message_e    fwd;        // messages, MsgNone: none
    index_t      fwd_index;
    message_e    rsd;
    logic        rsd_place;  // its line is the place's, not the input's
    logic        rsd_dirty;
    message_e    rsn;
    logic        core_rsp;
    logic        old_write;  // the atomic's old value is kept in its transaction
    logic        mem_push;   // memory is asked
    logic        mem_write;
    logic        mem_place;  // with the place's line
    bytes_e      mem_bytes;
    tbe_change_t tbe;
  } decision_t;

  /// A request to memory.
  typedef struct packed {
    logic       write;
    index_t     index;
    logic [7:0] tag;
    mask_t      mask;
    line_t      data;
  } memory_t;

  /// A response to a request, of memory or to the host: its tag, and the line of a load.
  typedef struct packed {
    logic [7:0] tag;
    line_t      data;
  } answer_t;
endpackage
