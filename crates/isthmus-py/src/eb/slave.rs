// SPDX-License-Identifier: Apache-2.0
//! A software slave, and what datagrams say.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use isthmus_host::etherbone::sdb::Product;
use isthmus_host::etherbone::{
    self as host, AddressMap, BusEvent, Memory, Server, ServerConfig, ServerHandle, SlaveConfig,
    Snoop,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::{lock, masks, request, seconds, transport_error};
use super::watched::SLICE;

/// Events of a slave that wait to be taken, at most.
const EVENTS: usize = 1 << 16;
/// Events that are taken out in one call, at most.
const EVENTS_A_CALL: usize = 4096;

/// Address of a table that no 32-bit address reaches and no register names.
const HIDDEN: u64 = 0xFFFF_FFFF_FFF0_0000;

type Tell = Box<dyn FnMut(&BusEvent) + Send>;
type SlaveBus = Snoop<AddressMap, Tell>;

/// A device of a software slave: vendor, device, version, date, name, first address, contents.
type Offered = (u64, u32, u32, u32, String, u64, Vec<u8>);

/// A software slave on a separate thread.
#[pyclass(module = "isthmus._native", name = "EbSlave", frozen)]
pub struct PySlave {
    server: Mutex<Option<ServerHandle<SlaveBus>>>,
    events: Mutex<Option<Receiver<BusEvent>>>,
    /// Events that found no place to wait.
    dropped: Arc<AtomicU64>,
    udp: Vec<SocketAddr>,
    tcp: Vec<SocketAddr>,
}

#[pymethods]
impl PySlave {
    /// Memories on a bus that describes itself at `table`, or nowhere; `udp` and `tcp` are addresses
    /// with a port.
    #[new]
    #[pyo3(signature = (devices, *, table, udp, tcp, dialect, address_widths, data_widths, log))]
    #[expect(clippy::too_many_arguments, reason = "keywords, all given by the typed side")]
    fn new(
        devices: Vec<Offered>,
        table: Option<u64>,
        udp: Vec<String>,
        tcp: Vec<String>,
        dialect: &str,
        address_widths: u8,
        data_widths: u8,
        log: bool,
    ) -> PyResult<Self> {
        let bus = Product { name: "Software-Slave".into(), vendor: 0x651, ..Product::default() };
        let mut map = AddressMap::new(bus, table.unwrap_or(HIDDEN));
        for (vendor, device, version, date, name, first, contents) in devices {
            let product = Product { vendor, device, version, date, name };
            let length = contents.len() as u64;
            let last = length.checked_sub(1).and_then(|length| first.checked_add(length));
            let last = last.ok_or_else(|| {
                request(format!("device at {first:#x}: {length} bytes do not fit there"))
            })?;
            let memory = Memory::from_bytes(0, contents);
            map = map.add(product, first, last, memory).map_err(request)?;
        }
        let (sender, receiver) = sync_channel(if log { EVENTS } else { 0 });
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        // Without a log nothing is collected, since it would never be taken out. With one the
        // masters are served first: what finds no place is counted.
        let tell: Tell = match log {
            true => Box::new(move |event: &BusEvent| {
                if sender.try_send(*event).is_err() {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }),
            false => Box::new(|_: &BusEvent| {}),
        };
        let config = ServerConfig {
            udp: addresses(&udp)?,
            tcp: addresses(&tcp)?,
            slave: SlaveConfig {
                dialect: dialect.parse().map_err(request)?,
                widths: masks(address_widths, data_widths),
                sdb_address: table.unwrap_or_default(),
                ..SlaveConfig::default()
            },
            ..ServerConfig::default()
        };
        let server = Server::bind(Snoop::new(map, tell), config).and_then(Server::spawn);
        let server = server.map_err(|error| transport_error(&error))?;
        Ok(Self {
            udp: server.udp_addresses().to_vec(),
            tcp: server.tcp_addresses().to_vec(),
            server: Mutex::new(Some(server)),
            events: Mutex::new(Some(receiver)),
            dropped,
        })
    }

    /// Device names, UDP before TCP.
    fn names(&self) -> Vec<String> {
        let name = |kind: &str, address: &SocketAddr| {
            let family = if address.is_ipv4() { 4 } else { 6 };
            format!("{kind}{family}/{}/{}", address.ip(), address.port())
        };
        let udp = self.udp.iter().map(|address| name("udp", address));
        udp.chain(self.tcp.iter().map(|address| name("tcp", address))).collect()
    }

    /// Bus events since the last call; waits for the first event.
    fn events(&self, py: Python<'_>, timeout: f64) -> PyResult<Vec<String>> {
        let until = Instant::now() + seconds("timeout", timeout)?;
        py.detach(|| {
            let guard = lock(&self.events);
            let events = guard.as_ref().ok_or_else(|| request("the slave is closed"))?;
            loop {
                let left = until.saturating_duration_since(Instant::now());
                match events.recv_timeout(left.min(SLICE)) {
                    Ok(first) => {
                        let all = std::iter::once(first).chain(events.try_iter());
                        return Ok(all
                            .take(EVENTS_A_CALL)
                            .map(|event| event.to_string())
                            .collect());
                    }
                    Err(RecvTimeoutError::Timeout) if !left.is_zero() => {
                        Python::attach(|py| py.check_signals())?;
                    }
                    Err(_) => return Ok(Vec::new()),
                }
            }
        })
    }

    /// Events that were not kept because too many waited to be taken.
    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Ends the thread; returns the counters, once.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let stopped = py.detach(|| {
            let stopped = lock(&self.server).take().map(ServerHandle::stop);
            // The server is dropped here: a thread in `events` has nothing more to wait for, and lets
            // go of the lock. It may need the interpreter for that.
            let stopped = stopped.map(|server| server.map(|server| server.statistics()));
            *lock(&self.events) = None;
            stopped
        });
        let Some(stopped) = stopped else { return Ok(None) };
        let counted = stopped.map_err(|error| transport_error(&error))?;
        let dict = PyDict::new(py);
        dict.set_item("datagrams", counted.datagrams)?;
        dict.set_item("connections", counted.connections)?;
        dict.set_item("probes", counted.slave.probes)?;
        dict.set_item("records", counted.slave.records)?;
        dict.set_item("operations", counted.slave.operations)?;
        dict.set_item("bus_errors", counted.slave.bus_errors)?;
        dict.set_item("malformed", counted.slave.malformed)?;
        dict.set_item("foreign", counted.slave.foreign)?;
        dict.set_item("repeats", counted.slave.repeats)?;
        Ok(Some(dict))
    }
}

fn addresses(texts: &[String]) -> PyResult<Vec<SocketAddr>> {
    let parse = |text: &String| {
        let parsed = text.parse();
        parsed.map_err(|_| request(format!("{text:?}: expected IP:PORT (port 0: any)")))
    };
    texts.iter().map(parse).collect()
}

/// The contents of a datagram, a line for each operation.
#[pyfunction]
#[pyo3(name = "eb_describe")]
pub fn describe(dialect: &str, datagram: &[u8]) -> PyResult<Vec<String>> {
    Ok(host::describe(dialect.parse().map_err(request)?, datagram))
}
