// SPDX-License-Identifier: Apache-2.0
//! What is connected to a switch's pins: one agent for all ports.

use std::cell::RefCell;
use std::rc::Rc;

use super::word::Word;
use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, SimError};

/// The remote end of a switch's serial ports.
pub trait PortWords {
    /// Ports of the switch.
    fn ports(&self) -> usize;

    /// Lanes of each port; a port's lanes are adjacent.
    fn lanes(&self) -> usize;

    /// One clock. `from` was at the switch's outputs before the edge; `to` is at its inputs after it,
    /// `None` without a signal.
    fn step(&mut self, from: &[Word], to: &mut [Option<Word>]);
}

/// Moves words between a network and the bundle `serdes` of a device, once a clock.
pub struct SwitchPins<N> {
    network: Rc<RefCell<N>>,
    receive: Words,
    signal: InputPin,
    send: OutputPin,
    send_k: OutputPin,
    from: Vec<Word>,
    to: Vec<Option<Word>>,
}

struct Words {
    data: InputPin,
    k: InputPin,
}

impl<N: PortWords + 'static> SwitchPins<N> {
    /// Ties `network` to a device's pins; it moves on at each rising edge of `clk_i`.
    ///
    /// # Errors
    /// When the device has no such pins for this number of ports and lanes.
    pub fn attach(device: &DeviceHandle, network: &Rc<RefCell<N>>) -> Result<(), SimError> {
        let lines = network.borrow().ports() * network.borrow().lanes();
        let count = lines as u32;
        let agent = Self {
            network: Rc::clone(network),
            receive: Words {
                data: device.input("serdes_rx_data_i", 32 * count)?,
                k: device.input("serdes_rx_k_i", 4 * count)?,
            },
            signal: device.input("serdes_signal_i", count)?,
            send: device.output("serdes_tx_data_o", 32 * count)?,
            send_k: device.output("serdes_tx_k_o", 4 * count)?,
            from: vec![Word::IDLE; lines],
            to: vec![None; lines],
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl<N: PortWords> PinAgent for SwitchPins<N> {
    fn sample(&mut self, _time: Picoseconds) {
        let flags = self.send_k.get();
        for (port, word) in self.from.iter_mut().enumerate() {
            *word = Word { data: self.send.word(port), k: (flags >> (4 * port)) as u8 & 0xF };
        }
    }

    fn drive(&mut self, _time: Picoseconds) {
        self.network.borrow_mut().step(&self.from, &mut self.to);
        let (mut flags, mut signal) = (0, 0);
        for (port, word) in self.to.iter().enumerate() {
            // Without a signal a transceiver's words mean nothing.
            let shown = word.unwrap_or(Word::INVALID);
            flags |= u64::from(shown.k) << (4 * port);
            signal |= u64::from(word.is_some()) << port;
            self.receive.data.set_word(port, shown.data);
        }
        self.receive.k.set(flags);
        self.signal.set(signal);
    }

    fn quiet(&self) -> bool {
        // A link is never silent.
        false
    }
}
