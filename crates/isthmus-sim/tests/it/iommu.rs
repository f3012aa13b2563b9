// SPDX-License-Identifier: Apache-2.0
//! Walks over page tables that the host library builds in the host's memory.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_host::svm::{Access, AddressSpace, PageSize, PhysicalMemory, Region, SvmError};
use isthmus_sim::world::{Iommu, IommuConfig, Leaf, Memory, MemoryConfig, Walk};
use isthmus_sim::{Picoseconds, Simulation};

use crate::support::sim_config;

const BYTES: usize = 32 << 20;
const ACCESS_NS: u64 = 100;

#[derive(Clone)]
struct Host(Memory);

impl PhysicalMemory for Host {
    fn read(&self, physical: u64, buffer: &mut [u8]) -> Result<(), SvmError> {
        let bytes = buffer.len();
        let all = self.0.read(physical as usize, bytes);
        buffer.copy_from_slice(&all.map_err(|_| SvmError::Outside { physical, bytes })?);
        Ok(())
    }

    fn write(&mut self, physical: u64, data: &[u8]) -> Result<(), SvmError> {
        let bytes = data.len();
        self.0.write(physical as usize, data).map_err(|_| SvmError::Outside { physical, bytes })
    }
}

struct Bench {
    sim: Simulation,
    space: AddressSpace<Host>,
    iommu: Iommu,
    /// Each walk, with when it ended in ns.
    ended: Rc<RefCell<Vec<(u64, Walk)>>>,
}

fn bench(walkers: usize, cache_entries: usize) -> Bench {
    let sim = Simulation::new(sim_config());
    let memory = Memory::new(&MemoryConfig {
        name: "memory".into(),
        size_bytes: BYTES,
        load_ns: 90.0,
        store_ns: 10.0,
        copy_ns_per_byte: 0.1,
    });
    let memory = memory.unwrap();
    let space = AddressSpace::new(Host(memory.clone()), 0..BYTES as u64).unwrap();
    let config =
        IommuConfig { name: "iommu".into(), access_ns: ACCESS_NS as f64, walkers, cache_entries };
    let iommu = Iommu::new(&sim.handle(), &config, &memory, space.root()).unwrap();
    Bench { sim, space, iommu, ended: Rc::default() }
}

impl Bench {
    fn ask(&self, address: u64, pages_log2: u32) {
        let (ended, sim) = (Rc::clone(&self.ended), self.sim.handle());
        self.iommu.translate(address, pages_log2, move |walk| {
            ended.borrow_mut().push((sim.now().0 / 1000, walk));
        });
    }

    fn run(&self) -> Vec<(u64, Walk)> {
        self.sim.run_for(Picoseconds::from_us(100)).unwrap();
        self.ended.take()
    }

    fn walk(&self, address: u64, pages_log2: u32) -> (u64, Walk) {
        let start = self.sim.handle().now().0 / 1000;
        self.ask(address, pages_log2);
        let (end, walk) = self.run().remove(0);
        (end - start, walk)
    }

    fn check(&self, region: Region) {
        for at in (region.address..region.address + region.bytes).step_by(4096) {
            let found = self.walk(at, 0).1.pages[0].unwrap();
            let to = self.space.translate(at).unwrap();
            assert_eq!(found.frame | at & ((1 << found.log2) - 1), to.physical);
            assert_eq!(found.log2, to.size.log2());
            assert_eq!(found.write, to.access == Access::ReadWrite);
        }
    }
}

#[test]
fn a_walk_finds_what_the_program_finds() {
    let mut bench = bench(1, 0);
    for (bytes, page, access) in [
        (300 << 12, PageSize::Base, Access::ReadWrite),
        (4 << 20, PageSize::Big, Access::Read),
        (9 << 12, PageSize::Base, Access::Read),
    ] {
        let region = bench.space.allocate(bytes, page, access).unwrap();
        bench.check(region);
    }
    // A frame that the memory does not have is still a translation.
    bench.space.map(3 << 30, 5 << 30, PageSize::Huge, Access::ReadWrite).unwrap();
    let (_, walk) = bench.walk((3 << 30) + 12345, 3);
    assert_eq!(walk.pages, [Some(Leaf { frame: 5 << 30, log2: 30, write: true })]);
}

