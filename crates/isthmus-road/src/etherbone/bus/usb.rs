// SPDX-License-Identifier: Apache-2.0
//! USB 2.0: serial port or transfers of one's own, host controller, high-speed bus, FX2LP.

use std::collections::VecDeque;
use std::path::PathBuf;

use isthmus_host::transport::{Kind, TransportError};
use isthmus_sim::kernel::{FrameId, Receiver, SERVICE, Sim, channel};
use isthmus_sim::world::CpuConfig;
use isthmus_sim::world::host::Cpu;
use isthmus_sim::world::usb::{
    ControllerConfig, ControllerKind, Fx2, Fx2Config, SerialConfig, SerialPort, Transfer, UsbHost,
    UsbHostConfig,
};
use isthmus_sim::{DeviceHandle, Picoseconds, SimError, Simulation};

use super::super::breakdown::{Breakdown, Marks, Trip};
use super::super::device;
use super::super::scenario::{EtherboneScenario, UsbBulk, UsbController, UsbDriver, UsbPlatform};
use super::super::scene::Scene;
use super::super::transport::{Carrier, Until};
use crate::error::RoadError;
use crate::model::MakeModel;

/// Pairs of probes that enclose what overlaps with other things.
const FPGA_BARS: &[(&str, &str, &str)] = &[("execute", "UsbWordIn", "UsbWordOut")];

/// The path between a program and the device's FIFO pins.
pub(in super::super) struct UsbBus {
    host: UsbHost,
    cpu: Cpu,
    driver: UsbDriver,
}

impl UsbBus {
    pub(super) fn build(
        simulation: &Simulation,
        scenario: &EtherboneScenario,
        platform: &UsbPlatform,
        waveform: Option<PathBuf>,
        make_model: MakeModel<'_>,
    ) -> Result<(DeviceHandle, Self), RoadError> {
        let clocks = [("fx2_clk_i", (platform.fx2.clock_mhz * 1e6).round() as u64)];
        let device = device::attach(
            simulation,
            &scenario.device,
            &scenario.platform.fpga,
            &clocks,
            &[],
            waveform,
            make_model,
        )?;
        let fx2 = Fx2Config { name: "fx2".to_owned(), width_bits: platform.fx2.width_bits };
        let fx2 = Fx2::attach(simulation, &device, "fx2", &fx2)?;
        let cpu = Cpu::new(simulation, "host", &CpuConfig { cores: platform.host.cores })?;
        let host = UsbHost::new(simulation, &cpu, &fx2, &host_config(platform))?;
        Ok((device, Self { host, cpu, driver: platform.driver.clone() }))
    }

    /// Opens the device in the way of the platform's driver.
    pub(super) fn open(&self, sim: &Sim) -> impl Future<Output = Result<Port, SimError>> + 'static {
        let (sim, host, cpu) = (sim.clone(), self.host.clone(), self.cpu.clone());
        let driver = self.driver.clone();
        async move {
            let pipe = match driver {
                UsbDriver::Serial(serial) => {
                    let config = SerialConfig {
                        write_fifo_bytes: serial.write_fifo_bytes,
                        out_transfer_bytes: serial.out_transfer_bytes,
                        out_transfers: serial.out_transfers,
                        in_transfer_bytes: serial.in_transfer_bytes,
                        in_transfers: serial.in_transfers,
                        write_path_ns: serial.write_path_ns,
                        receive_work_ns: serial.receive_work_ns,
                        open_ns: serial.open_us * 1e3,
                    };
                    Pipe::Serial(host.open_serial(&config).await?)
                }
                UsbDriver::Bulk(bulk) => Pipe::Bulk(Bulk::open(&sim, &host, bulk)),
            };
            Ok(Port { sim, cpu, pipe })
        }
    }

    pub(super) fn wire_bytes(&self, from: Picoseconds, until: Picoseconds) -> u64 {
        self.host.bus_bytes_in(from, until)
    }

    /// The time for which packets with data had the bus.
    pub(super) fn wire_busy(&self, from: Picoseconds, until: Picoseconds) -> Picoseconds {
        self.host.bus_busy(from, until)
    }

    /// One transfer of a program that waits for each.
    pub(super) fn breakdown(&self, scene: Scene<'_>, trip: &Trip) -> Result<Breakdown, RoadError> {
        let mut marks = Marks::new(scene, trip)?;
        marks.until("host", "write call", marks.begin_of("usb", "controller fetch"))?;
        marks.until("controller", "fetch request", marks.end_of("usb", "controller fetch"))?;
        marks.until("wire", "request packet", marks.first("UsbWordIn"))?;
        if trip.taken.is_some() {
            let (place, name) = trip.parts("fpga", "execute while it comes in");
            marks.until(place, name, Some(marks.received()))?;
            return marks.finish(FPGA_BARS);
        }
        let (place, name) = trip.parts("fpga", "execute while it comes in");
        marks.until(place, name, marks.last("UsbWordOut"))?;
        marks.until("fpga", "end the packet", marks.last("UsbEnd"))?;
        marks.until("wire", "reply packet", marks.last_end_of("usb", "USB transfer"))?;
        for stage in ["interrupt to readable", "interrupt to program"] {
            marks.until("host", stage, marks.last_end_of("usb", stage))?;
        }
        marks.finish(FPGA_BARS)
    }
}

