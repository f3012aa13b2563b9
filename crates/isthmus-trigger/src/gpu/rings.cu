// SPDX-License-Identifier: Apache-2.0
// Rings of an event on a GPU: a warp an event, a lane a hit. The algorithm, its constants and its order of
// additions are those of ../rings.rs; compiled without fused multiply-add, events that leave at once and events of
// several rings have the CPU's bits. The robust fit adds hits in another order, and differs in the last digits.
//
//   rings_batch     events in the GPU's memory, results there
//   taubin_batch    one circle an event, a thread an event
//   rings_serve     never leaves: takes events from a ring of lines in the host's memory, until it is stopped
//
// NVRTC compiles this for a GPU, any C++17 compiler for a host (lanes.h).
#include "lanes.h"

// Layout of the tables, in words; gpu.rs makes them.
#define IDS 1024
#define NULL_ID 1023
#define CELLS 3072
#define VOTE_WORDS 96
#define MAX_SETS 192
#define AT_TUNED 0
#define AT_ROWS 32
#define AT_X (AT_ROWS + 8 * IDS)
#define AT_Y (AT_X + IDS)
#define AT_CELL_X (AT_Y + IDS)
#define AT_CELL_Y (AT_CELL_X + CELLS)
#define AT_CELL_R (AT_CELL_Y + CELLS)
#define AT_SETS (AT_CELL_R + CELLS)
#define AT_VOTES (AT_SETS + MAX_SETS)

#define UNIT_MM 9.0f
#define ROW 1.7320508f
#define MAX_FOUND 3
#define MAX_SEEDS 14
#define MAX_CANDIDATES 10
#define MIN_VOTES 4
#define PLANES 5
// A row of ratios a candidate, and one of zeros; rows are 33 apart, so that lanes meet no bank twice.
#define STRIDE 33
#define SCRATCH ((MAX_CANDIDATES + 1) * STRIDE)

struct Tables {
  const unsigned *words;
  float ratio, cover2, slack;
  float penalty[MAX_FOUND];
  int refine, joint;
};

DEVICE float real(const unsigned *words, int at) { return ((const float *)words)[at]; }

DEVICE Tables open_tables(const unsigned *words) {
  Tables made;
  made.words = words;
  made.ratio = real(words, AT_TUNED + 0);
  made.cover2 = real(words, AT_TUNED + 1);
  made.slack = real(words, AT_TUNED + 2);
  for (int k = 0; k < MAX_FOUND; k++) made.penalty[k] = real(words, AT_TUNED + 3 + k);
  made.refine = (int)words[AT_TUNED + 6];
  made.joint = (int)words[AT_TUNED + 7];
  return made;
}

template <class T> DEVICE T larger(T a, T b) { return pick(a > b, a, b); }
template <class T> DEVICE T smaller(T a, T b) { return pick(a < b, a, b); }
DEVICE float size_of(float a) { return float_of(bits_of(a) & 0x7FFFFFFF); }
HOST_ONLY(DEVICE F size_of(F a) { return float_of(bits_of(a) & I(0x7FFFFFFF)); })
template <class T> DEVICE T radius_within(T r) {
  return larger(smaller(r, T(199.0f / UNIT_MM)), T(98.0f / UNIT_MM));
}

// ---------------------------------------------------------------- one circle (single.rs)

struct Circle {
  float x, y, r, chi2;
};

