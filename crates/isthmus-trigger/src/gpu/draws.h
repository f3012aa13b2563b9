// SPDX-License-Identifier: Apache-2.0
// Random numbers of ../random.rs, bit by bit, for a GPU and for a host: Philox 4x32-10, and what is made of its words
// by additions, multiplications and divisions of IEEE doubles, none of them fused (--fmad=false).
#pragma once
#include "lanes.h"

namespace events {

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
DEVICE long long bits(double a) { return __double_as_longlong(a); }
DEVICE double of_bits(long long a) { return __longlong_as_double(a); }
DEVICE unsigned bits(float a) { return __float_as_uint(a); }
#else
template <class To, class From> static inline To same_bits(From a) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To made;
  std::memcpy(&made, &a, sizeof a);
  return made;
}
static inline long long bits(double a) { return same_bits<long long>(a); }
static inline double of_bits(long long a) { return same_bits<double>(a); }
static inline unsigned bits(float a) { return same_bits<unsigned>(a); }
#endif

// Words of a normal number.
enum { NORMAL_WORDS = 6 };

// The words of one event from any place on: block (event, place / 4) under the seed.
struct Draws {
  U64 seed, event;
  unsigned block, left, word[4];
};

DEVICE void refill(Draws &d) {
  unsigned c0 = (unsigned)d.event, c1 = (unsigned)(d.event >> 32), c2 = d.block, c3 = 0;
  unsigned k0 = (unsigned)d.seed, k1 = (unsigned)(d.seed >> 32);
  for (int round = 0; round < 10; round++) {
    U64 a = (U64)c0 * 0xD2511F53u, b = (U64)c2 * 0xCD9E8D57u;
    c0 = (unsigned)(b >> 32) ^ c1 ^ k0;
    c1 = (unsigned)b;
    c2 = (unsigned)(a >> 32) ^ c3 ^ k1;
    c3 = (unsigned)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  d.word[0] = c0;
  d.word[1] = c1;
  d.word[2] = c2;
  d.word[3] = c3;
  d.block++;
  d.left = 4;
}

DEVICE unsigned next(Draws &d) {
  if (d.left == 0) refill(d);
  unsigned made = d.word[0];
  // Words move up: an array that is indexed by a variable would not stay in registers.
  d.word[0] = d.word[1];
  d.word[1] = d.word[2];
  d.word[2] = d.word[3];
  d.left--;
  return made;
}

DEVICE Draws draws_at(U64 seed, U64 event, unsigned place) {
  Draws made;
  made.seed = seed;
  made.event = event;
  made.block = place / 4;
  made.left = 0;
  for (int k = 0; k < 4; k++) made.word[k] = 0;
  for (unsigned k = 0; k < place % 4; k++) next(made);
  return made;
}

// How many words were drawn.
DEVICE unsigned place_of(const Draws &d) { return 4 * d.block - d.left; }

DEVICE double uniform(Draws &d) { return ((double)next(d) + 0.5) / 4294967296.0; }

DEVICE unsigned below(Draws &d, unsigned bound) { return (unsigned)((U64)next(d) * bound >> 32); }

DEVICE double normal(Draws &d) {
  unsigned sum = 0;
  for (int k = 0; k < NORMAL_WORDS; k++) {
    unsigned word = next(d);
    sum += (word & 0xFFFFu) + (word >> 16);
  }
  return ((double)sum + 6.0) / 65536.0 - 6.0;
}

DEVICE void direction(Draws &d, double &cos, double &sin) {
  unsigned turn = next(d);
  unsigned quarter = (turn + (1u << 29)) >> 30;
  double x = (double)(int)(turn - (quarter << 30)) * (6.283185307179586 / 4294967296.0);
  double y = x * x, c = 0.0, s = 0.0;
  for (int k = 8; k >= 1; k--) {
    double n = (double)(2 * k);
    c = (1.0 + c) * -y / (n * (n - 1.0));
    s = (1.0 + s) * -y / (n * (n + 1.0));
  }
  c = 1.0 + c;
  s = x * (1.0 + s);
  bool swapped = (quarter & 1) != 0;
  double a = swapped ? s : c, b = swapped ? c : s;
  cos = quarter == 1 || quarter == 2 ? -a : a;
  sin = quarter == 2 || quarter == 3 ? -b : b;
}

// Poisson by inversion; `none`: e^-mean.
DEVICE int poisson(Draws &d, double mean, double none) {
  double wanted = uniform(d), probability = none, sum = none;
  int count = 0;
  while (wanted > sum && count < 1000) {
    count++;
    probability = probability * mean / (double)count;
    sum += probability;
  }
  return count;
}

DEVICE double exponential(Draws &d) {
  long long all = bits(uniform(d));
  int exponent = (int)(all >> 52) - 1022;
  double m = of_bits((all & 0x000FFFFFFFFFFFFFLL) | 1022LL << 52);
  double t = (m - 1.0) / (m + 1.0), sum = 0.0;
  for (int k = 20; k >= 0; k--) sum = sum * (t * t) + 1.0 / (double)(2 * k + 1);
  return -(2.0 * t * sum + (double)exponent * 0.6931471805599453);
}

// To the nearest whole number; halves go away from zero.
DEVICE double rounded(double a) {
  double size = fabs(a), low = floor(size);
  double whole = low + (size - low >= 0.5 ? 1.0 : 0.0);
  return a < 0.0 ? -whole : whole;
}

} // namespace events
