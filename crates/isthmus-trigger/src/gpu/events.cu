// SPDX-License-Identifier: Apache-2.0
// Events by Monte Carlo on a GPU: those of ../events.rs, bit by bit. Random numbers are counter-based (Philox), so
// that a thread makes any event by itself. Numbers are IEEE doubles; additions, multiplications, divisions and square
// roots are in the order of ../events.rs and ../random.rs, and none is fused (--fmad=false).
//
//   events_steps    a thread an event: time since the event before; with pile-up also its disk and rings
//   events_order    one thread: adds the times in their order, and finds the events that pile-up makes one
//   events_write    a thread an event after pile-up: its record, and its truth
//
// Nothing of an event is kept between the kernels but its time: events_write makes the hits again. NVRTC compiles
// this for a GPU, any C++17 compiler for a host (lanes.h). generate.rs starts the kernels.
#include "draws.h"

namespace events {

// Layout of the tables; generate.rs makes them. Doubles first, then words.
enum {
  MULTIPLICITY = 0,
  MOMENTUM = 4,
  MOMENTUM_SPAN,
  PHOTONS,
  NO_PHOTON = PHOTONS + 3,
  NOISE = NO_PHOTON + 3,
  NO_NOISE,
  CENTRE,
  SMEAR,
  JITTER,
  STEP,
  WINDOW,
  TWICE_REFRACTIVITY,
  FOCAL,
  HALF_PITCH,
  ROW_MM,
  ROW_UNITS,
  FAR,
  MASSES = 32,
  MOST_PARTICLES = 16,
  WORDS = 2 * (MASSES + MOST_PARTICLES),
  PARTICLES = WORDS,
  DRAWN_HITS,
  SITES,
  REACH,
  NUMBERS,
  INDEX = NUMBERS + MOST_PARTICLES
};
enum { NO_ID = 1023, SLOTS = 32, MOST_RINGS = 6, TRIES = 1000, SEEN = 32, RECORD_HALVES = 35, TRUTH_WORDS = 39 };
// Words of a photon: one of a direction, and those of a normal number.
enum { PHOTON_WORDS = 1 + NORMAL_WORDS };

DEVICE double real(const unsigned *table, int at) { return ((const double *)table)[at]; }

// ---------------------------------------------------------------- places (geometry.rs)

// The photomultiplier within half a pitch of a place in mm, or NO_ID.
DEVICE unsigned at_mm(const unsigned *table, double x, double y) {
  double far = real(table, FAR);
  if (fabs(x) > far || fabs(y) > far) return NO_ID;
  int reach = (int)table[REACH], side = 2 * reach + 1;
  double u = x / real(table, HALF_PITCH), row = y / real(table, ROW_MM);
  int low = (int)floor(row);
  unsigned found = NO_ID;
  double least = 0.0;
  for (int iy = low; iy <= low + 1; iy++) {
    int odd = iy & 1;
    int ix = 2 * (int)rounded((u - (double)odd) / 2.0) + odd;
    if (ix < -reach || ix > reach || iy < -reach || iy > reach) continue;
    double dx = u - (double)ix, dy = (row - (double)iy) * real(table, ROW_UNITS);
    double d2 = dx * dx + dy * dy;
    int cell = (iy + reach) * side + ix + reach;
    unsigned id = (table[INDEX + cell / 2] >> (cell % 2 * 16)) & 0xFFFFu;
    if (d2 <= 1.0 && id != NO_ID && (found == NO_ID || d2 < least)) {
      found = id;
      least = d2;
    }
  }
  return found;
}

// ---------------------------------------------------------------- an event (events.rs)

struct TrueRing {
  float x, y, r, momentum;
  unsigned particle;
};

// Its first 32 hits in the order of their times, then of their ids. A photomultiplier fires once, and one that was
// too late stays out: `seen` has a bit an id.
struct Event {
  int hits, rings;
  long long time[SLOTS];
  unsigned short id[SLOTS];
  unsigned char label[SLOTS];
  unsigned seen[SEEN];
  TrueRing ring[MOST_RINGS];
};

// Whole numbers that are ordered as f64::total_cmp orders doubles. It is its own inverse on the bits.
DEVICE long long ordered(long long a) { return a ^ (long long)((U64)(a >> 63) >> 1); }

// Whether the bit of an id was not set; sets it.
DEVICE bool first_time(unsigned *seen, unsigned id) {
  unsigned bit = 1u << id % 32, old = seen[id / 32];
  seen[id / 32] = old | bit;
  return (old & bit) == 0;
}

DEVICE void add(Event &made, unsigned id, unsigned label, double time) {
  if (!first_time(made.seen, id)) {
    for (int k = 0; k < made.hits; k++)
      if (made.id[k] == id) made.label[k] = (unsigned char)(made.label[k] | label);
    return;
  }
  long long key = ordered(bits(time));
  int at = made.hits < SLOTS ? made.hits++ : SLOTS;
  while (at > 0 && (key < made.time[at - 1] || (key == made.time[at - 1] && id < made.id[at - 1]))) {
    at--;
    if (at + 1 == SLOTS) continue;
    made.time[at + 1] = made.time[at];
    made.id[at + 1] = made.id[at];
    made.label[at + 1] = made.label[at];
  }
  if (at == SLOTS) return;
  made.time[at] = key;
  made.id[at] = (unsigned short)id;
  made.label[at] = (unsigned char)label;
}

struct Light {
  double x, y, r;
};

DEVICE unsigned photon(const unsigned *table, Draws &d, const Light &of) {
  double cos, sin;
  direction(d, cos, sin);
  double r = of.r + real(table, SMEAR) * normal(d);
  return at_mm(table, of.x + r * cos, of.y + r * sin);
}

DEVICE void nothing_seen(unsigned *seen) {
  for (int k = 0; k < SEEN; k++) seen[k] = 0;
}

// Draws a ring and adds its hits with `label`. Without hits (`made` is null) it is only counted. False: the ring
// is to be drawn again. A later event of a pile-up has its hits `away` after the first one's time.
DEVICE bool draw_ring(const unsigned *table, Draws &d, int number, unsigned label, Event *made, bool later, double away) {
  unsigned which = below(d, table[PARTICLES]);
  double momentum = real(table, MOMENTUM) + real(table, MOMENTUM_SPAN) * uniform(d);
  double share = real(table, MASSES + (int)which) / momentum;
  double square = real(table, TWICE_REFRACTIVITY) - share * share;
  if (!(square > 0.0)) return false;
  Light light;
  light.r = real(table, FOCAL) * sqrt(square);
  double off = real(table, CENTRE) * sqrt(uniform(d)), cos, sin;
  direction(d, cos, sin);
  light.x = off * cos;
  light.y = off * sin;
  int photons = poisson(d, real(table, PHOTONS + number - 1), real(table, NO_PHOTON + number - 1));
  // Whether it has hits enough; with hits, no photon more than that takes.
  unsigned seen[SEEN], hits = 0, wanted = table[DRAWN_HITS];
  unsigned after = place_of(d) + PHOTON_WORDS * (unsigned)photons;
  nothing_seen(seen);
  Draws look = d;
  for (int k = 0; k < photons && (made == nullptr || hits < wanted); k++) {
    unsigned id = photon(table, look, light);
    if (id != NO_ID) hits += first_time(seen, id);
  }
  if (hits < wanted) {
    d = look;
    return false;
  }
  if (made == nullptr) {
    d = draws_at(d.seed, d.event, after + NORMAL_WORDS * hits);
    return true;
  }
  // The times of its hits are drawn behind all photons.
  Draws times = draws_at(d.seed, d.event, after);
  nothing_seen(seen);
  for (int k = 0; k < photons; k++) {
    unsigned id = photon(table, d, light);
    if (id == NO_ID || !first_time(seen, id)) continue;
    double time = real(table, JITTER) * normal(times);
    add(*made, id, label, later ? time + away : time);
  }
  d = times;
  if (made->rings < MOST_RINGS) {
    TrueRing one;
    one.x = (float)light.x;
    one.y = (float)light.y;
    one.r = (float)light.r;
    one.momentum = (float)momentum;
    one.particle = table[NUMBERS + which];
    made->ring[made->rings++] = one;
  }
  return true;
}

struct Step {
  double time;
  unsigned disk;
  int rings;
};

// An event before pile-up: its time after the one before in TDC units, its disk, and into `made` its hits and rings.
DEVICE Step draw(const unsigned *table, U64 seed, U64 event, Event *made, bool later, double away) {
  Draws d = draws_at(seed, event, 0);
  Step step;
  step.time = exponential(d) * 1e9 / real(table, STEP);
  step.disk = below(d, 2);
  step.rings = 0;
  double wanted = uniform(d), sum = 0.0;
  int number = 0;
  for (; number < 4; number++) {
    sum += real(table, MULTIPLICITY + number);
    if (!(wanted > sum)) break;
  }
  if (number > 3) number = 3;
  int before = made == nullptr ? 0 : made->rings;
  for (int at = 0; at < number; at++)
    for (int k = 0; k < TRIES; k++)
      if (draw_ring(table, d, number, 1u << (at + before) & 0xFFu, made, later, away)) {
        step.rings++;
        break;
      }
  if (made == nullptr) return step;
  int noise = poisson(d, real(table, NOISE), real(table, NO_NOISE));
  for (int k = 0; k < noise; k++) {
    unsigned id = below(d, table[SITES]);
    double time = real(table, JITTER) * normal(d);
    add(*made, id, 0, later ? time + away : time);
  }
  return step;
}

// ---------------------------------------------------------------- kernels

DEVICE void steps(const unsigned *table, U64 seed, U64 event, double *times, unsigned *marks, unsigned at) {
  if (real(table, WINDOW) > 0.0) {
    Step made = draw(table, seed, event + at, nullptr, false, 0.0);
    times[at] = made.time;
    marks[at] = made.disk | (unsigned)made.rings << 1;
    return;
  }
  Draws d = draws_at(seed, event + at, 0);
  times[at] = exponential(d) * 1e9 / real(table, STEP);
}

// Makes times of steps, one after another: the order of additions is that of the CPU. Events from starts[k] to
// starts[k + 1] are one; at most `wanted` such are found. Words of the state: their number, the first event that is in
// none of them, and, as a double, the time before that event.
DEVICE void order(const unsigned *table, double *times, const unsigned *marks, unsigned *starts, unsigned *state,
                  unsigned count, unsigned wanted) {
  double window = real(table, WINDOW), time = ((double *)state)[1], open = time, first = 0.0;
  unsigned groups = 0, disk = 0, rings = 0, at = 0;
  for (; at < count; at++) {
    double before = time;
    time = before + times[at];
    times[at] = time;
    unsigned mark = window > 0.0 ? marks[at] : 0;
    bool near = groups > 0 && (mark & 1) == disk && time - first < window;
    if (window > 0.0 && near && rings + (mark >> 1) <= MOST_RINGS) {
      rings += mark >> 1;
      continue;
    }
    starts[groups] = at;
    open = before;
    if (groups == wanted) break;
    groups++;
    first = time;
    disk = mark & 1;
    rings = mark >> 1;
  }
  if (at == count && window > 0.0) {
    // The last one may go on behind the end.
    groups--;
  } else if (at == count) {
    starts[groups] = count;
    open = time;
  }
  state[0] = groups;
  state[1] = starts[groups];
  ((double *)state)[1] = open;
}

DEVICE void write_record(unsigned short *record, const Event &made, unsigned disk, double first) {
  U64 time = (U64)rounded(first);
  unsigned stamp = (unsigned)(time >> 8);
  record[0] = (unsigned short)stamp;
  record[1] = (unsigned short)(stamp >> 16);
  record[2] = (unsigned short)(((unsigned)time & 0xFFu) | ((unsigned)made.hits | disk << 6) << 8);
  for (int slot = 0; slot < SLOTS; slot++) {
    unsigned value = NO_ID;
    if (slot < made.hits) {
      double at = rounded(of_bits(ordered(made.time[slot])));
      int near = at < -31.0 ? -31 : at > 31.0 ? 31 : (int)at;
      value = made.id[slot] | ((unsigned)near & 0x3Fu) << 10;
    }
    record[3 + slot] = (unsigned short)value;
  }
}

DEVICE void write_truth(unsigned *truth, const Event &made) {
  for (int k = 0; k < TRUTH_WORDS; k++) truth[k] = 0;
  truth[0] = (unsigned)made.rings;
  for (int k = 0; k < made.rings; k++) {
    const TrueRing &one = made.ring[k];
    unsigned hits = 0;
    for (int slot = 0; slot < made.hits; slot++) hits += made.label[slot] >> k & 1;
    unsigned words[5] = {bits(one.x), bits(one.y), bits(one.r), bits(one.momentum), one.particle | hits << 8};
    for (int at = 0; at < 5; at++) truth[1 + 5 * k + at] = words[at];
  }
  for (int slot = 0; slot < made.hits; slot++)
    truth[TRUTH_WORDS - SLOTS / 4 + slot / 4] |= (unsigned)made.label[slot] << slot % 4 * 8;
}

// `truths` may be null.
DEVICE void write(const unsigned *table, U64 seed, U64 event, const double *times, const unsigned *starts,
                  unsigned short *records, unsigned *truths, U64 place, unsigned group) {
  Event made;
  made.hits = 0;
  made.rings = 0;
  nothing_seen(made.seen);
  unsigned start = starts[group], disk = 0;
  for (unsigned at = start; at < starts[group + 1]; at++) {
    Step step = draw(table, seed, event + at, &made, at > start, times[at] - times[start]);
    if (at == start) disk = step.disk;
  }
  write_record(records + RECORD_HALVES * (place + group), made, disk, times[start]);
  if (truths != nullptr) write_truth(truths + TRUTH_WORDS * (place + group), made);
}

} // namespace events

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