// Taubin's circle of sums over hits: ix, iy, ix^2, ix iy, iy^2, ix z, iy z, z^2.
DEVICE Circle circle_of(const int *sum, int count) {
  float share = 1.0f / larger((float)count, 1.0f);
  float rows = share * ROW;
  float mx = (float)sum[0] * share, my = (float)sum[1] * rows;
  float xx = (float)sum[2] * share, xy = (float)sum[3] * rows;
  float yy = ((float)sum[4] * share) * 3.0f;
  float xz = (float)sum[5] * share, yz = (float)sum[6] * rows, zz = (float)sum[7] * share;
  float z = xx + yy;
  float m2 = mx * mx + my * my;
  float suu = xx - mx * mx, svv = yy - my * my, suv = xy - mx * my;
  float turn = mx * suu + my * suv;
  float suz = (xz - mx * z) - (turn + turn);
  turn = mx * suv + my * svv;
  float svz = (yz - my * z) - (turn + turn);
  float cross = (mx * my) * xy;
  float a2z = ((mx * mx) * xx + (cross + cross)) + (my * my) * yy;
  float szz = ((zz + 4.0f * a2z) - 4.0f * (mx * xz + my * yz)) + m2 * ((z + z) - 3.0f * m2);
  float sz = suu + svv;
  float cov = suu * svv - suv * suv;
  float var = szz - sz * sz;
  float a3 = 4.0f * sz;
  float a2 = 0.0f - ((3.0f * sz) * sz + szz);
  float a1 = (var * sz + (4.0f * cov) * sz) - (suz * suz + svz * svz);
  float a0 = (suz * (suz * svv - svz * suv) + svz * (svz * suu - suz * suv)) - var * cov;
  float at = 0.0f;
  for (int pass = 0; pass < 3; pass++) {
    float value = a0 + at * (a1 + at * (a2 + at * a3));
    float slope = a1 + at * ((a2 + a2) + (3.0f * at) * a3);
    at = at - value / slope;
  }
  float det = (at * at - at * sz) + cov;
  float half = 0.5f / det;
  float su = suu - at, sv = svv - at;
  float u = (suz * sv - svz * suv) * half;
  float v = (svz * su - suz * suv) * half;
  float r2 = (u * u + v * v) + sz;
  float mixed = (u * v) * suv;
  float spread = ((u * u) * suu + (v * v) * svv) + (mixed + mixed);
  float chi = (szz + 4.0f * spread) - (4.0f * (u * suz + v * svz) + sz * sz);
  Circle made;
  made.x = mx + u;
  made.y = my + v;
  made.r = root(r2);
  made.chi2 = larger(chi, 0.0f) / (4.0f * r2);
  return made;
}

// ---------------------------------------------------------------- steps (rings.rs, rings/robust.rs)

struct About {
  float x, y, r, inverse, half;
};

DEVICE About about(float x, float y, float r) {
  About made;
  made.x = x;
  made.y = y;
  made.r = r;
  made.inverse = 1.0f / r;
  made.half = 0.5f * (made.inverse * made.inverse);
  return made;
}

// Unit vector from the centre to a hit, and how far outside the circle it is.
DEVICE void distance(const About &c, F px, F py, F &ex, F &ey, F &away) {
  F dx = px - c.x, dy = py - c.y;
  F d2 = dx * dx + dy * dy;
  F t = d2 * c.half - 0.5f;
  F u = t + (F(0.5f) * (t * t)) * (t - 1.0f);
  F along = F(c.inverse) - u * c.inverse;
  ex = dx * along;
  ey = dy * along;
  away = u * c.r;
}

// Sums over the lanes of eight values, lane i + 16 onto i, then i + 8, 4, 2 and 1. The first three folds halve the
// number of values a lane holds: 9 exchanges, and 8 to hand the sums out, where a sum at a time takes 40.
DEVICE void sum8(F *a, float *made) {
  M high = ((lane() >> 4) & 1u) != 0u;
  F four[4];
  for (int k = 0; k < 4; k++) {
    F mine = pick(high, a[k + 4], a[k]), theirs = pick(high, a[k], a[k + 4]);
    four[k] = mine + across(theirs, 16);
  }
  high = ((lane() >> 3) & 1u) != 0u;
  F two[2];
  for (int k = 0; k < 2; k++) {
    F mine = pick(high, four[k + 2], four[k]), theirs = pick(high, four[k], four[k + 2]);
    two[k] = mine + across(theirs, 8);
  }
  high = ((lane() >> 2) & 1u) != 0u;
  F one = pick(high, two[1], two[0]) + across(pick(high, two[0], two[1]), 4);
  one = one + across(one, 2);
  one = one + across(one, 1);
  for (int k = 0; k < 8; k++) made[k] = of_lane(one, (k & 4) << 2 | (k & 2) << 2 | (k & 1) << 2);
}

DEVICE void terms(F w, F ex, F ey, F residual, F *made) {
  F wx = w * ex, wy = w * ey, wr = w * residual;
  made[0] = wx * ex;
  made[1] = wx * ey;
  made[2] = wy * ey;
  made[3] = wx;
  made[4] = wy;
  made[5] = wr * ex;
  made[6] = wr * ey;
  made[7] = wr;
}

template <class T> DEVICE T bounded(T step) { return larger(smaller(step, T(4.0f)), T(-4.0f)); }

