// SPDX-License-Identifier: Apache-2.0
//! Sixteen lanes at a time on whatever the processor has, chosen when the program runs.
//!
//! A kernel is written once, over [`Simd`]. Every level has the same sixteen lanes, the same order of sums and
//! no fused multiply-add, so that all levels give the same bits. All `unsafe` of the crate is in the
//! levels below: an intrinsic is safe to call where the processor has its instructions, and the token of a level
//! is only made where it has.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use crate::geometry::Moments;

/// Lanes of a vector.
pub const LANES: usize = 16;

/// One value a lane.
pub type Lanes = [f32; LANES];

/// The instructions of a level. A value of such a type is the proof that the processor has them.
pub trait Simd: Copy + Send + Sync {
    /// 16 floats.
    type F: Copy;
    /// 16 integers.
    type I: Copy;
    /// 16 truths.
    type M: Copy;
    /// 512 bits.
    type B: Copy;
    /// The sums of one event.
    type R: Copy;

    /// Runs a kernel as a function compiled for this level.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;

    /// The same in all lanes.
    fn splat(self, value: f32) -> Self::F;
    /// From memory.
    fn load(self, from: &Lanes) -> Self::F;
    /// To memory.
    fn store(self, value: Self::F, to: &mut Lanes);
    /// a + b.
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    /// a - b.
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    /// a * b.
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// a / b.
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// Square root.
    fn sqrt(self, a: Self::F) -> Self::F;
    /// a where a < b, else b.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    /// a where a > b, else b.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    /// a < b.
    fn lt(self, a: Self::F, b: Self::F) -> Self::M;
    /// Both.
    fn both(self, a: Self::M, b: Self::M) -> Self::M;
    /// A bit a lane.
    fn bits(self, a: Self::M) -> u16;
    /// The truths of these bits.
    fn mask(self, bits: u16) -> Self::M;
    /// a where the mask is set, else b.
    fn select(self, mask: Self::M, a: Self::F, b: Self::F) -> Self::F;

    /// The same in all lanes.
    fn splat_i(self, value: i32) -> Self::I;
    /// a + b, wrapping.
    fn add_i(self, a: Self::I, b: Self::I) -> Self::I;
    /// a - b, wrapping.
    fn sub_i(self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise and.
    fn and_i(self, a: Self::I, b: Self::I) -> Self::I;
    /// Logical shift to the right.
    fn shr_i<const N: i32>(self, a: Self::I) -> Self::I;
    /// The nearest float.
    fn to_f(self, a: Self::I) -> Self::F;
    /// The bits of a float.
    fn as_i(self, a: Self::F) -> Self::I;
    /// A float of these bits.
    fn as_f(self, a: Self::I) -> Self::F;

    /// No sums.
    fn no_row(self) -> Self::R;
    /// Sums of one hit more.
    fn add_row(self, sum: Self::R, row: &Moments) -> Self::R;
    /// Sums of 16 events, a vector for each kind of sum.
    fn transpose(self, rows: &[Self::R; LANES]) -> [Self::I; 8];

    /// The sum over the lanes of each vector: halves are folded, lane i + 8 onto i, then i + 4, i + 2 and i + 1.
    fn sum8(self, a: &[Self::F; 8]) -> [f32; 8];

    /// Products over every fourth lane: lane 4 k + i of the result is that of lanes i, i + 4, i + 8 and i + 12 of
    /// vector k, as (i times i + 8) times (i + 4 times i + 12).
    fn fold4(self, a: [Self::F; 4]) -> Self::F;

    /// 512 bits from memory.
    fn load_b(self, from: &Bits) -> Self::B;
    /// 512 bits to memory.
    fn store_b(self, value: Self::B, to: &mut Bits);
    /// Bitwise and.
    fn and_b(self, a: Self::B, b: Self::B) -> Self::B;
    /// Bitwise or.
    fn or_b(self, a: Self::B, b: Self::B) -> Self::B;
    /// A full adder in each bit: sum and carry of a, b and c.
    fn full_add(self, a: Self::B, b: Self::B, c: Self::B) -> (Self::B, Self::B);
    /// Of each of the eight words whether any bit is set.
    fn words_b(self, a: Self::B) -> u8;
}

/// 512 bits in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub struct Bits(pub [u64; 8]);

/// What runs at a level. `run` must be inlined, as must all that it calls: mark it `#[inline(always)]`.
pub trait Kernel {
    /// Its result.
    type Output;
    /// Runs it.
    fn run<S: Simd>(self, s: S) -> Self::Output;
}

/// Which instructions are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What the compiler makes of arrays for the target's baseline, SSE2 on x86-64.
    Portable,
    /// NEON, of AArch64.
    Neon,
    /// AVX2.
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Level {
    /// All, slowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// The best that this processor has.
    #[must_use]
    pub fn best() -> Self {
        Self::ALL.into_iter().rfind(|level| level.is_available()).unwrap_or(Self::Portable)
    }

    /// Whether this processor has it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::Avx2::new().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::Avx512::new().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Runs a kernel with these instructions, or with the portable ones where the processor lacks them.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Avx512 => {
                if let Some(level) = avx512::Avx512::new() {
                    return level.call(kernel);
                }
            }
            Self::Avx2 => {
                if let Some(level) = avx2::Avx2::new() {
                    return level.call(kernel);
                }
            }
            Self::Portable | Self::Neon => {}
        }
        #[cfg(target_arch = "aarch64")]
        if self == Self::Neon {
            return neon::Neon::new().call(kernel);
        }
        portable::Portable.call(kernel)
    }
}

