// SPDX-License-Identifier: Apache-2.0
//! NEON: four registers for 16 lanes or 512 bits. Every AArch64 processor of the target has it.
#![allow(unsafe_code, reason = "loads and stores: addresses are those of whole references")]

use super::{Bits, Kernel, LANES, Lanes, Simd};
use crate::geometry::Moments;
use std::arch::aarch64::*;

/// The processor has the instructions of this level.
#[derive(Clone, Copy)]
pub(super) struct Neon(());

impl Neon {
    /// The target's baseline.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self(())
    }
}

/// A value of each of the four registers.
macro_rules! four {
    ($at:ident, $value:expr) => {{
        let one = |$at: usize| unsafe { $value };
        [one(0), one(1), one(2), one(3)]
    }};
}

/// The bit of each lane in a word of 16.
const WEIGHTS: [[u32; 4]; 4] =
    [[1, 2, 4, 8], [16, 32, 64, 128], [256, 512, 1024, 2048], [4096, 8192, 16384, 32768]];

#[inline(always)]
fn weights(at: usize) -> uint32x4_t {
    // SAFETY: the array has four words.
    unsafe { vld1q_u32(WEIGHTS[at].as_ptr()) }
}

/// Rows become columns.
#[inline(always)]
fn transpose4(r: [int32x4_t; 4]) -> [int32x4_t; 4] {
    // SAFETY: instructions of the baseline.
    unsafe {
        let long = |a| vreinterpretq_s64_s32(a);
        let short = |a| vreinterpretq_s32_s64(a);
        let (a0, a1) = (long(vtrn1q_s32(r[0], r[1])), long(vtrn2q_s32(r[0], r[1])));
        let (a2, a3) = (long(vtrn1q_s32(r[2], r[3])), long(vtrn2q_s32(r[2], r[3])));
        [
            short(vtrn1q_s64(a0, a2)),
            short(vtrn1q_s64(a1, a3)),
            short(vtrn2q_s64(a0, a2)),
            short(vtrn2q_s64(a1, a3)),
        ]
    }
}

#[allow(clippy::inline_always, reason = "see Kernel")]
#[allow(clippy::undocumented_unsafe_blocks, unused_unsafe, reason = "instructions of the baseline")]
impl Simd for Neon {
    type F = [float32x4_t; 4];
    type I = [int32x4_t; 4];
    type M = [uint32x4_t; 4];
    type B = [uint64x2_t; 4];
    type R = [int32x4_t; 2];

