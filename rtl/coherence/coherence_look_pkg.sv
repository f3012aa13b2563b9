// SPDX-License-Identifier: SHL-2.1
/// The state of a line as an agent or a home reports it to a tracer.
package coherence_look_pkg;
  /// A cache has `remote` alone, a home the rest.
  typedef struct packed {
    logic                      zero_15;
    logic                      entry;      // the directory has an entry of the line
    logic                      pinned;     // a transaction of it is open
    logic                      dirty;      // memory has another line than the entry's place
    logic                      has;        // the place has a line
    coherence_pkg::directory_e directory;  // what the far node has
    logic                      zero_8;
    coherence_pkg::home_e      home;       // the home's own copy
    logic                      zero_4;
    coherence_pkg::remote_e    remote;
  } state_t;

  function automatic state_t of_cache(coherence_pkg::remote_e state);
    of_cache = '0;
    of_cache.remote = state;
  endfunction

  /// A question, until it is answered.
  typedef struct packed {
    logic                  valid;
    coherence_pkg::index_t index;
  } look_t;

  /// The answer, a strobe.
  typedef struct packed {
    logic   valid;
    state_t state;
  } looked_t;
endpackage