/// 1 / sqrt(x) to 5 parts in a million: a guess from the bits, and two steps of Newton. Of 0 a large number.
#[inline(always)]
pub fn rsqrt<S: Simd>(s: S, x: S::F) -> S::F {
    let guess = s.sub_i(s.splat_i(0x5F37_59DF), s.shr_i::<1>(s.as_i(x)));
    let (half, three) = (s.mul(x, s.splat(0.5)), s.splat(1.5));
    let mut y = s.as_f(guess);
    for _ in 0..2 {
        y = s.mul(y, s.sub(three, s.mul(s.mul(half, y), y)));
    }
    y
}

/// Natural logarithm of normal positive numbers, to a few units of the last place (polynomial of Cephes).
#[inline(always)]
pub fn ln<S: Simd>(s: S, x: S::F) -> S::F {
    let bits = s.as_i(x);
    // Mantissa in [sqrt(1/2), sqrt(2)).
    let shifted = s.sub_i(bits, s.splat_i(0x3F35_04F3));
    let exponent = s.sub_i(
        s.shr_i::<23>(s.add_i(shifted, s.splat_i(0x4000_0000))),
        s.splat_i(0x4000_0000 >> 23),
    );
    let m = s.add_i(s.and_i(shifted, s.splat_i(0x007F_FFFF)), s.splat_i(0x3F35_04F3));
    let x = s.sub(s.as_f(m), s.splat(1.0));
    let z = s.mul(x, x);
    let pair = |low, high| s.add(s.splat(low), s.mul(s.splat(high), x));
    let ab =
        s.add(pair(3.333_333e-1, -2.499_999_4e-1), s.mul(z, pair(2.000_071_5e-1, -1.666_805_8e-1)));
    let cd =
        s.add(pair(1.424_932_3e-1, -1.242_014_1e-1), s.mul(z, pair(1.167_699_9e-1, -1.151_461e-1)));
    let zz = s.mul(z, z);
    let p = s.add(ab, s.mul(zz, s.add(cd, s.mul(zz, s.splat(7.037_683_6e-2)))));
    let small = s.sub(s.mul(s.mul(x, z), p), s.mul(z, s.splat(0.5)));
    let large = s.mul(s.to_f(exponent), s.splat(std::f32::consts::LN_2));
    s.add(s.add(small, x), large)
}

/// One value in the order of [`Simd::sum8`].
#[inline(always)]
pub fn sum<S: Simd>(s: S, a: S::F) -> f32 {
    let mut lanes = [0.0; LANES];
    s.store(a, &mut lanes);
    for half in [8, 4, 2, 1] {
        for at in 0..half {
            lanes[at] += lanes[at + half];
        }
    }
    lanes[0]
}

#[cfg(test)]
mod tests;
