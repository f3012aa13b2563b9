// SPDX-License-Identifier: SHL-2.1
/// What the modules of a node of a coherent link hand to each other.
package coherence_node_pkg;
  /// A request at the port of words. `address`: of a byte; of an IPI its number.
  typedef struct packed {
    logic                       valid;
    coherence_io_pkg::io_kind_e kind;
    logic [39:0]                address;
    logic [7:0]                 mask;     // bytes of the word
    logic [7:0]                 tag;
    logic [63:0]                data;
  } io_req_t;

  /// Its response; the data are a load's.
  typedef struct packed {
    logic        valid;
    logic [7:0]  tag;
    logic [63:0] data;
  } io_rsp_t;

  /// What the far end did here: a store, or an IPI.
  typedef struct packed {
    logic        valid;
    logic        ipi;
    logic [39:0] address;
  } io_event_t;

  /// An access of the far end to the upper half of its registers: a strobe.
  typedef struct packed {
    logic        valid;
    logic        write;
    logic [2:0]  at;
    logic [7:0]  mask;
    logic [63:0] data;
  } window_t;

  /// The 13 circuits of what is sent: a chunk of `count` words each.
  typedef struct packed {
    logic [blocklink_pkg::NumVcs-1:0]      valid;
    logic [blocklink_pkg::NumVcs-1:0][3:0] count;
    blocklink_pkg::word_t [blocklink_pkg::NumVcs-1:0][blocklink_pkg::ChunkWords-1:0] words;
  } circuits_t;

  /// A link: its state, and the counters of blocklink_counters.
  typedef struct packed {
    logic        up;
    logic        fail;
    logic [31:0] blocks;
    logic [31:0] words;
    logic [31:0] got;
    logic [31:0] bad;
    logic [31:0] again;
  } link_status_t;
endpackage
