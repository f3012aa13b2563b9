// SPDX-License-Identifier: SHL-2.1
/// Hits, circles and candidates of the ring search (docs/explanation/cores/rich.md).
// verilator lint_off UNUSEDPARAM
package rich_pkg;
  localparam int unsigned IdWidth = 10;  // of a photomultiplier
  localparam int unsigned MaxHits = 32;  // of an event
  localparam int unsigned MinVotes = 4;  // that a circle needs
  localparam int unsigned MaxSeeds = 14;  // candidates of an event: no hit is searched behind them
  localparam int unsigned Radii = 8;  // of a centre
  localparam int unsigned CellWidth = 12;  // a cell's number: Radii times its centre's, plus radius
  localparam int unsigned MaxCells = 3072;
  localparam int unsigned CentreWidth = CellWidth - $clog2(Radii);
  localparam int unsigned SquareWidth = 24;

  typedef logic [IdWidth-1:0] id_t;
  typedef logic [$clog2(MaxHits)-1:0] slot_t;
  typedef logic [CellWidth-1:0] cell_t;

  /// Hits near a circle: from 16 on modulo 16, plus 16.
  typedef logic [4:0] votes_t;

  /// A site of the hexagonal lattice, half pitches; x and y have an even sum.
  typedef struct packed {
    logic signed [7:0] y;
    logic signed [7:0] x;
  } place_t;

  /// Squares of distances that a circle covers, 1/16 mm^2: from low on, below high.
  typedef struct packed {
    logic [SquareWidth-1:0] high;
    logic [SquareWidth-1:0] low;
  } bounds_t;

  /// The best cells through a hit.
  typedef struct packed {
    cell_t  last;
    cell_t  first;
    votes_t votes;
  } best_t;

  /// A circle: its centre in quarters of the grid's pitch, its radius' number, halves between.
  typedef struct packed {
    logic [3:0] radius;
    logic signed [8:0] v;
    logic signed [8:0] u;
  } circle_t;

  /// The same as rich_cover takes it: 13 times the centre.
  typedef struct packed {
    logic [3:0] radius;
    logic signed [12:0] v13;
    logic signed [12:0] u13;
  } scaled_t;

  function automatic logic signed [12:0] thirteen(logic signed [8:0] value);
    return (13'(value) <<< 3) + (13'(value) <<< 2) + 13'(value);
  endfunction

  function automatic scaled_t scaled(circle_t circle);
    return '{radius: circle.radius, v13: thirteen(circle.v), u13: thirteen(circle.u)};
  endfunction

  /// Candidates of a hit: one, or two.
  typedef struct packed {
    best_t   best;
    logic    two;
    scaled_t second;
    scaled_t first;
  } pair_t;

  /// An answer: the best cells through a hit, or the end of the event.
  typedef struct packed {
    logic  over;  // with done: the event had more than MaxHits hits, the others were left out
    logic  done;  // behind the event's last candidates; all other fields but over are 0
    best_t best;
    slot_t hit;
  } seed_t;

  /// Memories behind the configuration port.
  typedef enum logic [1:0] {
    MemVotes,    // address {id, word}: word 0 has cells 0 to 63, cell 0 in bit 0
    MemPlaces,   // address id: place_t, (-64, -64) of a null id: no circle is near
    MemCentres,  // address centre: place_t in half pitches of the grid of centres
    MemBounds    // address number of the radius, halves between: bounds_t
  } memory_e;

  /// A write to one of the search's memories, as rich_seeds.
  typedef struct packed {
    logic        we;
    memory_e     memory;
    logic [15:0] addr;
    logic [63:0] data;
  } memory_write_t;
endpackage
// verilator lint_on UNUSEDPARAM
