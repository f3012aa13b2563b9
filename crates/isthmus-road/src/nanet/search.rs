// SPDX-License-Identifier: Apache-2.0
//! The configuration pins of the interface's search for rings: its memories are written before the first event.

use std::cell::Cell;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{DeviceHandle, InputPin, PinAgent, SimError};
use isthmus_trigger::rings::Word;

/// Name of the search's clock.
pub(super) const CLOCK: &str = "search_clk_i";
/// Edges before the first word: the reset is over in this clock too.
const SETTLE: u32 = 64;

/// Whether all words are written.
#[derive(Clone, Default)]
pub(super) struct Loaded(Rc<Cell<bool>>);

impl Loaded {
    pub(super) fn get(&self) -> bool {
        self.0.get()
    }
}

struct Loader {
    reset: InputPin,
    write: InputPin,
    memory: InputPin,
    address: InputPin,
    data: InputPin,
    words: std::vec::IntoIter<Word>,
    settle: u32,
    loaded: Loaded,
}

/// Writes the words, one a clock.
pub(super) fn load(device: &DeviceHandle, words: Vec<Word>) -> Result<Loaded, SimError> {
    let loaded = Loaded::default();
    let loader = Loader {
        reset: device.input("rst_ni", 1)?,
        write: device.input("search_we_i", 1)?,
        memory: device.input("search_memory_i", 2)?,
        address: device.input("search_addr_i", 16)?,
        data: device.input("search_data_i", 64)?,
        words: words.into_iter(),
        settle: SETTLE,
        loaded: loaded.clone(),
    };
    device.attach(CLOCK, Box::new(loader))?;
    Ok(loaded)
}

impl PinAgent for Loader {
    fn sample(&mut self, _: Picoseconds) {}

    fn drive(&mut self, _: Picoseconds) {
        if self.reset.get() == 0 || self.loaded.get() {
            return;
        }
        if self.settle > 0 {
            self.settle -= 1;
            return;
        }
        if let Some(word) = self.words.next() {
            self.memory.set(word.memory.into());
            self.address.set(word.address.into());
            self.data.set(word.data);
            self.write.set(1);
        } else {
            self.write.set(0);
            self.loaded.0.set(true);
        }
    }

    fn quiet(&self) -> bool {
        self.loaded.get()
    }
}
