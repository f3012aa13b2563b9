// SPDX-License-Identifier: Apache-2.0
//! The ring of lines that a kernel polls for events: where it lies, and how the host's lines get there.

use super::driver::Mapped;
use super::run::Method;
use super::{Driver, GpuError, LINE_WORDS, Line};

/// Lines of events.
pub(super) enum Ring {
    /// Where they lie, the host stores.
    Direct(Mapped),
    /// The host's lines, and the GPU's memory to which they are copied.
    Copied(Mapped, u64, usize),
}

impl Ring {
    pub(super) fn new(driver: &Driver, method: Method, lines: usize) -> Result<Self, GpuError> {
        let words = lines * LINE_WORDS;
        match method {
            Method::Store => Ok(Self::Direct(driver.stored(words)?)),
            Method::Copy => {
                let host = driver.mapped(words)?;
                // Its first words are no line of event 0, whatever the memory held before.
                let made = driver.alloc(4 * words).and_then(|device| {
                    let copied = driver.copy(device, &host, 0, words);
                    copied.and_then(|()| driver.wait_copies()).map(|()| device).inspect_err(|_| {
                        driver.free(device);
                    })
                });
                match made {
                    Ok(device) => Ok(Self::Copied(host, device, lines)),
                    Err(error) => {
                        driver.free_mapped(host);
                        Err(error)
                    }
                }
            }
            _ => Ok(Self::Direct(driver.mapped(words)?)),
        }
    }

    /// The address at which the GPU polls.
    pub(super) fn device(&self) -> u64 {
        match self {
            Self::Direct(memory) => memory.device,
            Self::Copied(_, device, _) => *device,
        }
    }

    /// Writes a line; its first word has the number `first`. The line that was there is answered.
    pub(super) fn write(&self, first: usize, line: &Line) {
        match self {
            Self::Direct(memory) | Self::Copied(memory, ..) => memory.write(first, line),
        }
    }

    /// Sends lines that were written, from the line `first` on.
    pub(super) fn send(&self, driver: &Driver, first: usize, count: usize) -> Result<(), GpuError> {
        let Self::Copied(host, device, lines) = self else { return Ok(()) };
        let copy = |first: usize, count: usize| {
            let at = first * LINE_WORDS;
            driver.copy(device + 4 * at as u64, host, at, count * LINE_WORDS)
        };
        let behind = (first + count).saturating_sub(*lines);
        copy(first, count - behind)?;
        if behind > 0 { copy(0, behind) } else { Ok(()) }
    }

    /// Gives the memory back. The kernel has left.
    pub(super) fn free(self, driver: &Driver) {
        match self {
            Self::Direct(memory) => driver.free_mapped(memory),
            Self::Copied(host, device, _) => {
                // What fails here fails in the calls that follow as well.
                let _ = driver.wait_copies();
                driver.free_mapped(host);
                driver.free(device);
            }
        }
    }
}