// The step in x, y and r that sums ask for; `t` of one circle, or of a circle a lane.
template <class T> DEVICE void step(const T *t, T &dx, T &dy, T &dr) {
  T a = t[0] + T(0.02f), b = t[1], d = t[2] + T(0.02f);
  T c = t[3], e = t[4], f = (t[0] + t[2]) + T(0.02f);
  T c00 = d * f - e * e, c01 = c * e - b * f, c02 = b * e - c * d;
  T c11 = a * f - c * c, c12 = b * c - a * e, c22 = a * d - b * b;
  T det = (a * c00 + b * c01) + c * c02;
  T one = T(1.0f) / det;
  dx = bounded(((c00 * t[5] + c01 * t[6]) + c02 * t[7]) * one);
  dy = bounded(((c01 * t[5] + c11 * t[6]) + c12 * t[7]) * one);
  dr = bounded(((c02 * t[5] + c12 * t[6]) + c22 * t[7]) * one);
}

// ---------------------------------------------------------------- several circles (rings/hough.rs, joint.rs)

DEVICE void full_add(U a, U b, U c, U &sum, U &carry) {
  U half = a ^ b;
  sum = half ^ c;
  carry = (a & b) | (half & c);
}

struct Votes {
  U plane[3][PLANES];
};

// Votes of all hits; hits of null ids vote for nothing. Word k of a lane has cells 32 (lane + 32 k) and up.
DEVICE void count_votes(const Tables &tables, U id, int count, Votes &votes) {
  const unsigned *table = tables.words + AT_VOTES;
  for (int k = 0; k < 3; k++) {
    U ones = 0u, twos = 0u, fours = 0u, eight = 0u, sixteen = 0u;
    for (int first = 0; first < count; first += 8) {
      U four[2];
      for (int half = 0; half < 2; half++) {
        U two[2];
        for (int pair = 0; pair < 2; pair++) {
          int hit = first + 4 * half + 2 * pair;
          U at = lane() + 32u * (unsigned)k;
          U a = gather(table + word_of_lane(id, hit) * VOTE_WORDS, at);
          U b = gather(table + word_of_lane(id, hit + 1) * VOTE_WORDS, at);
          full_add(ones, a, b, ones, two[pair]);
        }
        full_add(twos, two[0], two[1], twos, four[half]);
      }
      U carry, more;
      full_add(fours, four[0], four[1], fours, carry);
      full_add(eight, carry, U(0u), eight, more);
      sixteen = sixteen | more;
    }
    votes.plane[k][0] = ones;
    votes.plane[k][1] = twos;
    votes.plane[k][2] = fours;
    votes.plane[k][3] = eight;
    votes.plane[k][4] = sixteen;
  }
}

// The circles through a photomultiplier with most votes: how many votes, and the first and the last such cell.
DEVICE int best_through(const Tables &tables, const Votes &votes, unsigned id, unsigned &first, unsigned &last) {
  const unsigned *own = tables.words + AT_VOTES + id * VOTE_WORDS;
  U mask[3];
  for (int k = 0; k < 3; k++) mask[k] = gather(own, lane() + 32u * (unsigned)k);
  int best = 0;
  for (int plane = PLANES - 1; plane >= 0; plane--) {
    U kept[3];
    for (int k = 0; k < 3; k++) kept[k] = mask[k] & votes.plane[k][plane];
    if (ballot((kept[0] | kept[1] | kept[2]) != 0u) != 0) {
      for (int k = 0; k < 3; k++) mask[k] = kept[k];
      best |= 1 << plane;
    }
  }
  U low = ALL, high = 0u;
  for (int k = 2; k >= 0; k--) {
    U cell = (lane() + 32u * (unsigned)k) * 32u;
    low = pick(mask[k] != 0u, cell + word(first_bit(mask[k])), low);
  }
  for (int k = 0; k < 3; k++) {
    U cell = (lane() + 32u * (unsigned)k) * 32u;
    high = pick(mask[k] != 0u, cell + word(last_bit(mask[k])), high);
  }
  first = least_of(low);
  last = most_of(high);
  return first == ALL ? 0 : best;
}

DEVICE F ratio_at(F away, float height) {
  F inside = F(1.0f) - (away * away) * (1.0f / ((13.5f / UNIT_MM) * (13.5f / UNIT_MM)));
  F t = larger(inside, F(0.0f));
  F low = F(0.268f) + t * 1.004f;
  return (F(height) * t) * (low + (t * t) * -0.272f);
}

