// SPDX-License-Identifier: Apache-2.0
//! A device as a master sees it.

use std::sync::{Arc, Mutex};

use isthmus_host::etherbone::{self as host, BlockOptions, Client, ClientConfig, Dialect, sdb};
use isthmus_host::transport::block_on;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::cycle::{PyCycle, PyPending, State};
use super::errors::{failed, lock, masks, request, seconds, to_python, transport_error};
use super::watched::{Inner, Raised, open_transport, watched};

/// Bytes of one call that reads or writes a block, at most.
const MOST_BYTES: usize = 1 << 36;

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
            let raised = lock(&client.transport().wait().raised).take();
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
            let watched = watched(inner.with_spin(spin), Arc::clone(&raised));
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

    /// Sends queued cycles and waits until no cycle is in flight.
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

    /// The devices that the bus describes, down to `depth` bridges.
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

/// The devices that answer a probe: (name, address widths, data widths) each, widths as masks.
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
