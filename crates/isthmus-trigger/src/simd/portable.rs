// SPDX-License-Identifier: Apache-2.0
//! Arrays, which the compiler vectorises for the target's baseline.

use super::{Bits, Kernel, LANES, Lanes, Simd};
use crate::geometry::Moments;

/// Every processor has it.
#[derive(Clone, Copy)]
pub(super) struct Portable;

macro_rules! each {
    ($at:ident, $value:expr) => {{
        let mut made = [Default::default(); LANES];
        let mut $at = 0;
        while $at < LANES {
            made[$at] = $value;
            $at += 1;
        }
        made
    }};
}

#[allow(clippy::inline_always, reason = "see Kernel")]
impl Simd for Portable {
    type F = Lanes;
    type I = [i32; LANES];
    type M = [bool; LANES];
    type B = Bits;
    type R = [i32; 8];

    #[inline(never)]
    fn call<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Lanes {
        [value; LANES]
    }
    #[inline(always)]
    fn load(self, from: &Lanes) -> Lanes {
        *from
    }
    #[inline(always)]
    fn store(self, value: Lanes, to: &mut Lanes) {
        *to = value;
    }
    #[inline(always)]
    fn add(self, a: Lanes, b: Lanes) -> Lanes {
        each!(i, a[i] + b[i])
    }
    #[inline(always)]
    fn sub(self, a: Lanes, b: Lanes) -> Lanes {
        each!(i, a[i] - b[i])
    }
    #[inline(always)]
    fn mul(self, a: Lanes, b: Lanes) -> Lanes {
        each!(i, a[i] * b[i])
    }
    #[inline(always)]
    fn div(self, a: Lanes, b: Lanes) -> Lanes {
        each!(i, a[i] / b[i])
    }
    #[inline(always)]
    fn sqrt(self, a: Lanes) -> Lanes {
        each!(i, a[i].sqrt())
    }
    #[inline(always)]
    fn min(self, a: Lanes, b: Lanes) -> Lanes {
        each!(i, if a[i] < b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn max(self, a: Lanes, b: Lanes) -> Lanes {
        each!(i, if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn lt(self, a: Lanes, b: Lanes) -> [bool; LANES] {
        each!(i, a[i] < b[i])
    }
    #[inline(always)]
    fn both(self, a: [bool; LANES], b: [bool; LANES]) -> [bool; LANES] {
        each!(i, a[i] & b[i])
    }
    #[inline(always)]
    fn bits(self, a: [bool; LANES]) -> u16 {
        let mut bits = 0;
        for (at, set) in a.into_iter().enumerate() {
            bits |= u16::from(set) << at;
        }
        bits
    }
    #[inline(always)]
    fn mask(self, bits: u16) -> [bool; LANES] {
        each!(i, bits >> i & 1 == 1)
    }
    #[inline(always)]
    fn select(self, mask: [bool; LANES], a: Lanes, b: Lanes) -> Lanes {
        each!(i, if mask[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn splat_i(self, value: i32) -> [i32; LANES] {
        [value; LANES]
    }
    #[inline(always)]
    fn add_i(self, a: [i32; LANES], b: [i32; LANES]) -> [i32; LANES] {
        each!(i, a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn sub_i(self, a: [i32; LANES], b: [i32; LANES]) -> [i32; LANES] {
        each!(i, a[i].wrapping_sub(b[i]))
    }
    #[inline(always)]
    fn and_i(self, a: [i32; LANES], b: [i32; LANES]) -> [i32; LANES] {
        each!(i, a[i] & b[i])
    }
    #[inline(always)]
    fn shr_i<const N: i32>(self, a: [i32; LANES]) -> [i32; LANES] {
        each!(i, (a[i] as u32 >> N) as i32)
    }
    #[inline(always)]
    fn to_f(self, a: [i32; LANES]) -> Lanes {
        each!(i, a[i] as f32)
    }
    #[inline(always)]
    fn as_i(self, a: Lanes) -> [i32; LANES] {
        each!(i, a[i].to_bits() as i32)
    }
    #[inline(always)]
    fn as_f(self, a: [i32; LANES]) -> Lanes {
        each!(i, f32::from_bits(a[i] as u32))
    }

    #[inline(always)]
    fn no_row(self) -> [i32; 8] {
        [0; 8]
    }
    #[inline(always)]
    fn add_row(self, mut sum: [i32; 8], row: &Moments) -> [i32; 8] {
        for (sum, one) in sum.iter_mut().zip(row.0) {
            *sum = sum.wrapping_add(one);
        }
        sum
    }
    #[inline(always)]
    fn transpose(self, rows: &[[i32; 8]; LANES]) -> [[i32; LANES]; 8] {
        let mut made = [[0; LANES]; 8];
        for (lane, row) in rows.iter().enumerate() {
            for (kind, value) in row.iter().enumerate() {
                made[kind][lane] = *value;
            }
        }
        made
    }

    #[inline(always)]
    fn sum8(self, a: &[Lanes; 8]) -> [f32; 8] {
        let mut made = [0.0; 8];
        for (made, one) in made.iter_mut().zip(a) {
            *made = super::sum(self, *one);
        }
        made
    }

    #[inline(always)]
    fn fold4(self, a: [Lanes; 4]) -> Lanes {
        each!(i, {
            let (a, i) = (&a[i / 4], i % 4);
            (a[i] * a[i + 8]) * (a[i + 4] * a[i + 12])
        })
    }

    #[inline(always)]
    fn load_b(self, from: &Bits) -> Bits {
        *from
    }
    #[inline(always)]
    fn store_b(self, value: Bits, to: &mut Bits) {
        *to = value;
    }
    #[inline(always)]
    fn and_b(self, mut a: Bits, b: Bits) -> Bits {
        for (a, b) in a.0.iter_mut().zip(b.0) {
            *a &= b;
        }
        a
    }
    #[inline(always)]
    fn or_b(self, mut a: Bits, b: Bits) -> Bits {
        for (a, b) in a.0.iter_mut().zip(b.0) {
            *a |= b;
        }
        a
    }
    #[inline(always)]
    fn full_add(self, a: Bits, b: Bits, c: Bits) -> (Bits, Bits) {
        let (mut sum, mut carry) = (Bits::default(), Bits::default());
        for i in 0..8 {
            let half = a.0[i] ^ b.0[i];
            sum.0[i] = half ^ c.0[i];
            carry.0[i] = a.0[i] & b.0[i] | half & c.0[i];
        }
        (sum, carry)
    }
    #[inline(always)]
    fn words_b(self, a: Bits) -> u8 {
        let mut bits = 0;
        for (at, word) in a.0.into_iter().enumerate() {
            bits |= u8::from(word != 0) << at;
        }
        bits
    }
}