DEVICE F logarithm(F x) {
  I shifted = bits_of(x) - I(0x3F3504F3);
  I exponent = shift_right(shifted + I(0x40000000), 23) - I(0x40000000 >> 23);
  I m = (shifted & I(0x007FFFFF)) + I(0x3F3504F3);
  F y = float_of(m) - 1.0f;
  F z = y * y;
  F ab = (F(3.333333e-1f) + F(-2.4999994e-1f) * y) + z * (F(2.0000715e-1f) + F(-1.6668058e-1f) * y);
  F cd = (F(1.4249323e-1f) + F(-1.2420141e-1f) * y) + z * (F(1.1676998e-1f) + F(-1.151461e-1f) * y);
  F zz = z * z;
  F p = ab + zz * (cd + zz * 7.0376836e-2f);
  F small = (y * z) * p - z * 0.5f;
  return (small + y) + to_float(exponent) * 0.69314718f;
}

// A set of candidates as a word: members in bits 0, 4 and 8, their number in bits 12 and 13.
DEVICE unsigned set_of(int a, int b, int c, int count) {
  return (unsigned)(a | b << 4 | c << 8 | count << 12);
}

// Log likelihood that a set a lane adds to noise alone, from the rows of ratios.
DEVICE F score_of(const Tables &tables, const float *rows, U set) {
  U number = (set >> 12u) & 3u;
  U zeros = (unsigned)MAX_CANDIDATES;
  U a = (set & 15u) * (unsigned)STRIDE;
  U b = pick(number > 1u, (set >> 4u) & 15u, zeros) * (unsigned)STRIDE;
  U c = pick(number > 2u, (set >> 8u) & 15u, zeros) * (unsigned)STRIDE;
  F logs[4];
  for (int i = 0; i < 4; i++) {
    F part[4];
    for (int k = 0; k < 4; k++) {
      F light[2];
      for (int half = 0; half < 2; half++) {
        const float *hit = rows + (i + 4 * k + 16 * half);
        light[half] = ((F(1.0f) + gather(hit, a)) + gather(hit, b)) + gather(hit, c);
      }
      part[k] = light[0] * light[1];
    }
    logs[i] = logarithm((part[0] * part[2]) * (part[1] * part[3]));
  }
  F penalty = pick(number == 1u, F(tables.penalty[0]),
                   pick(number == 2u, F(tables.penalty[1]), F(tables.penalty[2])));
  return ((logs[0] + logs[2]) + (logs[1] + logs[3])) - penalty;
}

// A word that orders as the float does.
DEVICE U order_of(F a) {
  U bits = word(bits_of(a));
  return pick((bits >> 31u) != 0u, ~bits, bits | 0x80000000u);
}

struct Found {
  int count;
  float margin;
  float ring[MAX_FOUND][3];
};

DEVICE void advance(F *sums, F &x, F &y, F &r) {
  F dx, dy, dr;
  step(sums, dx, dy, dr);
  x = x + dx;
  y = y + dy;
  r = radius_within(r + dr);
}

// Keeps the sums of circle `at` in its lane.
DEVICE void keep(F *sums, int at, const float *values) {
  M own = lane() == (unsigned)at;
  for (int k = 0; k < 8; k++) sums[k] = pick(own, F(values[k]), sums[k]);
}

#define INFINITE (float_of(0x7F800000))

