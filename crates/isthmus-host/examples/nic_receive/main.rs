// SPDX-License-Identifier: Apache-2.0
//! Receives UDP streams on a board behind PCIe, by VFIO.
//!
//!     cargo run --release -p isthmus-host --example nic_receive -- 0000:01:00.0 --ports 2

mod receive;

use std::error::Error;
use std::time::Duration;

use isthmus_host::board::{HugePages, MemoryOptions, Vfio};
use isthmus_host::transport::block_on;
use receive::{Stream, receive};

const USAGE: &str = "\
Receives UDP streams by a UDP-to-memory interface that is bound to vfio-pci.

usage: nic_receive [OPTIONS] ADDRESS

  ADDRESS            PCI address of the board, such as 0000:01:00.0
  --ports N          ports to receive from, each with its own stream  [1]
  --buffers N        buffers a port, a power of two up to 64  [64]
  --datagrams N      end after so many  [without end]
  --patience SECONDS end when none comes for so long  [60]
  --bar N            BAR of the interface's registers  [0]
  --huge             buffers in huge pages of 2 MiB
  --reset            reset the board first
  --help             print this";
/// Of the registers.
const BAR_BYTES: usize = 0x1000;

struct Options {
    address: String,
    stream: Stream,
    bar: usize,
    memory: MemoryOptions,
    reset: bool,
}

/// None: help was asked for.
fn options(arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut arguments = arguments;
    let mut stream =
        Stream { ports: 1, buffers: 64, datagrams: u64::MAX, patience: Duration::from_secs(60) };
    let (mut address, mut bar, mut memory, mut reset) = (None, 0, MemoryOptions::default(), false);
    while let Some(word) = arguments.next() {
        let mut number = |least: u64, most: u64| {
            let text = arguments.next().unwrap_or_default();
            let value = text.parse().ok().filter(|value| (least..=most).contains(value));
            value.ok_or_else(|| format!("{word} {text:?}: expected {least} to {most}"))
        };
        match word.as_str() {
            "--help" | "-h" => return Ok(None),
            "--ports" => stream.ports = number(1, 4)? as usize,
            "--buffers" => stream.buffers = number(1, 64)? as usize,
            "--datagrams" => stream.datagrams = number(1, u64::MAX)?,
            "--patience" => stream.patience = Duration::from_secs(number(1, 1_000_000)?),
            "--bar" => bar = number(0, 5)? as usize,
            "--huge" => memory.huge = Some(HugePages::Mib2),
            "--reset" => reset = true,
            _ if word.starts_with('-') => {
                return Err(format!("{word}: no such option; see --help"));
            }
            _ if address.is_some() => return Err(format!("{word}: one address expected")),
            _ => address = Some(word),
        }
    }
    let address = address.ok_or("no PCI address; see --help")?;
    Ok(Some(Options { address, stream, bar, memory, reset }))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let board = Vfio::open(&options.address)?;
    if options.reset {
        board.reset()?;
    }
    let bar = board.bar(options.bar, BAR_BYTES)?;
    let memory = board.memory(options.stream.memory_bytes(), &options.memory)?;
    let (mut datagrams, mut bytes) = (0_u64, 0_u64);
    let statistics = block_on(receive(
        bar,
        memory,
        &options.stream,
        || println!("receiving on {} ports of {}", options.stream.ports, options.address),
        |event, datagram| {
            datagrams += 1;
            bytes += datagram.len() as u64;
            if datagrams.is_power_of_two() {
                println!("{datagrams} datagrams, {bytes} bytes; the last from {}", event.source);
            }
        },
    ))?;
    println!("{datagrams} datagrams, {bytes} bytes");
    for (port, of) in statistics.iter().enumerate() {
        for (name, count) in of.named().filter(|(_, count)| *count > 0) {
            println!("port {port}: {name} {count}");
        }
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    let done = match options(std::env::args().skip(1)) {
        Ok(None) => {
            println!("{USAGE}");
            Ok(())
        }
        Ok(Some(options)) => run(&options),
        Err(text) => Err(text.into()),
    };
    if let Err(error) = done {
        eprintln!("nic_receive: {error}");
        return std::process::ExitCode::FAILURE;
    }
    std::process::ExitCode::SUCCESS
}