#[test]
fn a_level_costs_an_access_and_the_walk_cache_saves_all_but_one() {
    let mut bench = bench(1, 8);
    let base = bench.space.allocate(16 << 12, PageSize::Base, Access::Read).unwrap().address;
    let big = bench.space.allocate(4 << 20, PageSize::Big, Access::Read).unwrap().address;
    bench.space.map(3 << 30, 5 << 30, PageSize::Huge, Access::ReadWrite).unwrap();
    bench.space.map(4 << 30, 6 << 30, PageSize::Huge, Access::ReadWrite).unwrap();
    for (address, accesses) in
        [(base, 4), (base + 4096, 1), (big, 3), (big + (2 << 20), 1), (3 << 30, 2), (4 << 30, 1)]
    {
        let (ns, walk) = bench.walk(address, 0);
        assert_eq!((ns, walk.accesses), (accesses * ACCESS_NS, accesses as u32), "{address:#x}");
    }
    // What is forgotten is walked again from the root.
    bench.iommu.invalidate(base, 0);
    assert_eq!(bench.walk(base, 0).1.accesses, 4);
    assert_eq!(bench.walk(big, 0).1.accesses, 1);
    let counters = bench.iommu.counters();
    assert_eq!((counters.walks, counters.accesses, counters.cached), (8, 17, 4));
}

#[test]
fn neighbouring_pages_come_with_the_line() {
    let mut bench = bench(1, 0);
    let region = bench.space.allocate(16 << 12, PageSize::Base, Access::ReadWrite).unwrap();
    let gone = region.address + (3 << 12);
    let _ = bench.space.unmap(gone).unwrap();
    let (ns, walk) = bench.walk(region.address + (5 << 12), 3);
    assert_eq!(ns, 4 * ACCESS_NS);
    assert_eq!(walk.pages.len(), 8);
    for (page, found) in walk.pages.iter().enumerate() {
        let at = region.address + ((page as u64) << 12);
        assert_eq!(
            found.map(|leaf| leaf.frame),
            bench.space.translate(at).ok().map(|to| to.physical)
        );
    }
    assert_eq!(walk.pages[3], None);
}

#[test]
fn walks_beyond_the_walkers_wait_in_their_order() {
    let mut bench = bench(2, 0);
    let region = bench.space.allocate(16 << 12, PageSize::Base, Access::ReadWrite).unwrap();
    for page in 0..5 {
        bench.ask(region.address + (page << 12), 0);
    }
    let ends: Vec<u64> = bench.run().iter().map(|(end, _)| *end).collect();
    assert_eq!(ends, [400, 400, 800, 800, 1200]);
}

#[test]
fn what_is_not_mapped_is_a_fault_and_no_more() {
    let mut bench = bench(1, 4);
    let region = bench.space.allocate(4096, PageSize::Base, Access::ReadWrite).unwrap();
    for address in [0, region.address + (1 << 30), 1 << 48, u64::MAX] {
        assert_eq!(bench.walk(address, 0).1.pages, [None], "{address:#x}");
    }
    // A table outside the memory, and an entry that has not been in use.
    let root = bench.space.root();
    let mut memory = Host(match bench.space.memory() {
        Host(memory) => memory.clone(),
    });
    memory.write(root, &(1u64 << 40 | 3).to_le_bytes()).unwrap();
    assert_eq!(bench.walk(0, 2).1.pages, [None; 4]);
    assert_eq!(bench.iommu.counters().bad_tables, 1);
    assert!(
        Iommu::new(
            &bench.sim.handle(),
            &IommuConfig { name: "x".into(), access_ns: -1.0, walkers: 1, cache_entries: 0 },
            &memory.0,
            0
        )
        .is_err()
    );
}

#[test]
fn a_walk_sees_the_entry_as_it_is_when_it_reads_it() {
    let mut bench = bench(1, 0);
    let region = bench.space.allocate(4096, PageSize::Base, Access::ReadWrite).unwrap();
    bench.ask(region.address, 0);
    bench.sim.run_for(Picoseconds::from_ns(350)).unwrap();
    let pending = bench.space.free(region).unwrap();
    assert_eq!(bench.run()[0].1.pages, [None]);
    bench.space.complete(pending);
}