DEVICE void several(const Tables &tables, U id, int count, F px, F py, float *rows, Found &found) {
  found.count = 0;
  found.margin = 0.0f;
  // Candidates: the best circles through each hit that none of them covers yet.
  Votes votes;
  count_votes(tables, id, count, votes);
  F sx = 1.0f, sy = 1.0f, sr = 1.0f;
  unsigned open = count >= 32 ? ALL : (1u << count) - 1;
  int number = 0;
  while (open != 0 && number < MAX_SEEDS) {
    int hit = first_bit(open);
    open &= open - 1;
    unsigned cell[2];
    int best = best_through(tables, votes, word_of_lane(id, hit), cell[0], cell[1]);
    if (best < MIN_VOTES) continue;
    float seed[2][3];
    for (int k = 0; k < 2; k++) {
      seed[k][0] = real(tables.words, AT_CELL_X + cell[k]);
      seed[k][1] = real(tables.words, AT_CELL_Y + cell[k]);
      seed[k][2] = real(tables.words, AT_CELL_R + cell[k]);
    }
    float apart = (size_of(seed[0][0] - seed[1][0]) + size_of(seed[0][1] - seed[1][1])) +
                  size_of(seed[0][2] - seed[1][2]);
    bool merged = apart < 30.0f / UNIT_MM;
    if (merged)
      for (int axis = 0; axis < 3; axis++) seed[0][axis] = 0.5f * (seed[0][axis] + seed[1][axis]);
    for (int k = 0; k < (merged ? 1 : 2); k++) {
      F ex, ey, away;
      distance(about(seed[k][0], seed[k][1], seed[k][2]), px, py, ex, ey, away);
      open &= ~ballot(away * away < F(tables.cover2));
      M own = lane() == (unsigned)number;
      sx = pick(own, F(seed[k][0]), sx);
      sy = pick(own, F(seed[k][1]), sy);
      sr = pick(own, F(seed[k][2]), sr);
      number++;
    }
  }
  // A step of each by itself.
  for (int pass = 0; pass < tables.refine; pass++) {
    F sums[8];
    for (int k = 0; k < 8; k++) sums[k] = 0.0f;
    for (int at = 0; at < number; at++) {
      float r = of_lane(sr, at), total[8];
      F ex, ey, away, all[8];
      distance(about(of_lane(sx, at), of_lane(sy, at), r), px, py, ex, ey, away);
      F q = ratio_at(away, tables.ratio / r);
      terms(q / (F(1.0f) + q), ex, ey, away, all);
      sum8(all, total);
      keep(sums, at, total);
    }
    advance(sums, sx, sy, sr);
  }
  // Without clones and without those that few hits are of.
  F ox = 1.0f, oy = 1.0f, oradius = 1.0f;
  int kept = 0;
  put(rows + MAX_CANDIDATES * STRIDE, F(0.0f));
  for (int at = 0; at < number && kept < MAX_CANDIDATES; at++) {
    float x = of_lane(sx, at), y = of_lane(sy, at), r = of_lane(sr, at);
    F apart = (size_of(F(x) - ox) + size_of(F(y) - oy)) + size_of(F(r) - oradius);
    if (ballot((apart < F(5.0f / UNIT_MM)) & (lane() < U((unsigned)kept))) != 0) continue;
    M own = lane() == (unsigned)kept;
    ox = pick(own, F(x), ox);
    oy = pick(own, F(y), oy);
    oradius = pick(own, F(r), oradius);
    F ex, ey, away;
    distance(about(x, y, r), px, py, ex, ey, away);
    F q = ratio_at(away, tables.ratio / r);
    put(rows + kept * STRIDE, q);
    kept += number_of_bits(ballot(q > F(1.0f))) >= MIN_VOTES;
  }
  meet();
  // The best set of each size, a set a lane.
  int sets = kept + kept * (kept - 1) / 2 + kept * (kept - 1) * (kept - 2) / 6;
  float best[MAX_FOUND];
  unsigned members[MAX_FOUND];
  for (int k = 0; k < MAX_FOUND; k++) {
    best[k] = -INFINITE;
    members[k] = 0;
  }
  for (int first = 0; first < sets; first += LANES) {
    U set = gather(tables.words + AT_SETS, lane() + (unsigned)first);
    set = pick(lane() + (unsigned)first < U((unsigned)sets), set, U(0u));
    F score = score_of(tables, rows, set);
    for (int k = 0; k < MAX_FOUND; k++) {
      M mine = ((set >> 12u) & 3u) == U((unsigned)k + 1);
      U order = pick(mine, order_of(score), U(0u));
      unsigned top = most_of(order);
      if (top == 0) continue;
      int winner = first_bit(ballot(order == U(top)));
      float value = of_lane(score, winner);
      if (value > best[k]) {
        best[k] = value;
        members[k] = word_of_lane(set, winner);
      }
    }
  }
  float top = larger(larger(best[0], best[1]), best[2]);
  if (top == -INFINITE) return;
  // Those near it, fitted: all circles of all sets, a lane each.
  F fx = 1.0f, fy = 1.0f, fr = 1.0f;
  unsigned model[MAX_FOUND];
  float score[MAX_FOUND];
  int models = 0, used = 0;
  for (int k = 0; k < MAX_FOUND; k++) {
    if (best[k] < top - tables.slack) continue;
    for (int m = 0; m <= k; m++) {
      int from_lane = (int)(members[k] >> 4 * m & 15);
      M own = lane() == (unsigned)(used + m);
      fx = pick(own, F(of_lane(ox, from_lane)), fx);
      fy = pick(own, F(of_lane(oy, from_lane)), fy);
      fr = pick(own, F(of_lane(oradius, from_lane)), fr);
    }
    model[models++] = set_of(used, k > 0 ? used + 1 : 0, k > 1 ? used + 2 : 0, k + 1);
    used += k + 1;
  }
  bool sure = models == 1 && top > 0.0f;
  meet();
  for (int pass = 0; pass <= tables.joint; pass++) {
    if (pass == tables.joint && sure) break;
    F sums[8];
    for (int k = 0; k < 8; k++) sums[k] = 0.0f;
    for (int at = 0; at < models; at++) {
      int first = (int)(model[at] & 15), size = (int)(model[at] >> 12);
      F light = 1.0f, ex[MAX_FOUND], ey[MAX_FOUND], away[MAX_FOUND], q[MAX_FOUND];
      UNROLL
      for (int m = 0; m < MAX_FOUND; m++) {
        if (m >= size) break;
        float r = of_lane(fr, first + m);
        distance(about(of_lane(fx, first + m), of_lane(fy, first + m), r), px, py, ex[m], ey[m], away[m]);
        q[m] = ratio_at(away[m], tables.ratio / r);
        light = light + q[m];
        put(rows + (first + m) * STRIDE, q[m]);
      }
      if (pass == tables.joint) continue;
      F share = F(1.0f) / light;
      UNROLL
      for (int m = 0; m < MAX_FOUND; m++) {
        if (m >= size) break;
        F all[8];
        float total[8];
        terms(q[m] * share, ex[m], ey[m], away[m], all);
        sum8(all, total);
        keep(sums, first + m, total);
      }
    }
    if (pass < tables.joint) advance(sums, fx, fy, fr);
  }
  score[0] = top;
  if (!sure) {
    meet();
    U set = model[0];
    for (int at = 1; at < models; at++) set = pick(lane() == (unsigned)at, U(model[at]), set);
    F all = score_of(tables, rows, set);
    for (int at = 0; at < models; at++) score[at] = of_lane(all, at);
    meet();
  }
  int winner = 0;
  for (int at = 1; at < models; at++)
    if (score[at] > score[winner]) winner = at;
  if (score[winner] < 0.0f) return;
  float second = -INFINITE;
  for (int at = 0; at < models; at++)
    if (at != winner) second = larger(score[at], second);
  found.margin = models > 1 ? score[winner] - second : INFINITE;
  found.count = (int)(model[winner] >> 12);
  int first = (int)(model[winner] & 15);
  for (int m = 0; m < found.count; m++) {
    found.ring[m][0] = of_lane(fx, first + m);
    found.ring[m][1] = of_lane(fy, first + m);
    found.ring[m][2] = of_lane(fr, first + m);
  }
}

