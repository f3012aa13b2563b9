// SPDX-License-Identifier: Apache-2.0
//! Frames of a file, pcap or pcapng, with the times at which they were captured.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use isthmus_sim::Picoseconds;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError, TsResolution};

use crate::error::{RoadError, io};

/// First bytes of a pcapng file: the type of its section header.
const PCAPNG: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
const PS_PER_S: u128 = 1_000_000_000_000;
/// The longest capture: what is longer has wrong times.
const LONGEST_S: u128 = 1_000_000;
/// Ticks a second of an interface that says nothing else: microseconds.
const TICKS_PER_S: u128 = 1_000_000;

/// A captured frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Captured {
    /// Since the file's first frame.
    pub(super) at: Picoseconds,
    pub(super) bytes: Vec<u8>,
    /// The file has all of it.
    pub(super) whole: bool,
}

/// A time of the file with its digits: in ps since 1970.
type Time = u128;

enum Reader {
    Pcap(PcapReader<File>),
    PcapNg(PcapNgReader<File>),
}

/// An open file.
pub(super) struct CaptureFile {
    path: PathBuf,
    reader: Reader,
    first: Option<Time>,
}

impl CaptureFile {
    pub(super) fn open(path: &Path) -> Result<Self, RoadError> {
        let failed = || io(format!("read {}", path.display()));
        let mut file = File::open(path).map_err(failed())?;
        let mut magic = [0; PCAPNG.len()];
        let is_file = file.metadata().map_err(failed())?.is_file();
        let refused = |reason: &str| {
            let reason = format!("{}: {reason}", path.display());
            RoadError::scenario("captures", reason)
        };
        if !is_file || file.read_exact(&mut magic).is_err() {
            return Err(refused("expected a pcap or pcapng file"));
        }
        let file = File::open(path).map_err(failed())?;
        let reader = if magic == PCAPNG {
            PcapNgReader::new(file).map(Reader::PcapNg)
        } else {
            PcapReader::new(file).map(Reader::Pcap)
        };
        let reader = reader.map_err(|_| refused("expected a pcap or pcapng file"))?;
        if let Reader::Pcap(pcap) = &reader
            && pcap.header().datalink != DataLink::ETHERNET
        {
            return Err(refused("expected frames of Ethernet"));
        }
        Ok(Self { path: path.to_owned(), reader, first: None })
    }

    /// The next frame of Ethernet.
    pub(super) fn next(&mut self) -> Result<Option<Captured>, RoadError> {
        let read = match &mut self.reader {
            Reader::Pcap(reader) => of_pcap(reader),
            Reader::PcapNg(reader) => of_pcapng(reader),
        };
        let found = read.map_err(|error| {
            // The library's text has the file's structures.
            RoadError::scenario("captures", format!("{}: {error}", self.path.display()))
        })?;
        let Some((time, bytes, whole)) = found else { return Ok(None) };
        // What came earlier than the first one comes with it.
        let since = time.saturating_sub(*self.first.get_or_insert(time));
        let at = u64::try_from(since).ok().filter(|_| since <= LONGEST_S * PS_PER_S);
        let at = at.ok_or_else(|| {
            let seconds = since / PS_PER_S;
            let reason = format!(
                "{}: a frame {seconds} s behind the first one; expected {LONGEST_S} s at most",
                self.path.display()
            );
            RoadError::scenario("captures", reason)
        })?;
        Ok(Some(Captured { at: Picoseconds(at), bytes, whole }))
    }
}

type Found = Option<(Time, Vec<u8>, bool)>;

fn of_pcap(reader: &mut PcapReader<File>) -> Result<Found, PcapError> {
    let per_tick = match reader.header().ts_resolution {
        TsResolution::MicroSecond => PS_PER_S / 1_000_000,
        TsResolution::NanoSecond => PS_PER_S / 1_000_000_000,
    };
    // Raw: the library refuses a file in which a frame was cut short.
    let Some(packet) = reader.next_raw_packet() else { return Ok(None) };
    let packet = packet?;
    let time = u128::from(packet.ts_sec) * PS_PER_S + u128::from(packet.ts_frac) * per_tick;
    Ok(Some((time, packet.data.into_owned(), packet.incl_len == packet.orig_len)))
}

fn of_pcapng(reader: &mut PcapNgReader<File>) -> Result<Found, PcapError> {
    loop {
        let Some(block) = reader.next_block() else { return Ok(None) };
        let Block::EnhancedPacket(packet) = block? else { continue };
        let (id, ticks, length) =
            (packet.interface_id, packet.timestamp.as_nanos(), packet.original_len);
        let bytes = packet.data.into_owned();
        let Some(interface) = reader.interfaces().get(id as usize) else {
            return Err(PcapError::InvalidInterfaceId(id));
        };
        if interface.linktype != DataLink::ETHERNET {
            continue;
        }
        let code = interface.options.iter().find_map(|option| match option {
            InterfaceDescriptionOption::IfTsResol(code) => Some(*code),
            _ => None,
        });
        let per_s = code.map_or(Some(TICKS_PER_S), ticks_per_s);
        let per_s = per_s.ok_or(PcapError::InvalidField("if_tsresol"))?;
        let time = ticks / per_s * PS_PER_S + ticks % per_s * PS_PER_S / per_s;
        let whole = bytes.len() == length as usize;
        return Ok(Some((time, bytes, whole)));
    }
}

/// The resolution of an interface's times: a negative power of 10, or of 2 with the highest bit.
fn ticks_per_s(code: u8) -> Option<u128> {
    let power = u32::from(code & 0x7F);
    let found =
        if code & 0x80 == 0 { 10_u128.checked_pow(power) } else { 2_u128.checked_pow(power) };
    // The library reads times of 64 bits.
    found.filter(|ticks| *ticks <= u128::from(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolutions_are_powers_of_ten_or_two() {
        assert_eq!(ticks_per_s(6), Some(1_000_000));
        assert_eq!(ticks_per_s(9), Some(1_000_000_000));
        assert_eq!(ticks_per_s(0x80 | 10), Some(1_024));
        assert_eq!(ticks_per_s(39), None);
        assert_eq!(ticks_per_s(0xFF), None);
    }
}
