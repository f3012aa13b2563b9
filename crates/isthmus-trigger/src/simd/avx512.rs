// SPDX-License-Identifier: Apache-2.0
//! AVX-512: one register for 16 lanes or 512 bits.
#![allow(unsafe_code, reason = "intrinsics: the token is only made where the processor has them")]

use super::{Bits, Kernel, LANES, Lanes, Simd};
use crate::geometry::Moments;
use std::arch::x86_64::*;

/// The processor has the instructions of this level.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    /// Where the processor has them.
    #[inline(always)]
    pub(super) fn new() -> Option<Self> {
        let all = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx2");
        all.then_some(Self(()))
    }
}

/// Compiled for this level.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
#[inline(never)]
fn compiled<K: Kernel>(level: Avx512, kernel: K) -> K::Output {
    kernel.run(level)
}

#[allow(clippy::inline_always, reason = "see Kernel")]
impl Simd for Avx512 {
    type F = __m512;
    type I = __m512i;
    type M = __mmask16;
    type B = __m512i;
    type R = __m256i;

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the processor has the instructions that the function is compiled for.
        unsafe { compiled(self, kernel) }
    }
    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    fn load(self, from: &Lanes) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, value: __m512, to: &mut Lanes) {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_div_ps(a, b) }
    }
    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_min_ps(a, b) }
    }
    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    fn sqrt(self, a: __m512) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_sqrt_ps(a) }
    }
    #[inline(always)]
    fn lt(self, a: __m512, b: __m512) -> __mmask16 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
    }
    #[inline(always)]
    fn both(self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }
    #[inline(always)]
    fn bits(self, a: __mmask16) -> u16 {
        a
    }
    #[inline(always)]
    fn mask(self, bits: u16) -> __mmask16 {
        bits
    }
    #[inline(always)]
    fn select(self, mask: __mmask16, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_mask_blend_ps(mask, b, a) }
    }
    #[inline(always)]
    fn splat_i(self, value: i32) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_set1_epi32(value) }
    }
    #[inline(always)]
    fn add_i(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_add_epi32(a, b) }
    }
    #[inline(always)]
    fn sub_i(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_sub_epi32(a, b) }
    }
    #[inline(always)]
    fn and_i(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    fn shr_i<const N: i32>(self, a: __m512i) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_srl_epi32(a, _mm_cvtsi32_si128(N)) }
    }
    #[inline(always)]
    fn to_f(self, a: __m512i) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_cvtepi32_ps(a) }
    }
    #[inline(always)]
    fn as_i(self, a: __m512) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_castps_si512(a) }
    }
    #[inline(always)]
    fn as_f(self, a: __m512i) -> __m512 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_castsi512_ps(a) }
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
    fn transpose(self, rows: &[__m256i; LANES]) -> [__m512i; 8] {
        let (low, high) = rows.split_at(8);
        // SAFETY: as above.
        unsafe {
            let low = super::avx2::transpose8(low.try_into().expect("eight"));
            let high = super::avx2::transpose8(high.try_into().expect("eight"));
            let mut made = [_mm512_setzero_si512(); 8];
            for i in 0..8 {
                made[i] = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low[i]), high[i]);
            }
            made
        }
    }
    #[inline(always)]
    fn sum8(self, a: &[__m512; 8]) -> [f32; 8] {
        // SAFETY: as above.
        unsafe {
            let mut made = [_mm256_setzero_ps(); 8];
            for i in 0..8 {
                let high = _mm512_extractf32x8_ps::<1>(a[i]);
                made[i] = _mm256_add_ps(_mm512_castps512_ps256(a[i]), high);
            }
            super::avx2::sum8(&made)
        }
    }
    #[inline(always)]
    fn fold4(self, a: [__m512; 4]) -> __m512 {
        // SAFETY: as above.
        unsafe {
            let m = _mm512_mul_ps(
                _mm512_shuffle_f32x4::<0x44>(a[0], a[1]),
                _mm512_shuffle_f32x4::<0xEE>(a[0], a[1]),
            );
            let n = _mm512_mul_ps(
                _mm512_shuffle_f32x4::<0x44>(a[2], a[3]),
                _mm512_shuffle_f32x4::<0xEE>(a[2], a[3]),
            );
            _mm512_mul_ps(_mm512_shuffle_f32x4::<0x88>(m, n), _mm512_shuffle_f32x4::<0xDD>(m, n))
        }
    }
    #[inline(always)]
    fn load_b(self, from: &Bits) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_load_si512(from.0.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store_b(self, value: __m512i, to: &mut Bits) {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_store_si512(to.0.as_mut_ptr().cast(), value) }
    }
    #[inline(always)]
    fn and_b(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    fn or_b(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_or_si512(a, b) }
    }
    #[inline(always)]
    fn full_add(self, a: __m512i, b: __m512i, c: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe {
            let sum = _mm512_ternarylogic_epi64::<0x96>(a, b, c);
            (sum, _mm512_ternarylogic_epi64::<0xE8>(a, b, c))
        }
    }
    #[inline(always)]
    fn words_b(self, a: __m512i) -> u8 {
        // SAFETY: the processor has the instructions, see above; addresses are those of whole references.
        unsafe { _mm512_test_epi64_mask(a, a) }
    }
}