// ---------------------------------------------------------------- an event (rings.rs)

DEVICE bool sure_radius(float r) { return 100.0f / UNIT_MM < r && r < 197.0f / UNIT_MM; }

DEVICE void one(Found &found, float x, float y, float r) {
  found.count = 1;
  found.margin = INFINITE;
  found.ring[0][0] = x;
  found.ring[0][1] = y;
  found.ring[0][2] = r;
}

// `id`: of each slot, null beyond `count`. `rows`: SCRATCH floats of this warp.
DEVICE void find(const Tables &tables, U id, int count, float *rows, Found &found) {
  for (int m = 0; m < MAX_FOUND; m++)
    for (int axis = 0; axis < 3; axis++) found.ring[m][axis] = 0.0f;
  // The plain fit.
  int sum[8];
  const int *table = (const int *)tables.words + AT_ROWS;
  for (int k = 0; k < 8; k++) sum[k] = sum_of(gather(table, id * 8u + (unsigned)k));
  Circle circle = circle_of(sum, count);
  if (circle.chi2 < (7.0f / UNIT_MM) * (7.0f / UNIT_MM) && 5.5f < (float)count && sure_radius(circle.r)) {
    one(found, circle.x, circle.y, circle.r);
    return;
  }
  // One that outliers pull less and less.
  F px = gather((const float *)tables.words + AT_X, id);
  F py = gather((const float *)tables.words + AT_Y, id);
  float x = larger(smaller(circle.x, 30.0f), -30.0f), y = larger(smaller(circle.y, 30.0f), -30.0f);
  float r = radius_within(circle.r);
  const float widths[4] = {40.0f / UNIT_MM, 25.0f / UNIT_MM, 16.0f / UNIT_MM, 13.5f / UNIT_MM};
  F ex, ey, away;
  for (int pass = 0; pass < 4; pass++) {
    F all[8];
    float total[8], dx, dy, dr;
    distance(about(x, y, r), px, py, ex, ey, away);
    F left = larger(F(1.0f) - (away * away) * (1.0f / (widths[pass] * widths[pass])), F(0.0f));
    F weight = pass < 3 ? left * left : pick(F(0.0f) < left, F(1.0f), F(0.0f));
    terms(weight, ex, ey, away, all);
    sum8(all, total);
    step(total, dx, dy, dr);
    x = x + dx;
    y = y + dy;
    r = radius_within(r + dr);
  }
  distance(about(x, y, r), px, py, ex, ey, away);
  const float limit = (11.0f / UNIT_MM) * (11.0f / UNIT_MM);
  int inside = number_of_bits(ballot(away * away < F(limit)));
  int outside = count - inside;
  if (outside <= 3 && 2 * outside + 5 <= inside && sure_radius(r)) {
    one(found, x, y, r);
    return;
  }
  several(tables, id, count, px, py, rows, found);
}

