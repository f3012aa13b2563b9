// SPDX-License-Identifier: Apache-2.0
// A warp's 32 lanes, for a GPU and for a host.
//
// The kernels in rings.cu are written over F, I, U and M: a float, an integer, a word and a truth a lane. On a GPU
// these are plain scalars of a thread, and the functions below are instructions of a warp. A host compiler makes
// them arrays of 32, so that the same source runs there in lock step and its numbers can be tested. Plain float,
// int and unsigned are the same in all lanes; branches are on these alone.
#pragma once

#define LANES 32
#define ALL 0xFFFFFFFFu

typedef unsigned long long U64;

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define DEVICE __device__ __forceinline__
#define HOST_ONLY(text)

typedef float F;
typedef int I;
typedef unsigned U;
typedef bool M;

DEVICE U lane() { return threadIdx.x % LANES; }
#define UNROLL _Pragma("unroll")
DEVICE void meet() { __syncwarp(); }
DEVICE void rest() {}
DEVICE U64 now_ns() {
  U64 time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

DEVICE float root(float a) { return sqrtf(a); }
DEVICE int bits_of(float a) { return __float_as_int(a); }
DEVICE float float_of(int a) { return __int_as_float(a); }
DEVICE float to_float(int a) { return (float)a; }
DEVICE int to_int(unsigned a) { return (int)a; }
DEVICE int shift_right(int a, int n) { return (int)((unsigned)a >> n); }
DEVICE int first_bit(unsigned a) { return __ffs(a) - 1; }
DEVICE int last_bit(unsigned a) { return 31 - __clz(a); }
DEVICE int number_of_bits(unsigned a) { return __popc(a); }

template <class T> DEVICE T pick(bool m, T a, T b) { return m ? a : b; }

DEVICE unsigned ballot(M m) { return __ballot_sync(ALL, m); }
DEVICE int sum_of(I a) { return __reduce_add_sync(ALL, a); }
DEVICE unsigned least_of(U a) { return __reduce_min_sync(ALL, a); }
DEVICE unsigned most_of(U a) { return __reduce_max_sync(ALL, a); }
DEVICE unsigned parity_of(U a) { return __reduce_xor_sync(ALL, a); }
DEVICE F across(F a, int mask) { return __shfl_xor_sync(ALL, a, mask); }
DEVICE U from(U a, U lane) { return __shfl_sync(ALL, a, lane); }
DEVICE float of_lane(F a, int lane) { return __shfl_sync(ALL, a, lane); }
DEVICE unsigned word_of_lane(U a, int lane) { return __shfl_sync(ALL, a, lane); }

DEVICE F gather(const float *table, U at) { return table[at]; }
DEVICE I gather(const int *table, U at) { return table[at]; }
DEVICE U gather(const unsigned *table, U at) { return table[at]; }
DEVICE U gather(const unsigned short *table, U at) { return table[at]; }
DEVICE U peek(const volatile unsigned *line) { return line[lane()]; }
DEVICE void poke(volatile unsigned *line, U value) { line[lane()] = value; }
DEVICE void put(float *row, F value) { row[lane()] = value; }

#else

#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#define DEVICE static inline
#define HOST_ONLY(text) text

template <class T> struct Wide {
  T v[LANES];
  Wide() = default;
  Wide(T same) {
    for (T &one : v) one = same;
  }
};
typedef Wide<float> F;
typedef Wide<int> I;
typedef Wide<unsigned> U;
typedef Wide<bool> M;

#define EACH for (int i = 0; i < LANES; i++)
#define TWO(type, result, op)                                                                      \
  static inline result operator op(const type &a, const type &b) {                                 \
    result made;                                                                                   \
    EACH made.v[i] = a.v[i] op b.v[i];                                                             \
    return made;                                                                                   \
  }
TWO(F, F, +) TWO(F, F, -) TWO(F, F, *) TWO(F, F, /) TWO(F, M, <) TWO(F, M, >)
TWO(I, I, +) TWO(I, I, -) TWO(I, I, &)
TWO(U, U, +) TWO(U, U, -) TWO(U, U, *) TWO(U, U, &) TWO(U, U, |) TWO(U, U, ^) TWO(U, U, >>) TWO(U, U, <<)
TWO(U, M, <) TWO(U, M, >) TWO(U, M, ==) TWO(U, M, !=)
TWO(M, M, &)
#undef TWO

static inline U lane() {
  U made;
  EACH made.v[i] = i;
  return made;
}
#define UNROLL
static inline void meet() {}
static inline void rest() { std::this_thread::yield(); }
static inline U64 now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static inline float root(float a) { return std::sqrt(a); }
static inline int bits_of(float a) {
  int made;
  std::memcpy(&made, &a, 4);
  return made;
}
static inline float float_of(int a) {
  float made;
  std::memcpy(&made, &a, 4);
  return made;
}
#define ONE(result, name, type)                                                                    \
  static inline result name(const type &a) {                                                       \
    result made;                                                                                   \
    EACH made.v[i] = name(a.v[i]);                                                                 \
    return made;                                                                                   \
  }
ONE(I, bits_of, F)
ONE(F, float_of, I)
static inline float to_float(int a) { return (float)a; }
ONE(F, to_float, I)
static inline int to_int(unsigned a) { return (int)a; }
ONE(I, to_int, U)
static inline int first_bit(unsigned a) { return a ? __builtin_ctz(a) : -1; }
static inline int last_bit(unsigned a) { return a ? 31 - __builtin_clz(a) : -1; }
ONE(I, first_bit, U)
ONE(I, last_bit, U)
static inline int number_of_bits(unsigned a) { return __builtin_popcount(a); }
static inline I shift_right(const I &a, int n) {
  I made;
  EACH made.v[i] = (int)((unsigned)a.v[i] >> n);
  return made;
}
static inline U operator~(const U &a) { return a ^ U(ALL); }
static inline U word(const I &a) {
  U made;
  EACH made.v[i] = (unsigned)a.v[i];
  return made;
}

static inline float pick(bool m, float a, float b) { return m ? a : b; }
template <class T> static inline Wide<T> pick(const M &m, const Wide<T> &a, const Wide<T> &b) {
  Wide<T> made;
  EACH made.v[i] = m.v[i] ? a.v[i] : b.v[i];
  return made;
}

static inline unsigned ballot(const M &m) {
  unsigned made = 0;
  EACH made |= (unsigned)m.v[i] << i;
  return made;
}
static inline int sum_of(const I &a) {
  int made = 0;
  EACH made += a.v[i];
  return made;
}
static inline unsigned least_of(const U &a) {
  unsigned made = ALL;
  EACH made = a.v[i] < made ? a.v[i] : made;
  return made;
}
static inline unsigned most_of(const U &a) {
  unsigned made = 0;
  EACH made = a.v[i] > made ? a.v[i] : made;
  return made;
}
static inline unsigned parity_of(const U &a) {
  unsigned made = 0;
  EACH made ^= a.v[i];
  return made;
}
static inline F across(const F &a, int mask) {
  F made;
  EACH made.v[i] = a.v[i ^ mask];
  return made;
}
static inline U from(const U &a, const U &lane) {
  U made;
  EACH made.v[i] = a.v[lane.v[i] % LANES];
  return made;
}
static inline float of_lane(const F &a, int lane) { return a.v[lane]; }
static inline unsigned word_of_lane(const U &a, int lane) { return a.v[lane]; }

#define TABLE_OF(result, type)                                                                     \
  static inline result gather(const type *table, const U &at) {                                    \
    result made;                                                                                   \
    EACH made.v[i] = table[at.v[i]];                                                               \
    return made;                                                                                   \
  }
TABLE_OF(F, float)
TABLE_OF(I, int)
TABLE_OF(U, unsigned)
TABLE_OF(U, unsigned short)
static inline U peek(const volatile unsigned *line) {
  U made;
  EACH made.v[i] = line[i];
  return made;
}
static inline void poke(volatile unsigned *line, const U &value) {
  EACH line[i] = value.v[i];
}
static inline void put(float *row, const F &value) { EACH row[i] = value.v[i]; }

#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
DEVICE U word(I a) { return (unsigned)a; }
#endif
