// SPDX-License-Identifier: Apache-2.0
//! Typed quantities. Time is whole picoseconds in a `u64`, which lasts for 213 days of simulation.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// The largest value that can be held.
            pub const MAX: Self = Self(u64::MAX);

            /// The difference, or zero when `other` is larger.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// The sum, held at the largest value.
            #[must_use]
            pub const fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl Mul<u64> for $name {
            type Output = Self;
            fn mul(self, factor: u64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Div<u64> for $name {
            type Output = Self;
            fn div(self, divisor: u64) -> Self {
                Self(self.0 / divisor)
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self::ZERO, Add::add)
            }
        }
    };
}

quantity! {
    /// A point in simulated time, or a span of it.
    Picoseconds
}
quantity! {
    /// A number of octets.
    Bytes
}
quantity! {
    /// A frequency, or a rate in bits a second where a name says so.
    Hertz
}

impl Picoseconds {
    /// A whole number of nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// A whole number of microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// A whole number of milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// Nanoseconds as configuration files hold them, rounded to the nearest picosecond; a negative
    /// or non-finite value counts as zero.
    #[must_use]
    pub fn from_ns_f64(ns: f64) -> Self {
        // The cast saturates, and turns NaN into zero.
        Self((ns * 1_000.0).round() as u64)
    }

    /// The same in nanoseconds, for people.
    #[must_use]
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// The same in seconds, for rates.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

impl fmt::Display for Picoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ps = self.0;
        match ps {
            0..1_000 => write!(f, "{ps} ps"),
            1_000..1_000_000 => write!(f, "{:.3} ns", ps as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.3} us", ps as f64 / 1e6),
            1_000_000_000..1_000_000_000_000 => write!(f, "{:.3} ms", ps as f64 / 1e9),
            _ => write!(f, "{:.3} s", ps as f64 / 1e12),
        }
    }
}

impl Hertz {
    /// A whole number of megahertz.
    #[must_use]
    pub const fn from_mhz(mhz: u64) -> Self {
        Self(mhz * 1_000_000)
    }
}

impl Bytes {
    /// The time to send this many octets at `bit_rate` bits a second, rounded to the nearest
    /// picosecond.
    #[must_use]
    pub fn serialisation(self, bit_rate: Hertz) -> Picoseconds {
        let bits = u128::from(self.0) * 8 * 1_000_000_000_000;
        let rate = u128::from(bit_rate.0.max(1));
        Picoseconds(((bits + rate / 2) / rate) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_octet_at_a_gigabit_a_second_takes_eight_nanoseconds() {
        assert_eq!(Bytes(1).serialisation(Hertz(1_000_000_000)), Picoseconds::from_ns(8));
    }

    #[test]
    fn nanoseconds_of_a_configuration_round_to_picoseconds() {
        assert_eq!(Picoseconds::from_ns_f64(0.3334), Picoseconds(333));
        assert_eq!(Picoseconds::from_ns_f64(-1.0), Picoseconds::ZERO);
    }

    #[test]
    fn a_time_prints_in_the_unit_a_person_would_choose() {
        assert_eq!(Picoseconds(999).to_string(), "999 ps");
        assert_eq!(Picoseconds::from_ns(8).to_string(), "8.000 ns");
        assert_eq!(Picoseconds::from_us(2_500).to_string(), "2.500 ms");
    }
}