// Words of a result: count, margin, then x, y, r of three circles in mm.
#define RESULT_WORDS 11

DEVICE unsigned result_word(const Found &found, int at) {
  if (at == 0) return (unsigned)found.count;
  if (at == 1) return (unsigned)bits_of(found.margin);
  int ring = (at - 2) / 3;
  return ring < found.count ? (unsigned)bits_of(found.ring[ring][(at - 2) % 3] * UNIT_MM) : 0;
}

// The words of a result, a lane each; zero beyond.
DEVICE U line_of(const Found &found) {
  U out = 0u;
  for (int at = 0; at < RESULT_WORDS; at++)
    out = pick(lane() == U((unsigned)at), U(result_word(found, at)), out);
  return out;
}

DEVICE int hits_of(unsigned byte) {
  int hits = (int)(byte & 0x3F);
  return hits > LANES ? LANES : hits;
}

// ---------------------------------------------------------------- a batch in memory

// Records follow each other, 35 half words each; results as well, a line of 32 words each.
DEVICE void batch(const unsigned *words, const unsigned short *records, volatile unsigned *results, unsigned events,
                  unsigned warp, unsigned warps, float *rows) {
  Tables tables = open_tables(words);
  for (unsigned event = warp; event < events; event += warps) {
    const unsigned short *record = records + 35u * event;
    int count = hits_of((unsigned)record[2] >> 8);
    U id = gather(record, lane() + 3u) & (unsigned)NULL_ID;
    id = pick(lane() < U((unsigned)count), id, U((unsigned)NULL_ID));
    Found found;
    find(tables, id, count, rows, found);
    poke(results + (U64)event * LANES, line_of(found));
  }
}

// One circle of an event a thread: x, y, r in mm and the mean square distance in mm^2.
DEVICE void taubin(const unsigned *words, const unsigned short *records, float *results, unsigned event) {
  const unsigned short *record = records + 35u * event;
  int count = hits_of((unsigned)record[2] >> 8);
  int sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int slot = 0; slot < count; slot++) {
    const int *row = (const int *)words + AT_ROWS + 8 * (record[3 + slot] & NULL_ID);
    for (int k = 0; k < 8; k++) sum[k] += row[k];
  }
  Circle made = circle_of(sum, count);
  float *to = results + 4u * event;
  to[0] = made.x * UNIT_MM;
  to[1] = made.y * UNIT_MM;
  to[2] = made.r * UNIT_MM;
  to[3] = made.chi2 * (UNIT_MM * UNIT_MM);
}

// ---------------------------------------------------------------- a kernel that never leaves

// A line is 32 words, 128 bytes. Of an event: words 0 to 17 are its record, 30 is its number plus one, 31 a check
// of the others. Of a result: words 0 to 10, then from 12 on the times in ns at which the event was detected,
// loaded, fitted and published, two words each; 30 and 31 as before. The check replaces any order in which the
// halves of a line become visible: a line whose parts are of different times does not fit its check, and is read
// again.
#define SEQUENCE 30
#define CHECK 31
#define SEED 0x15714053u
#define WORDS_OF_RECORD 18
#define POLLS 64
// Words of a warp's report: events, torn lines, why it left, high and low word of its polls.
#define STOPPED 1
#define WATCHDOG 2

DEVICE unsigned check_of(U words) {
  U turned = (words << lane()) | (words >> ((U(32u) - lane()) & 31u));
  return parity_of(pick(lane() < U((unsigned)CHECK), turned, U(0u))) ^ SEED;
}

