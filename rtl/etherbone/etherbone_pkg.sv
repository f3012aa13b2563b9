// SPDX-License-Identifier: SHL-2.1
/// Definitions of Etherbone version 1 that more than one module uses.
package etherbone_pkg;
  localparam logic [15:0] Magic = 16'h4E6F;
  localparam logic [3:0] Version = 4'd1;

  // Header flags, bits of the third byte.
  localparam int unsigned HdrNoReads = 2;
  localparam int unsigned HdrProbeReply = 1;
  localparam int unsigned HdrProbe = 0;

  // Record flags, bits of the first byte.
  localparam int unsigned RecBca = 7;  // base return address is in the peer's config space
  localparam int unsigned RecRca = 6;  // read addresses are in our config space
  localparam int unsigned RecRff = 5;  // the peer takes our read values at one address
  localparam int unsigned RecCyc = 3;  // drop the cycle line after this record
  localparam int unsigned RecWca = 2;  // writes go to our config space
  localparam int unsigned RecWff = 1;  // writes go to one address

  /// When an operation of a frame may reach the bus.
  typedef enum logic [1:0] {
    AsItArrives = 2'd0,  // reads and writes before the frame check: lowest latency, unsafe
    ReadsEarly  = 2'd1,  // reads as they arrive; a write, and all behind it, after the frame check
    AfterCheck  = 2'd2   // nothing before the frame check: for slaves whose reads have effects
  } admission_e;

  /// What a device counts, a strobe each.
  typedef struct packed {
    logic overflow;   // a frame found no space
    logic malformed;  // a frame was no Etherbone
    logic broadcast;  // a frame to a broadcast address asked for more than a probe
    logic record;     // a record was executed
    logic bus_error;  // an operation was answered err
    logic timeout;    // an operation was not answered in time
  } events_t;

  /// Width code of the header's two masks for a bus of `width` bits.
  function automatic logic [3:0] width_code(int unsigned width);
    return (width == 64) ? 4'h8 : 4'h4;
  endfunction

  /// The flags of a record as LiteEth's dialect has them, and back.
  function automatic logic [7:0] reversed(logic [7:0] flags);
    return {<<{flags}};
  endfunction

  /// First byte of the reply record to a record with `flags`.
  function automatic logic [7:0] reply_flags(logic [7:0] flags);
    logic [7:0] reply;
    reply = '0;
    reply[RecWca] = flags[RecBca];
    reply[RecWff] = flags[RecRff];
    reply[RecCyc] = flags[RecCyc];
    return reply;
  endfunction

  // Where a word of a reply comes from.
  typedef enum logic [2:0] {
    SlotWord,    // the word itself
    SlotWrite,   // the word itself, once the bus has answered
    SlotRead,    // the bus result
    SlotConfig,  // config space at the word's address
    SlotEnd      // end of frame; bit 0 of the word: commit
  } slot_e;

  // What the configuration space says: bus address of the SDB table, own identity on the network.
  typedef struct packed {
    logic [31:0] sdb_address;
    logic [47:0] mac;
    logic [31:0] ip;
    logic [15:0] port;
  } identity_t;
endpackage
