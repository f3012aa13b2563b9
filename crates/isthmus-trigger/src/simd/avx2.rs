// SPDX-License-Identifier: Apache-2.0
//! AVX2: two registers for 16 lanes or 512 bits.
#![allow(unsafe_code, reason = "intrinsics: the token is only made where the processor has them")]

use super::{Bits, Kernel, LANES, Lanes, Simd};
use crate::geometry::Moments;
use std::arch::x86_64::*;

/// The processor has the instructions of this level.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Where the processor has them.
    #[inline(always)]
    pub(super) fn new() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

/// Compiled for this level.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn compiled<K: Kernel>(level: Avx2, kernel: K) -> K::Output {
    kernel.run(level)
}

/// Rows become columns.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transpose8(r: &[__m256i; 8]) -> [__m256i; 8] {
    let pair = |a, b| (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let four = |a, b| (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let (a0, a1) = pair(r[0], r[1]);
    let (a2, a3) = pair(r[2], r[3]);
    let (a4, a5) = pair(r[4], r[5]);
    let (a6, a7) = pair(r[6], r[7]);
    let (b0, b1) = four(a0, a2);
    let (b2, b3) = four(a1, a3);
    let (b4, b5) = four(a4, a6);
    let (b6, b7) = four(a5, a7);
    [
        _mm256_permute2x128_si256::<0x20>(b0, b4),
        _mm256_permute2x128_si256::<0x20>(b1, b5),
        _mm256_permute2x128_si256::<0x20>(b2, b6),
        _mm256_permute2x128_si256::<0x20>(b3, b7),
        _mm256_permute2x128_si256::<0x31>(b0, b4),
        _mm256_permute2x128_si256::<0x31>(b1, b5),
        _mm256_permute2x128_si256::<0x31>(b2, b6),
        _mm256_permute2x128_si256::<0x31>(b3, b7),
    ]
}

/// Sums over 8 lanes of 8 vectors, in the order of [`Simd::sum8`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn sum8(a: &[__m256; 8]) -> [f32; 8] {
    // Lanes i and i + 4 of two vectors, then i and i + 2, then i and i + 1.
    let fold4 = |a, b| {
        let (low, high) =
            (_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b));
        _mm256_add_ps(low, high)
    };
    let fold2 = |a, b| {
        let (low, high) = (_mm256_shuffle_ps::<0x44>(a, b), _mm256_shuffle_ps::<0xEE>(a, b));
        _mm256_add_ps(low, high)
    };
    // Halves: vectors 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    let (c0, c1) = (fold4(a[0], a[4]), fold4(a[1], a[5]));
    let (c2, c3) = (fold4(a[2], a[6]), fold4(a[3], a[7]));
    let (d0, d1) = (fold2(c0, c1), fold2(c2, c3));
    let (even, odd) = (_mm256_shuffle_ps::<0x88>(d0, d1), _mm256_shuffle_ps::<0xDD>(d0, d1));
    let sums = _mm256_add_ps(even, odd);
    let mut made = [0.0; 8];
    // SAFETY: the array has eight floats.
    unsafe { _mm256_storeu_ps(made.as_mut_ptr(), sums) };
    made
}