DEVICE void serve(const unsigned *words, const volatile unsigned *control, const volatile unsigned *events,
                  volatile unsigned *results, volatile unsigned *report, unsigned lines, U64 watchdog_ns,
                  unsigned warp, unsigned warps, float *rows) {
  Tables tables = open_tables(words);
  U64 polls = 0, end = now_ns() + watchdog_ns;
  unsigned done = 0, torn = 0, why = 0;
  for (unsigned event = warp; why == 0; event += warps) {
    const volatile unsigned *line = events + (U64)(event % lines) * LANES;
    U read = 0u;
    unsigned idle = 0;
    for (;;) {
      read = peek(line);
      polls++;
      if (word_of_lane(read, SEQUENCE) == event + 1) {
        if (word_of_lane(read, CHECK) == check_of(read)) break;
        torn++;
      }
      if (++idle % POLLS == 0) {
        rest();
        // Only a warp without work looks: events that are there are answered before it stops.
        unsigned stop = control[0];
        if (stop != 0) why = STOPPED;
        if (now_ns() > end) why = WATCHDOG;
        if (word_of_lane(U(why), 0) != 0) break;
      }
    }
    why = word_of_lane(U(why), 0);
    if (why != 0) break;
    U64 detected = now_ns();
    int count = hits_of(word_of_lane(read, 1) >> 8);
    U slot = lane() + 3u;
    U id = (from(read, slot >> 1u) >> ((slot & 1u) << 4u)) & (unsigned)NULL_ID;
    id = pick(lane() < U((unsigned)count), id, U((unsigned)NULL_ID));
    U64 loaded = now_ns();
    Found found;
    find(tables, id, count, rows, found);
    U64 fitted = now_ns();
    U out = line_of(found);
    U64 published = now_ns();
    U64 stamps[4] = {detected, loaded, fitted, published};
    for (int at = 0; at < 4; at++) {
      // Lanes may read the clock a tick apart: lane 0's times stand for all.
      unsigned low = word_of_lane(U((unsigned)stamps[at]), 0);
      unsigned high = word_of_lane(U((unsigned)(stamps[at] >> 32)), 0);
      out = pick(lane() == U(12u + 2 * at), U(low), out);
      out = pick(lane() == U(13u + 2 * at), U(high), out);
    }
    out = pick(lane() == U((unsigned)SEQUENCE), U(event + 1), out);
    out = pick(lane() == U((unsigned)CHECK), U(check_of(out)), out);
    poke(results + (U64)(event % lines) * LANES, out);
    done++;
  }
  U out = 0u;
  unsigned values[5] = {done, torn, why, (unsigned)(polls >> 32), (unsigned)polls};
  for (int at = 0; at < 5; at++) out = pick(lane() == U((unsigned)at), U(values[at]), out);
  poke(report + warp * LANES, out);
}

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define WARPS_OF_BLOCK 4

extern "C" __global__ void __launch_bounds__(LANES *WARPS_OF_BLOCK)
    rings_batch(const unsigned *words, const unsigned short *records, unsigned *results, unsigned events) {
  __shared__ float rows[WARPS_OF_BLOCK][SCRATCH];
  unsigned own = threadIdx.x / LANES;
  batch(words, records, results, events, blockIdx.x * WARPS_OF_BLOCK + own, gridDim.x * WARPS_OF_BLOCK, rows[own]);
}

extern "C" __global__ void taubin_batch(const unsigned *words, const unsigned short *records, float *results,
                                        unsigned events) {
  for (unsigned event = blockIdx.x * blockDim.x + threadIdx.x; event < events; event += gridDim.x * blockDim.x)
    taubin(words, records, results, event);
}

extern "C" __global__ void __launch_bounds__(LANES *WARPS_OF_BLOCK)
    rings_serve(const unsigned *words, const volatile unsigned *control, const volatile unsigned *events,
                volatile unsigned *results, volatile unsigned *report, unsigned lines, U64 watchdog_ns) {
  __shared__ float rows[WARPS_OF_BLOCK][SCRATCH];
  unsigned own = threadIdx.x / LANES;
  serve(words, control, events, results, report, lines, watchdog_ns, blockIdx.x * WARPS_OF_BLOCK + own,
        gridDim.x * WARPS_OF_BLOCK, rows[own]);
}

#else

// The same for a host: one warp after another, or a thread a warp.
extern "C" void host_rings_batch(const unsigned *words, const unsigned short *records, unsigned *results,
                                 unsigned events) {
  float rows[SCRATCH];
  batch(words, records, results, events, 0, 1, rows);
}

extern "C" void host_taubin_batch(const unsigned *words, const unsigned short *records, float *results,
                                  unsigned events) {
  for (unsigned event = 0; event < events; event++) taubin(words, records, results, event);
}

extern "C" void host_rings_serve(const unsigned *words, const volatile unsigned *control,
                                 const volatile unsigned *events, volatile unsigned *results,
                                 volatile unsigned *report, unsigned lines, U64 watchdog_ns, unsigned warp,
                                 unsigned warps) {
  float rows[SCRATCH];
  serve(words, control, events, results, report, lines, watchdog_ns, warp, warps, rows);
}

#endif