    #[inline(never)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, value: f32) -> [float32x4_t; 4] {
        [unsafe { vdupq_n_f32(value) }; 4]
    }
    #[inline(always)]
    fn load(self, from: &Lanes) -> [float32x4_t; 4] {
        four!(i, vld1q_f32(from.as_ptr().add(4 * i)))
    }
    #[inline(always)]
    fn store(self, value: [float32x4_t; 4], to: &mut Lanes) {
        for i in 0..4 {
            unsafe { vst1q_f32(to.as_mut_ptr().add(4 * i), value[i]) };
        }
    }
    #[inline(always)]
    fn add(self, a: [float32x4_t; 4], b: [float32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vaddq_f32(a[i], b[i]))
    }
    #[inline(always)]
    fn sub(self, a: [float32x4_t; 4], b: [float32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vsubq_f32(a[i], b[i]))
    }
    #[inline(always)]
    fn mul(self, a: [float32x4_t; 4], b: [float32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vmulq_f32(a[i], b[i]))
    }
    #[inline(always)]
    fn div(self, a: [float32x4_t; 4], b: [float32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vdivq_f32(a[i], b[i]))
    }
    #[inline(always)]
    fn sqrt(self, a: [float32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vsqrtq_f32(a[i]))
    }
    #[inline(always)]
    fn min(self, a: [float32x4_t; 4], b: [float32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vbslq_f32(vcltq_f32(a[i], b[i]), a[i], b[i]))
    }
    #[inline(always)]
    fn max(self, a: [float32x4_t; 4], b: [float32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vbslq_f32(vcgtq_f32(a[i], b[i]), a[i], b[i]))
    }
    #[inline(always)]
    fn lt(self, a: [float32x4_t; 4], b: [float32x4_t; 4]) -> [uint32x4_t; 4] {
        four!(i, vcltq_f32(a[i], b[i]))
    }
    #[inline(always)]
    fn both(self, a: [uint32x4_t; 4], b: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
        four!(i, vandq_u32(a[i], b[i]))
    }
    #[inline(always)]
    fn bits(self, a: [uint32x4_t; 4]) -> u16 {
        let sums: [u32; 4] = four!(i, vaddvq_u32(vandq_u32(a[i], weights(i))));
        sums.iter().sum::<u32>() as u16
    }
    #[inline(always)]
    fn mask(self, bits: u16) -> [uint32x4_t; 4] {
        let all = unsafe { vdupq_n_u32(u32::from(bits)) };
        four!(i, vtstq_u32(all, weights(i)))
    }
    #[inline(always)]
    fn select(
        self,
        mask: [uint32x4_t; 4],
        a: [float32x4_t; 4],
        b: [float32x4_t; 4],
    ) -> [float32x4_t; 4] {
        four!(i, vbslq_f32(mask[i], a[i], b[i]))
    }
    #[inline(always)]
    fn splat_i(self, value: i32) -> [int32x4_t; 4] {
        [unsafe { vdupq_n_s32(value) }; 4]
    }
    #[inline(always)]
    fn add_i(self, a: [int32x4_t; 4], b: [int32x4_t; 4]) -> [int32x4_t; 4] {
        four!(i, vaddq_s32(a[i], b[i]))
    }
    #[inline(always)]
    fn sub_i(self, a: [int32x4_t; 4], b: [int32x4_t; 4]) -> [int32x4_t; 4] {
        four!(i, vsubq_s32(a[i], b[i]))
    }
    #[inline(always)]
    fn and_i(self, a: [int32x4_t; 4], b: [int32x4_t; 4]) -> [int32x4_t; 4] {
        four!(i, vandq_s32(a[i], b[i]))
    }
    #[inline(always)]
    fn shr_i<const N: i32>(self, a: [int32x4_t; 4]) -> [int32x4_t; 4] {
        four!(i, vreinterpretq_s32_u32(vshrq_n_u32::<N>(vreinterpretq_u32_s32(a[i]))))
    }
    #[inline(always)]
    fn to_f(self, a: [int32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vcvtq_f32_s32(a[i]))
    }
    #[inline(always)]
    fn as_i(self, a: [float32x4_t; 4]) -> [int32x4_t; 4] {
        four!(i, vreinterpretq_s32_f32(a[i]))
    }
    #[inline(always)]
    fn as_f(self, a: [int32x4_t; 4]) -> [float32x4_t; 4] {
        four!(i, vreinterpretq_f32_s32(a[i]))
    }
    #[inline(always)]
    fn no_row(self) -> [int32x4_t; 2] {
        [unsafe { vdupq_n_s32(0) }; 2]
    }
    #[inline(always)]
    fn add_row(self, sum: [int32x4_t; 2], row: &Moments) -> [int32x4_t; 2] {
        unsafe {
            let row = [vld1q_s32(row.0.as_ptr()), vld1q_s32(row.0.as_ptr().add(4))];
            [vaddq_s32(sum[0], row[0]), vaddq_s32(sum[1], row[1])]
        }
    }
    #[inline(always)]
    fn transpose(self, rows: &[[int32x4_t; 2]; LANES]) -> [[int32x4_t; 4]; 8] {
        let mut made = [self.splat_i(0); 8];
        for lanes in 0..4 {
            for half in 0..2 {
                let rows = [0, 1, 2, 3].map(|at| rows[4 * lanes + at][half]);
                for (kind, column) in transpose4(rows).into_iter().enumerate() {
                    made[4 * half + kind][lanes] = column;
                }
            }
        }
        made
    }
    #[inline(always)]
    fn sum8(self, a: &[[float32x4_t; 4]; 8]) -> [f32; 8] {
        a.map(|a| unsafe {
            let four = vaddq_f32(vaddq_f32(a[0], a[2]), vaddq_f32(a[1], a[3]));
            let two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
            vget_lane_f32::<0>(vpadd_f32(two, two))
        })
    }
    #[inline(always)]
    fn fold4(self, a: [[float32x4_t; 4]; 4]) -> [float32x4_t; 4] {
        four!(k, vmulq_f32(vmulq_f32(a[k][0], a[k][2]), vmulq_f32(a[k][1], a[k][3])))
    }
    #[inline(always)]
    fn load_b(self, from: &Bits) -> [uint64x2_t; 4] {
        four!(i, vld1q_u64(from.0.as_ptr().add(2 * i)))
    }
    #[inline(always)]
    fn store_b(self, value: [uint64x2_t; 4], to: &mut Bits) {
        for i in 0..4 {
            unsafe { vst1q_u64(to.0.as_mut_ptr().add(2 * i), value[i]) };
        }
    }
    #[inline(always)]
    fn and_b(self, a: [uint64x2_t; 4], b: [uint64x2_t; 4]) -> [uint64x2_t; 4] {
        four!(i, vandq_u64(a[i], b[i]))
    }
    #[inline(always)]
    fn or_b(self, a: [uint64x2_t; 4], b: [uint64x2_t; 4]) -> [uint64x2_t; 4] {
        four!(i, vorrq_u64(a[i], b[i]))
    }
    #[inline(always)]
    fn full_add(
        self,
        a: [uint64x2_t; 4],
        b: [uint64x2_t; 4],
        c: [uint64x2_t; 4],
    ) -> ([uint64x2_t; 4], [uint64x2_t; 4]) {
        // Where a and b differ the carry is c, else a.
        let half: [uint64x2_t; 4] = four!(i, veorq_u64(a[i], b[i]));
        (four!(i, veorq_u64(half[i], c[i])), four!(i, vbslq_u64(half[i], c[i], a[i])))
    }
    #[inline(always)]
    fn words_b(self, a: [uint64x2_t; 4]) -> u8 {
        let mut words = Bits::default();
        self.store_b(a, &mut words);
        let set = |at: usize| u8::from(words.0[at] != 0) << at;
        (0..8).fold(0, |bits, at| bits | set(at))
    }
}
