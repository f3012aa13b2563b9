// SPDX-License-Identifier: Apache-2.0
//! Handles to a device's pins: one pointer away from the model's own storage.

use std::cell::Cell;
use std::rc::Rc;

use super::native::NativePin;

/// Storage of a port's value.
#[derive(Clone, Debug)]
pub struct PinStorage(Storage);

#[derive(Clone, Debug)]
enum Storage {
    /// Little-endian 32-bit words, shared with a model written in Rust.
    Words(Rc<[Cell<u32>]>),
    /// Storage inside a Verilated model.
    Native(NativePin),
}

impl PinStorage {
    /// Storage for a port of a model written in Rust: 32-bit words, least significant first.
    #[must_use]
    pub fn words(words: Rc<[Cell<u32>]>) -> Self {
        Self(Storage::Words(words))
    }

    pub(crate) fn native(pin: NativePin) -> Self {
        Self(Storage::Native(pin))
    }

    /// The low 64 bits.
    #[inline]
    #[must_use]
    pub fn get(&self) -> u64 {
        match &self.0 {
            Storage::Native(pin) => pin.get(),
            Storage::Words(words) => {
                let word = |index: usize| words.get(index).map_or(0, |cell| u64::from(cell.get()));
                word(0) | word(1) << 32
            }
        }
    }

    /// Sets the low 64 bits.
    #[inline]
    pub fn set(&self, value: u64) {
        match &self.0 {
            Storage::Native(pin) => pin.set(value),
            Storage::Words(words) => {
                for (cell, part) in words.iter().zip([value as u32, (value >> 32) as u32]) {
                    cell.set(part);
                }
            }
        }
    }

    /// The 32-bit word `index`, counted from the least significant; 0 beyond the port's width.
    #[inline]
    #[must_use]
    pub fn word(&self, index: usize) -> u32 {
        match &self.0 {
            Storage::Native(pin) => pin.word(index),
            Storage::Words(words) => words.get(index).map_or(0, Cell::get),
        }
    }

    /// Sets the 32-bit word `index`; nothing happens beyond the port's width.
    pub fn set_word(&self, index: usize, value: u32) {
        match &self.0 {
            Storage::Native(pin) => pin.set_word(index, value),
            Storage::Words(words) => {
                if let Some(cell) = words.get(index) {
                    cell.set(value);
                }
            }
        }
    }
}

#[derive(Debug)]
struct InputState {
    storage: PinStorage,
    width: u32,
    /// The value that the world drives, while a fault holds the pin at another value.
    wanted: Cell<u64>,
    held: Cell<bool>,
    /// Counts the changes of all inputs of one device.
    changes: Rc<Cell<u64>>,
}

/// An input of the device: the world writes it.
#[derive(Clone, Debug)]
pub struct InputPin(Rc<InputState>);

impl InputPin {
    pub(crate) fn new(storage: PinStorage, width: u32, changes: Rc<Cell<u64>>) -> Self {
        let wanted = Cell::new(storage.get());
        Self(Rc::new(InputState { storage, width, wanted, held: Cell::new(false), changes }))
    }

    /// Drives a value. The device sees it at its next evaluation.
    #[inline]
    pub fn set(&self, value: u64) {
        let pin = &*self.0;
        if pin.wanted.replace(value) != value && !pin.held.get() {
            pin.storage.set(value);
            pin.changes.set(pin.changes.get() + 1);
        }
    }

    /// Drives the 32-bit word `index` of a port wider than 64 bits.
    pub fn set_word(&self, index: usize, value: u32) {
        let pin = &*self.0;
        if pin.storage.word(index) != value {
            pin.storage.set_word(index, value);
            pin.changes.set(pin.changes.get() + 1);
        }
    }

    /// The value that is driven now.
    #[inline]
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.storage.get()
    }

    /// Drives a value; a fault may hold the pin at another value.
    pub(crate) fn wanted(&self) -> u64 {
        self.0.wanted.get()
    }

    /// Its width in bits.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.0.width
    }

    /// Writes without counting as a change of input: clocks and the time counter.
    #[inline]
    pub(crate) fn set_uncounted(&self, value: u64) {
        self.0.storage.set(value);
    }

    pub(crate) fn hold(&self, value: u64) {
        self.0.held.set(true);
        self.force(value);
    }

    pub(crate) fn release(&self) {
        self.0.held.set(false);
        self.force(self.0.wanted.get());
    }

    fn force(&self, value: u64) {
        if self.0.storage.get() != value {
            self.0.storage.set(value);
            self.0.changes.set(self.0.changes.get() + 1);
        }
    }
}

/// An output of the device: the world reads it.
#[derive(Clone, Debug)]
pub struct OutputPin {
    storage: PinStorage,
    width: u32,
}

impl OutputPin {
    pub(crate) fn new(storage: PinStorage, width: u32) -> Self {
        Self { storage, width }
    }

    /// Its value, the low 64 bits.
    #[inline]
    #[must_use]
    pub fn get(&self) -> u64 {
        self.storage.get()
    }

    /// Its 32-bit word `index`.
    #[inline]
    #[must_use]
    pub fn word(&self, index: usize) -> u32 {
        self.storage.word(index)
    }

    /// Its width in bits.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }
}
