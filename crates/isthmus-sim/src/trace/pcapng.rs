// SPDX-License-Identifier: Apache-2.0
//! A pcapng writer: nanosecond times, an interface a link, a comment where a frame met a fault.
//! Existing crates read and write the format, but write no sub-microsecond time together with
//! packet comments; only four blocks are needed here.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::kernel::{Picoseconds, SimError};

const LINKTYPE_ETHERNET: u16 = 1;
const FCS_BYTES: u8 = 4;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const OPTION_COMMENT: u16 = 1;
const OPTION_EPB_FLAGS: u16 = 2;
const OPTION_IF_NAME: u16 = 2;
const OPTION_IF_TSRESOL: u16 = 9;
const OPTION_IF_FCSLEN: u16 = 13;
const OPTION_SHB_USERAPPL: u16 = 4;

/// A link in a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureInterface(u32);

/// A capture file being written.
pub struct Capture {
    path: PathBuf,
    epoch_ns: u64,
    out: RefCell<BufWriter<File>>,
    interfaces: RefCell<Vec<String>>,
}

impl Capture {
    /// Creates the file. Frames get the time `epoch_ns` plus simulated time.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path, epoch_ns: u64) -> Result<Self, SimError> {
        let begin = || -> io::Result<BufWriter<File>> {
            let mut out = BufWriter::new(File::create(path)?);
            let mut body = Vec::new();
            body.extend(0x1a2b_3c4d_u32.to_le_bytes());
            body.extend(1_u16.to_le_bytes());
            body.extend(0_u16.to_le_bytes());
            body.extend(u64::MAX.to_le_bytes());
            option(&mut body, OPTION_SHB_USERAPPL, b"isthmus");
            end_of_options(&mut body);
            block(&mut out, SECTION_HEADER, &body)?;
            Ok(out)
        };
        match begin() {
            Ok(out) => Ok(Self {
                path: path.to_owned(),
                epoch_ns,
                out: RefCell::new(out),
                interfaces: RefCell::default(),
            }),
            Err(source) => Err(SimError::Trace { path: path.to_owned(), source }),
        }
    }

    /// The link `name`; the first use adds it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn interface_named(&self, name: &str) -> Result<CaptureInterface, SimError> {
        let known = self.interfaces.borrow().iter().position(|known| known == name);
        if let Some(number) = known {
            return Ok(CaptureInterface(number as u32));
        }
        let mut body = Vec::new();
        body.extend(LINKTYPE_ETHERNET.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        body.extend(0_u32.to_le_bytes());
        option(&mut body, OPTION_IF_NAME, name.as_bytes());
        option(&mut body, OPTION_IF_TSRESOL, &[9]);
        option(&mut body, OPTION_IF_FCSLEN, &[FCS_BYTES]);
        end_of_options(&mut body);
        self.write(INTERFACE_DESCRIPTION, &body)?;
        let mut interfaces = self.interfaces.borrow_mut();
        interfaces.push(name.to_owned());
        Ok(CaptureInterface(interfaces.len() as u32 - 1))
    }

    /// Writes a frame, its FCS included. `inbound` distinguishes the two directions of a link.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn frame(
        &self,
        interface: CaptureInterface,
        time: Picoseconds,
        bytes: &[u8],
        inbound: bool,
        comment: Option<&str>,
    ) -> Result<(), SimError> {
        let ns = self.epoch_ns.wrapping_add(time.0 / 1_000);
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut body = Vec::with_capacity(bytes.len() + 64);
        body.extend(interface.0.to_le_bytes());
        body.extend(((ns >> 32) as u32).to_le_bytes());
        body.extend((ns as u32).to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(bytes);
        pad(&mut body);
        let direction: u32 = if inbound { 1 } else { 2 };
        let fcs_length = u32::from(FCS_BYTES) << 5;
        option(&mut body, OPTION_EPB_FLAGS, &(direction | fcs_length).to_le_bytes());
        if let Some(comment) = comment {
            option(&mut body, OPTION_COMMENT, comment.as_bytes());
        }
        end_of_options(&mut body);
        self.write(ENHANCED_PACKET, &body)
    }

    /// Writes the buffered blocks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn flush(&self) -> Result<(), SimError> {
        self.out.borrow_mut().flush().map_err(|source| self.error(source))
    }

    fn write(&self, kind: u32, body: &[u8]) -> Result<(), SimError> {
        block(&mut *self.out.borrow_mut(), kind, body).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> SimError {
        SimError::Trace { path: self.path.clone(), source }
    }
}

fn block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&length)?;
    out.write_all(body)?;
    out.write_all(&length)
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    // The length has 16 bits; a longer comment is cut.
    let value = &value[..value.len().min(0xfffc)];
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend(0_u32.to_le_bytes());
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}
