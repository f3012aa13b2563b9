// SPDX-License-Identifier: Apache-2.0
//! Etherbone for Python: conversion only. `python/isthmus/eb` is the typed side.
//!
//! Whatever waits does so without the interpreter, which is asked for Control-C every 0.1 s.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use isthmus_host::etherbone::sdb::{self, Product};
use isthmus_host::etherbone::{
    self as host, AddressMap, BlockOptions, BusEvent, Client, ClientConfig, Dialect, Error, Memory,
    Server, ServerConfig, ServerHandle, SlaveConfig, Snoop, Width, Widths,
};
use isthmus_host::transport::{
    self, AnyTransport, DeviceName, Kind, Transport, TransportError, UdpTransport, block_on,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

#[allow(missing_docs, reason = "the macro takes the documentation as an argument")]
mod exceptions {
    use pyo3::create_exception;
    use pyo3::exceptions::PyException;

    create_exception!(
        _native,
        EbError,
        PyException,
        "Etherbone failed: kind, one line, positions of failed operations, values read."
    );
}
use exceptions::EbError;

/// How long Control-C can wait.
const SLICE: Duration = Duration::from_millis(100);
/// Bytes of one call that reads or writes a block, at most.
const MOST_BYTES: usize = 1 << 36;
/// Operations that one call adds to a cycle, at most.
const MOST_OPERATIONS: usize = 1 << 24;
/// Events of a slave that wait to be taken, at most.
const EVENTS: usize = 1 << 16;
/// Events that are taken out in one call, at most.
const EVENTS_A_CALL: usize = 4096;

fn failed(kind: &'static str, message: &str, failed: Vec<usize>, reads: Vec<u64>) -> PyErr {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    EbError::new_err((kind, line, failed, reads))
}

fn request(message: impl std::fmt::Display) -> PyErr {
    failed("request", &message.to_string(), Vec::new(), Vec::new())
}

fn transport_error(error: &TransportError) -> PyErr {
    let kind = if matches!(error, TransportError::Name(_)) { "request" } else { "transport" };
    failed(kind, &error.to_string(), Vec::new(), Vec::new())
}

fn to_python(error: Error) -> PyErr {
    let line = error.to_string();
    let kind = match error {
        Error::Bus { failed: positions, reads, .. } => {
            return failed("bus", &line, positions, reads);
        }
        Error::NoDevice { .. } | Error::TimedOut { .. } => "timeout",
        Error::Operation { .. }
        | Error::Block { .. }
        | Error::Empty
        | Error::Overflow { .. }
        | Error::Busy(_) => "request",
        Error::Transport(error) => return transport_error(&error),
        _ => "reply",
    };
    failed(kind, &line, Vec::new(), Vec::new())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A transport whose waits end when Python has a signal to handle, and so do long transfers.
#[derive(Debug)]
struct Watched {
    inner: AnyTransport,
    raised: Raised,
    /// When Python was asked for signals last.
    looked: Duration,
}

impl Watched {
    fn new(inner: AnyTransport, raised: Raised) -> Self {
        let looked = inner.now();
        Self { inner, raised, looked }
    }

    /// Asks Python for signals, where the last time is long enough ago.
    fn look(&mut self) -> Result<(), TransportError> {
        let now = self.inner.now();
        if now.saturating_sub(self.looked) < SLICE {
            return Ok(());
        }
        self.looked = now;
        Python::attach(|py| py.check_signals()).map_err(|error| {
            *lock(&self.raised) = Some(error);
            TransportError::Other("interrupted".to_owned())
        })
    }
}

/// What Python raised while something waited.
type Raised = Arc<Mutex<Option<PyErr>>>;

impl Transport for Watched {
    fn kind(&self) -> Kind {
        self.inner.kind()
    }

    fn mtu(&self) -> usize {
        self.inner.mtu()
    }

    fn room(&self) -> Option<usize> {
        self.inner.room()
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        self.inner.send(message).await
    }

    async fn flush(&mut self) -> Result<(), TransportError> {
        self.inner.flush().await
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        loop {
            self.look()?;
            let slice = deadline.min(self.inner.now() + SLICE);
            match self.inner.recv(buffer, slice).await {
                Err(TransportError::TimedOut) if self.inner.now() < deadline => {}
                ended => return ended,
            }
        }
    }
}

type Inner = Client<Watched>;

fn open_transport(name: &str, dialect: Dialect) -> Result<AnyTransport, TransportError> {
    let parsed: DeviceName = name.parse()?;
    if let (Dialect::LiteEth, DeviceName::Udp(host)) = (dialect, &parsed) {
        // Gateware answers to port 1234, whoever asks; a software slave on this very host holds it.
        let peer = host.resolve()?;
        let transport = UdpTransport::connect_from(host::LITE_PORT, peer);
        let transport = transport.or_else(|_| UdpTransport::connect_socket(peer))?;
        return Ok(AnyTransport::Udp(Box::new(transport)));
    }
    transport::open(name)
}

fn width(bytes: usize) -> PyResult<Width> {
    let found = Width::ALL.into_iter().find(|width| width.bytes() == bytes);
    found.ok_or_else(|| request(format!("size {bytes}: right would be 1, 2, 4 or 8")))
}

fn masks(address: u8, data: u8) -> Widths {
    Widths { address, data }
}

/// Operations that are executed together.
#[pyclass(module = "isthmus._native", name = "EbCycle")]
#[derive(Default)]
pub struct PyCycle {
    cycle: host::Cycle,
}

impl PyCycle {
    fn add(&mut self, add: impl FnOnce(host::Cycle) -> host::Cycle) {
        self.cycle = add(std::mem::take(&mut self.cycle));
    }
}

#[pymethods]
impl PyCycle {
    #[new]
    fn new(silent: bool, repeatable: bool) -> Self {
        let mut cycle = host::Cycle::new();
        if silent {
            cycle = cycle.silent();
        }
        if repeatable {
            cycle = cycle.repeatable();
        }
        Self { cycle }
    }

    fn __len__(&self) -> usize {
        self.cycle.len()
    }

    /// `size` 0: the data port's.
    fn read(&mut self, address: u64, size: usize) -> PyResult<()> {
        if size == 0 {
            self.add(|cycle| cycle.read(address));
        } else {
            let width = width(size)?;
            self.add(|cycle| cycle.read_width(address, width));
        }
        Ok(())
    }

    fn write(&mut self, address: u64, data: u64, size: usize) -> PyResult<()> {
        if size == 0 {
            self.add(|cycle| cycle.write(address, data));
        } else {
            let width = width(size)?;
            self.add(|cycle| cycle.write_width(address, data, width));
        }
        Ok(())
    }

    fn read_config(&mut self, address: u64) {
        self.add(|cycle| cycle.read_config(address));
    }

    fn write_config(&mut self, address: u64, data: u64) {
        self.add(|cycle| cycle.write_config(address, data));
    }

    /// `count` reads, `step` bytes apart.
    fn read_range(&mut self, address: u64, count: usize, step: u64) -> PyResult<()> {
        if count > MOST_OPERATIONS {
            let text =
                format!("{count} operations: a call adds up to {MOST_OPERATIONS} to a cycle");
            return Err(request(text));
        }
        let step = |index: u64| index.wrapping_mul(step);
        let addresses = (0..count as u64).map(|index| address.wrapping_add(step(index)));
        self.add(|cycle| cycle.reads(addresses));
        Ok(())
    }

    fn write_range(&mut self, address: u64, values: Vec<u64>, step: u64) {
        let address = |index: usize| address.wrapping_add((index as u64).wrapping_mul(step));
        let pairs = values.into_iter().enumerate().map(|(index, value)| (address(index), value));
        self.add(|cycle| cycle.writes(pairs));
    }
}

enum State {
    Flying(host::Pending),
    Taken,
}

/// A cycle in flight.
#[pyclass(module = "isthmus._native", name = "EbPending", frozen)]
pub struct PyPending {
    state: Mutex<State>,
}

#[pymethods]
impl PyPending {
    fn is_ready(&self) -> bool {
        match &*lock(&self.state) {
            State::Flying(pending) => pending.is_ready(),
            State::Taken => true,
        }
    }

    /// The values read, once; `None` while the cycle has not ended.
    fn take(&self) -> PyResult<Option<Vec<u64>>> {
        let mut state = lock(&self.state);
        let State::Flying(pending) = &*state else {
            return Err(request("the result was taken before"));
        };
        let Some(result) = pending.take() else { return Ok(None) };
        *state = State::Taken;
        result.map(|reply| Some(reply.reads)).map_err(to_python)
    }
}

/// A device over Etherbone.
#[pyclass(module = "isthmus._native", name = "EbDevice", frozen)]
pub struct PyDevice {
    client: Mutex<Option<Inner>>,
}

impl PyDevice {
    /// Works with the client while other threads of Python run.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Inner) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            let mut guard = lock(&self.client);
            let client = guard.as_mut().ok_or_else(|| request("the device is closed"))?;
            let result = work(client);
            let raised = lock(&client.transport().raised).take();
            raised.map_or(result, Err)
        })
    }
}

