// SPDX-License-Identifier: Apache-2.0
use super::*;

/// What a kernel of all instructions makes of some numbers.
struct Everything<'a>(&'a [Lanes; 8]);

impl Kernel for Everything<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> Vec<u32> {
        let mut out = Vec::new();
        let v: [S::F; 8] = std::array::from_fn(|i| s.load(&self.0[i]));
        let mut keep = |value: S::F| {
            let mut lanes = [0.0; LANES];
            s.store(value, &mut lanes);
            out.extend(lanes.map(f32::to_bits));
        };
        let (a, b) = (v[0], v[1]);
        for value in [s.add(a, b), s.sub(a, b), s.mul(a, b), s.div(a, b), s.min(a, b), s.max(a, b)]
        {
            keep(value);
        }
        let positive = s.max(a, s.splat(0.25));
        keep(s.sqrt(positive));
        keep(rsqrt(s, positive));
        keep(ln(s, positive));
        keep(s.select(s.both(s.lt(a, b), s.lt(v[2], v[3])), a, b));
        keep(s.select(s.mask(0xA5F0), a, b));
        keep(s.to_f(s.shr_i::<9>(s.and_i(s.as_i(a), s.splat_i(0x7FFF_FFFF)))));
        keep(s.as_f(s.add_i(s.as_i(a), s.splat_i(1))));
        keep(s.fold4([v[0], v[1], v[2], v[3]]));
        out.push(u32::from(s.bits(s.lt(a, b))));
        out.extend(s.sum8(&v).map(f32::to_bits));
        out.push(sum(s, a).to_bits());
        let rows = std::array::from_fn(|lane| {
            let of = |shift| Moments(std::array::from_fn(|kind| (lane * 8 + kind + shift) as i32));
            s.add_row(s.add_row(s.no_row(), &of(0)), &of(1000))
        });
        for kind in s.transpose(&rows) {
            let mut lanes = [0.0; LANES];
            s.store(s.to_f(kind), &mut lanes);
            out.extend(lanes.map(|lane| lane as u32));
        }
        let word = |seed: u64| {
            s.load_b(&Bits(std::array::from_fn(|i| {
                0x9E37_79B9_7F4A_7C15u64.wrapping_mul(seed + i as u64)
            })))
        };
        let (x, y, z) = (word(1), word(20), word(300));
        let (sum, carry) = s.full_add(x, y, z);
        for bits in [sum, carry, s.and_b(x, y), s.or_b(x, y)] {
            let mut words = Bits::default();
            s.store_b(bits, &mut words);
            out.extend(words.0.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]));
        }
        let none = s.load_b(&Bits::default());
        let some = s.load_b(&Bits([0, 1, 0, 1 << 63, 1 << 32, 0, 0, 2]));
        out.extend([none, some, s.and_b(x, y)].map(|bits| u32::from(s.words_b(bits))));
        out
    }
}

fn numbers() -> [Lanes; 8] {
    let mut d = crate::random::Draws::new(11, 0);
    std::array::from_fn(|_| std::array::from_fn(|_| (d.normal() * 100.0) as f32))
}

#[test]
fn all_levels_give_the_same_bits() {
    let numbers = numbers();
    let expected = Level::Portable.run(Everything(&numbers));
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        assert_eq!(level.run(Everything(&numbers)), expected, "{}", level.name());
    }
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_is_a_level_of_every_aarch64() {
    assert_eq!(Level::best(), Level::Neon);
}

#[test]
fn words_with_bits_are_marked() {
    let found = Level::best().run(Everything(&numbers()));
    assert_eq!(found[found.len() - 3..], [0, 0b1001_1010, 0xFF]);
}

#[test]
fn sums_and_transposes_are_those_of_arithmetic() {
    let numbers = numbers();
    let found = Level::best().run(Everything(&numbers));
    let sums = &found[14 * LANES + 1..][..8];
    for (sum, values) in sums.iter().zip(numbers) {
        let exact: f64 = values.into_iter().map(f64::from).sum();
        assert!((f64::from(f32::from_bits(*sum)) - exact).abs() < 1e-3);
    }
    let folds = &found[13 * LANES..][..LANES];
    for (at, fold) in folds.iter().enumerate() {
        let exact: f64 = (0..4).map(|row| f64::from(numbers[at / 4][4 * row + at % 4])).product();
        assert!((f64::from(f32::from_bits(*fold)) / exact - 1.0).abs() < 1e-6);
    }
    let columns = &found[14 * LANES + 10..][..128];
    for (at, value) in columns.iter().enumerate() {
        let (kind, lane) = (at / LANES, at % LANES);
        assert_eq!(*value as usize, 2 * (lane * 8 + kind) + 1000);
    }
}

/// Some function of one vector.
struct Of<'a>(&'a Lanes, bool);

impl Kernel for Of<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> Lanes {
        let x = s.load(self.0);
        let mut out = [0.0; LANES];
        s.store(if self.1 { ln(s, x) } else { rsqrt(s, x) }, &mut out);
        out
    }
}

#[test]
fn logarithm_and_root_are_right_over_their_whole_range() {
    let mut d = crate::random::Draws::new(12, 0);
    for _ in 0..2000 {
        let x: Lanes = std::array::from_fn(|_| (200.0 * (d.uniform() - 0.4)).exp2() as f32);
        let (logs, roots) = (Level::best().run(Of(&x, true)), Level::best().run(Of(&x, false)));
        for ((x, log), root) in x.into_iter().zip(logs).zip(roots) {
            let exact = f64::from(x).ln();
            assert!((f64::from(log) - exact).abs() < 2e-7 * exact.abs().max(1.0), "ln {x}: {log}");
            assert!((f64::from(root) * f64::from(x).sqrt() - 1.0).abs() < 5e-6, "{x}: {root}");
        }
    }
}