#[allow(clippy::inline_always, reason = "see Kernel")]
impl Simd for Avx2 {
    type F = [__m256; 2];
    type I = [__m256i; 2];
    type M = [__m256; 2];
    type B = [__m256i; 2];
    type R = __m256i;

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the processor has the instructions that the function is compiled for.
        unsafe { compiled(self, kernel) }
    }
    #[inline(always)]
    fn splat(self, value: f32) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_set1_ps(value); 2] }
    }
    #[inline(always)]
    fn load(self, from: &Lanes) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))] }
    }
    #[inline(always)]
    fn store(self, value: [__m256; 2], to: &mut Lanes) {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), value[0]);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), value[1]);
        }
    }
    #[inline(always)]
    fn add(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn sub(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn mul(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn div(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn min(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_min_ps(a[0], b[0]), _mm256_min_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn max(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn sqrt(self, a: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_sqrt_ps(a[0]), _mm256_sqrt_ps(a[1])] }
    }
    #[inline(always)]
    fn lt(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe {
            [_mm256_cmp_ps::<_CMP_LT_OQ>(a[0], b[0]), _mm256_cmp_ps::<_CMP_LT_OQ>(a[1], b[1])]
        }
    }
    #[inline(always)]
    fn both(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_and_ps(a[0], b[0]), _mm256_and_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn bits(self, a: [__m256; 2]) -> u16 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm256_movemask_ps(a[0]) as u16 | (_mm256_movemask_ps(a[1]) as u16) << 8 }
    }
    #[inline(always)]
    fn mask(self, bits: u16) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe {
            let each = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
            let mut made = [_mm256_setzero_ps(); 2];
            for half in 0..2 {
                let own = _mm256_and_si256(_mm256_set1_epi32(i32::from(bits >> (8 * half))), each);
                made[half] = _mm256_castsi256_ps(_mm256_cmpeq_epi32(own, each));
            }
            made
        }
    }
    #[inline(always)]
    fn select(self, mask: [__m256; 2], a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_blendv_ps(b[0], a[0], mask[0]), _mm256_blendv_ps(b[1], a[1], mask[1])] }
    }
    #[inline(always)]
    fn splat_i(self, value: i32) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_set1_epi32(value); 2] }
    }
    #[inline(always)]
    fn add_i(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])] }
    }
    #[inline(always)]
    fn sub_i(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_sub_epi32(a[0], b[0]), _mm256_sub_epi32(a[1], b[1])] }
    }
    #[inline(always)]
    fn and_i(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])] }
    }
    #[inline(always)]
    fn shr_i<const N: i32>(self, a: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_srli_epi32::<N>(a[0]), _mm256_srli_epi32::<N>(a[1])] }
    }
    #[inline(always)]
    fn to_f(self, a: [__m256i; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_cvtepi32_ps(a[0]), _mm256_cvtepi32_ps(a[1])] }
    }
    #[inline(always)]
    fn as_i(self, a: [__m256; 2]) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_castps_si256(a[0]), _mm256_castps_si256(a[1])] }
    }
    #[inline(always)]
    fn as_f(self, a: [__m256i; 2]) -> [__m256; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_castsi256_ps(a[0]), _mm256_castsi256_ps(a[1])] }
    }
    #[inline(always)]
    fn no_row(self) -> __m256i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm256_setzero_si256() }
    }
    #[inline(always)]
    fn add_row(self, sum: __m256i, row: &Moments) -> __m256i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm256_add_epi32(sum, _mm256_load_si256(row.0.as_ptr().cast())) }
    }
    #[inline(always)]
    fn transpose(self, rows: &[__m256i; LANES]) -> [[__m256i; 2]; 8] {
        let (low, high) = rows.split_at(8);
        // SAFETY: as above.
        unsafe {
            let low = transpose8(low.try_into().expect("eight"));
            let high = transpose8(high.try_into().expect("eight"));
            let mut made = [[_mm256_setzero_si256(); 2]; 8];
            for i in 0..8 {
                made[i] = [low[i], high[i]];
            }
            made
        }
    }
    #[inline(always)]
    fn sum8(self, a: &[[__m256; 2]; 8]) -> [f32; 8] {
        // SAFETY: as above.
        unsafe {
            let mut made = [_mm256_setzero_ps(); 8];
            for i in 0..8 {
                made[i] = _mm256_add_ps(a[i][0], a[i][1]);
            }
            sum8(&made)
        }
    }
    #[inline(always)]
    fn fold4(self, a: [[__m256; 2]; 4]) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe {
            let mut made = [_mm256_setzero_ps(); 2];
            for half in 0..2 {
                let (a, b) = (a[2 * half], a[2 * half + 1]);
                let (m, n) = (_mm256_mul_ps(a[0], a[1]), _mm256_mul_ps(b[0], b[1]));
                let low = _mm256_permute2f128_ps::<0x20>(m, n);
                made[half] = _mm256_mul_ps(low, _mm256_permute2f128_ps::<0x31>(m, n));
            }
            made
        }
    }
    #[inline(always)]
    fn load_b(self, from: &Bits) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe {
            let from: *const __m256i = from.0.as_ptr().cast();
            [_mm256_load_si256(from), _mm256_load_si256(from.add(1))]
        }
    }
    #[inline(always)]
    fn store_b(self, value: [__m256i; 2], to: &mut Bits) {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe {
            let to: *mut __m256i = to.0.as_mut_ptr().cast();
            _mm256_store_si256(to, value[0]);
            _mm256_store_si256(to.add(1), value[1]);
        }
    }
    #[inline(always)]
    fn and_b(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])] }
    }
    #[inline(always)]
    fn or_b(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { [_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])] }
    }
    #[inline(always)]
    fn full_add(
        self,
        a: [__m256i; 2],
        b: [__m256i; 2],
        c: [__m256i; 2],
    ) -> ([__m256i; 2], [__m256i; 2]) {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe {
            let (mut sum, mut carry) = ([_mm256_setzero_si256(); 2], [_mm256_setzero_si256(); 2]);
            for i in 0..2 {
                let half = _mm256_xor_si256(a[i], b[i]);
                sum[i] = _mm256_xor_si256(half, c[i]);
                let (both, more) = (_mm256_and_si256(a[i], b[i]), _mm256_and_si256(half, c[i]));
                carry[i] = _mm256_or_si256(both, more);
            }
            (sum, carry)
        }
    }
    #[inline(always)]
    fn words_b(self, a: [__m256i; 2]) -> u8 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe {
            let zero = _mm256_setzero_si256();
            let low = _mm256_castsi256_pd(_mm256_cmpeq_epi64(a[0], zero));
            let high = _mm256_castsi256_pd(_mm256_cmpeq_epi64(a[1], zero));
            !(_mm256_movemask_pd(low) | _mm256_movemask_pd(high) << 4) as u8
        }
    }
}