extern "C" __global__ void events_steps(const unsigned *table, U64 seed, U64 event, double *times, unsigned *marks,
                                        unsigned count) {
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) events::steps(table, seed, event, times, marks, at);
}

extern "C" __global__ void events_order(const unsigned *table, double *times, const unsigned *marks, unsigned *starts,
                                        unsigned *state, unsigned count, unsigned wanted) {
  if (blockIdx.x == 0 && threadIdx.x == 0) events::order(table, times, marks, starts, state, count, wanted);
}

extern "C" __global__ void events_write(const unsigned *table, U64 seed, U64 event, const double *times,
                                        const unsigned *starts, unsigned short *records, unsigned *truths, U64 place,
                                        unsigned groups) {
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < groups) events::write(table, seed, event, times, starts, records, truths, place, at);
}

#else

// The same for a host, a thread after another.
extern "C" void host_events_steps(const unsigned *table, U64 seed, U64 event, double *times, unsigned *marks,
                                  unsigned count) {
  for (unsigned at = 0; at < count; at++) events::steps(table, seed, event, times, marks, at);
}

extern "C" void host_events_order(const unsigned *table, double *times, const unsigned *marks, unsigned *starts,
                                  unsigned *state, unsigned count, unsigned wanted) {
  events::order(table, times, marks, starts, state, count, wanted);
}

extern "C" void host_events_write(const unsigned *table, U64 seed, U64 event, const double *times,
                                  const unsigned *starts, unsigned short *records, unsigned *truths, U64 place,
                                  unsigned groups) {
  for (unsigned at = 0; at < groups; at++)
    events::write(table, seed, event, times, starts, records, truths, place, at);
}

#endif