fn host_config(platform: &UsbPlatform) -> UsbHostConfig {
    let controller = match platform.controller {
        UsbController::Ehci(ehci) => ControllerConfig {
            kind: ControllerKind::Ehci {
                interrupt_threshold_microframes: ehci.interrupt_threshold_microframes,
                nak_reload: ehci.nak_reload,
                async_sleep_ns: ehci.async_sleep_ns,
            },
            fetch_latency_ns: ehci.fetch_latency_ns,
            completion_latency_ns: ehci.completion_latency_ns,
        },
        UsbController::Xhci(xhci) => ControllerConfig {
            kind: ControllerKind::Xhci {
                interrupt_moderation_ns: xhci.interrupt_moderation_ns,
                nak_retry_ns: xhci.nak_retry_ns,
            },
            fetch_latency_ns: xhci.fetch_latency_ns,
            completion_latency_ns: xhci.completion_latency_ns,
        },
    };
    let host = platform.host;
    UsbHostConfig {
        name: "usb".to_owned(),
        controller,
        syscall_ns: host.syscall_ns,
        copy_ns_per_byte: host.copy_ns_per_byte,
        submit_ns: host.submit_ns,
        interrupt_ns: host.interrupt_ns,
        giveback_ns: host.giveback_ns,
        wakeup_ns: host.wakeup_ns,
    }
}

/// An open device.
pub(in super::super) struct Port {
    sim: Sim,
    cpu: Cpu,
    pipe: Pipe,
}

enum Pipe {
    Serial(SerialPort),
    Bulk(Bulk),
}

/// Transfers of the program's own, several in progress both ways.
struct Bulk {
    host: UsbHost,
    config: UsbBulk,
    writing: VecDeque<Transfer>,
    arriving: Receiver<Vec<u8>>,
    /// Bytes that have arrived and were not requested yet.
    rest: VecDeque<u8>,
    /// The time that the program waited for transfers.
    blocked: Picoseconds,
}

/// More transfers than are ever in progress.
const MOST_TRANSFERS: usize = 1 << 16;

impl Bulk {
    fn open(sim: &Sim, host: &UsbHost, config: UsbBulk) -> Self {
        host.set_open(true);
        let (sender, arriving) = channel(MOST_TRANSFERS);
        let reader = host.clone();
        // The library's event thread: transfers from the device are always in progress.
        sim.spawn_named(&format!("{SERVICE}usb events"), async move {
            let mut reading = VecDeque::new();
            loop {
                while reading.len() < config.in_transfers {
                    reading.push_back(reader.submit_in(config.in_transfer_bytes).await);
                }
                let Some(transfer) = reading.pop_front() else { return };
                if sender.try_send(transfer.wait().await).is_err() {
                    return;
                }
            }
        });
        let (writing, rest) = (VecDeque::new(), VecDeque::new());
        let blocked = Picoseconds::ZERO;
        Self { host: host.clone(), config, writing, arriving, rest, blocked }
    }

    async fn write(&mut self, sim: &Sim, message: &[u8]) {
        for bytes in message.chunks(self.config.out_transfer_bytes.max(1)) {
            if self.writing.len() >= self.config.out_transfers
                && let Some(oldest) = self.writing.pop_front()
            {
                let asleep = sim.now();
                oldest.wait().await;
                self.blocked += sim.now() - asleep;
            }
            self.writing.push_back(self.host.submit_out(bytes).await);
        }
    }

    /// Bytes that have arrived; none when none have at `deadline`.
    async fn read(&mut self, sim: &Sim, limit: usize, deadline: Picoseconds) -> Vec<u8> {
        while self.rest.is_empty() {
            let asleep = sim.now();
            let left = deadline.saturating_sub(asleep);
            let arrived = sim.timeout(left, self.arriving.recv()).await;
            self.blocked += sim.now() - asleep;
            let Ok(Some(bytes)) = arrived else { break };
            self.rest.extend(bytes);
        }
        let count = limit.min(self.rest.len());
        self.rest.drain(..count).collect()
    }
}

impl Carrier for Port {
    fn kind(&self) -> Kind {
        Kind::Stream
    }

    fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    async fn send(&mut self, message: &[u8]) -> Result<FrameId, TransportError> {
        match &mut self.pipe {
            Pipe::Serial(port) => port.write(message).await,
            Pipe::Bulk(bulk) => bulk.write(&self.sim, message).await,
        }
        Ok(self.sim.new_frame_id())
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        until: Until,
    ) -> Result<(usize, FrameId), TransportError> {
        let limit = buffer.len();
        let bytes = match &mut self.pipe {
            Pipe::Serial(port) => port.read_until(limit, Some(until.time)).await,
            Pipe::Bulk(bulk) => bulk.read(&self.sim, limit, until.time).await,
        };
        if bytes.is_empty() {
            return Err(TransportError::TimedOut);
        }
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok((bytes.len(), self.sim.new_frame_id()))
    }

    fn blocked(&self) -> Picoseconds {
        match &self.pipe {
            Pipe::Serial(port) => port.blocked(),
            Pipe::Bulk(bulk) => bulk.blocked,
        }
    }
}