#[pymethods]
impl PyDevice {
    /// Times in seconds; widths as masks (1: 8 bit … 8: 64 bit).
    #[new]
    #[pyo3(signature = (name, *, dialect, address_widths, data_widths, probes, probe_timeout,
                        reply_timeout, window, retries, spin))]
    #[expect(clippy::too_many_arguments, reason = "keywords, all given by the typed side")]
    fn open(
        py: Python<'_>,
        name: &str,
        dialect: &str,
        address_widths: u8,
        data_widths: u8,
        probes: u32,
        probe_timeout: f64,
        reply_timeout: f64,
        window: usize,
        retries: u32,
        spin: f64,
    ) -> PyResult<Self> {
        let dialect: Dialect = dialect.parse().map_err(request)?;
        let basis = match dialect {
            Dialect::Ohwr => ClientConfig::default(),
            Dialect::LiteEth => ClientConfig::lite_eth(),
        };
        let widths = match dialect {
            Dialect::Ohwr => masks(address_widths, data_widths),
            Dialect::LiteEth => basis.widths,
        };
        let config = ClientConfig {
            widths,
            probe_attempts: probes,
            probe_timeout: seconds("probe_timeout", probe_timeout)?,
            reply_timeout: seconds("reply_timeout", reply_timeout)?,
            window: if window == 0 { basis.window } else { window },
            retries,
            ..basis
        };
        let spin = seconds("spin", spin)?;
        let client = py.detach(|| {
            let inner = open_transport(name, dialect).map_err(|error| transport_error(&error))?;
            let raised = Raised::default();
            let watched = Watched::new(inner.with_spin(spin), Arc::clone(&raised));
            let client = block_on(Client::connect(watched, config));
            let raised = lock(&raised).take();
            raised.map_or(client.map_err(to_python), Err)
        })?;
        Ok(Self { client: Mutex::new(Some(client)) })
    }
    /// Ends it: cycles in flight end with an error.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(lock(&self.client).take()));
    }

    /// Address and data width in bytes.
    fn widths(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        self.with(py, |client| {
            let format = client.format();
            Ok((format.address.bytes(), format.data.bytes()))
        })
    }

    fn has_session(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |client| Ok(client.has_session()))
    }

    fn execute(&self, py: Python<'_>, cycle: &PyCycle) -> PyResult<Vec<u64>> {
        let cycle = cycle.cycle.clone();
        self.with(py, |client| {
            block_on(client.execute(cycle)).map(|reply| reply.reads).map_err(to_python)
        })
    }

    fn submit(&self, py: Python<'_>, cycle: &PyCycle) -> PyResult<PyPending> {
        let cycle = cycle.cycle.clone();
        let pending = self.with(py, |client| client.submit(&cycle).map_err(to_python))?;
        Ok(PyPending { state: Mutex::new(State::Flying(pending)) })
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |client| block_on(client.flush()).map_err(to_python))
    }

    /// Sends what is queued and waits until no cycle is in flight.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |client| {
            let settled = block_on(async {
                client.flush().await?;
                client.settle().await
            });
            settled.map_err(to_python)
        })
    }

    fn outstanding(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |client| Ok(client.outstanding()))
    }

    /// The same cycle `count` times; all values read, as 64-bit words of this machine.
    fn repeat<'py>(
        &self,
        py: Python<'py>,
        cycle: &PyCycle,
        count: usize,
        pipelined: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let cycle = cycle.cycle.clone();
        let bytes = self.with(py, |client| {
            let mut bytes = Vec::new();
            let mut take = |reads: Vec<u64>| {
                bytes.extend(reads.into_iter().flat_map(u64::to_ne_bytes));
            };
            let done = if pipelined {
                block_on(client.execute_all(std::iter::repeat_n(cycle, count), take))
            } else {
                (0..count).try_for_each(|_| {
                    take(block_on(client.execute(cycle.clone()))?.reads);
                    Ok(())
                })
            };
            done.map(|()| bytes).map_err(to_python)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads `length` bytes in the order of a big-endian bus, pipelined.
    fn read_block<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        length: usize,
        per_cycle: usize,
        fixed: bool,
        silent: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |client| {
            client.check_block(address, length).map_err(to_python)?;
            if length > MOST_BYTES {
                let text = format!(
                    "{address:#x}/{length:#x}: {} GiB is more than the {} GiB of one call; use several",
                    length >> 30,
                    MOST_BYTES >> 30
                );
                return Err(request(text));
            }
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(length).map_err(|_| {
                let text = format!("{address:#x}/{length:#x}: not enough memory; read it in parts");
                request(text)
            })?;
            bytes.resize(length, 0);
            let options = BlockOptions { fixed, silent, per_cycle };
            block_on(client.read_block(address, &mut bytes, options)).map_err(to_python)?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes bytes in the order of a big-endian bus, pipelined.
    fn write_block(
        &self,
        py: Python<'_>,
        address: u64,
        data: &[u8],
        per_cycle: usize,
        fixed: bool,
        silent: bool,
    ) -> PyResult<()> {
        self.with(py, |client| {
            let options = BlockOptions { fixed, silent, per_cycle };
            block_on(client.write_block(address, data, options)).map_err(to_python)
        })
    }

    /// What the device says is attached to its bus, down to `depth` bridges.
    fn sdb(&self, py: Python<'_>, depth: usize) -> PyResult<Vec<PyRecord>> {
        self.with(py, |client| {
            let limits = sdb::Limits { depth, ..sdb::Limits::default() };
            let tree = block_on(sdb::scan(client, limits)).map_err(|error| match error {
                sdb::ScanError::Read(error) => to_python(error),
                other => failed("sdb", &other.to_string(), Vec::new(), Vec::new()),
            })?;
            Ok(tree.entries.iter().map(PyRecord::new).collect())
        })
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counted = self.with(py, |client| Ok(client.statistics()))?;
        let dict = PyDict::new(py);
        dict.set_item("messages_sent", counted.messages_sent)?;
        dict.set_item("bytes_sent", counted.bytes_sent)?;
        dict.set_item("messages_received", counted.messages_received)?;
        dict.set_item("bytes_received", counted.bytes_received)?;
        dict.set_item("cycles", counted.cycles)?;
        dict.set_item("timed_out", counted.timed_out)?;
        dict.set_item("malformed", counted.malformed)?;
        dict.set_item("stale", counted.stale)?;
        dict.set_item("repeated", counted.repeated)?;
        Ok(dict)
    }
}

/// One record of a device's self-description.
#[derive(IntoPyObject)]
struct PyRecord {
    path: Vec<usize>,
    kind: &'static str,
    first: u64,
    last: u64,
    vendor: u64,
    device: u32,
    version: u32,
    date: u32,
    name: String,
    bus_specific: Option<u32>,
    problem: Option<String>,
}

impl PyRecord {
    fn new(entry: &sdb::Entry) -> Self {
        let product = entry.record.product().cloned().unwrap_or_default();
        Self {
            path: entry.path.clone(),
            kind: entry.record.kind(),
            first: entry.first,
            last: entry.last,
            vendor: product.vendor,
            device: product.device,
            version: product.version,
            date: product.date,
            name: entry.record.text().unwrap_or(product.name),
            bus_specific: match entry.record {
                sdb::Record::Device { bus_specific, .. }
                | sdb::Record::Msi { bus_specific, .. } => Some(bus_specific),
                _ => None,
            },
            problem: entry.problem.as_ref().map(ToString::to_string),
        }
    }
}

/// Longer waits are as long as this one, 30 years: the system's clock does not overflow with it.
const LONGEST_S: f64 = 1e9;

fn seconds(name: &str, value: f64) -> PyResult<Duration> {
    let bounded = if value > LONGEST_S { LONGEST_S } else { value };
    Duration::try_from_secs_f64(bounded)
        .map_err(|_| request(format!("{name} {value}: right would be seconds, 0 or more")))
}

/// Who answers a probe: (name, address widths, data widths) each, widths as masks.
#[pyfunction]
#[pyo3(name = "eb_discover")]
pub fn discover(
    py: Python<'_>,
    name: String,
    dialect: &str,
    silence: f64,
) -> PyResult<Vec<(String, u8, u8)>> {
    let dialect: Dialect = dialect.parse().map_err(request)?;
    let silence = seconds("silence", silence)?;
    let found = py.detach(|| host::discover(&name, dialect, silence));
    let found = found.map_err(|error| transport_error(&error))?;
    let named = |device: host::Discovered| {
        let family = if device.address.is_ipv4() { 4 } else { 6 };
        let (host, port) = (device.address.ip(), device.address.port());
        (format!("udp{family}/{host}/{port}"), device.widths.address, device.widths.data)
    };
    Ok(found.into_iter().map(named).collect())
}

/// What a datagram says, a line for each operation.
#[pyfunction]
#[pyo3(name = "eb_describe")]
pub fn describe(dialect: &str, datagram: &[u8]) -> PyResult<Vec<String>> {
    Ok(host::describe(dialect.parse().map_err(request)?, datagram))
}

/// Where a table lies that no 32-bit address reaches and no register names.
const HIDDEN: u64 = 0xFFFF_FFFF_FFF0_0000;

type Tell = Box<dyn FnMut(&BusEvent) + Send>;
type SlaveBus = Snoop<AddressMap, Tell>;

/// A device of a software slave: vendor, device, version, date, name, first address, contents.
type Offered = (u64, u32, u32, u32, String, u64, Vec<u8>);

/// A software slave on a thread of its own.
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
        // Without a log nothing is collected, which nobody would take out. With one the masters are
        // served first: what finds no place is counted.
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

    /// What happened on the bus since the last call; waits for the first event.
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

    /// Ends the thread; what was counted, once.
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
        parsed.map_err(|_| request(format!("{text:?}: right would be IP:PORT (port 0: any)")))
    };
    texts.iter().map(parse).collect()
}

/// Adds all this to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("EbError", module.py().get_type::<EbError>())?;
    module.add_class::<PyCycle>()?;
    module.add_class::<PyPending>()?;
    module.add_class::<PyDevice>()?;
    module.add_class::<PySlave>()?;
    module.add_function(wrap_pyfunction!(describe, module)?)?;
    module.add_function(wrap_pyfunction!(discover, module)?)
}
