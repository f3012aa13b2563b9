// SPDX-License-Identifier: Apache-2.0
//! The cores and the memory of a host.

use crate::support;

use isthmus_sim::world::{Host, Memory, MemoryConfig};
use isthmus_sim::{Picoseconds, Simulation};
use support::{host_config, sim_config};

fn host(sim: &Simulation, cores: usize) -> Host {
    let mut config = host_config("host", 1);
    config.cpu.cores = cores;
    Host::new(sim, &config).unwrap()
}

/// When four pieces of work of 100 ns, asked for at once, are done.
fn ends(cores: usize) -> Vec<u64> {
    let sim = Simulation::new(sim_config());
    let host = host(&sim, cores);
    let handle = sim.handle();
    let task = sim.spawn(async move {
        let work: Vec<_> = (0..4)
            .map(|tag| {
                let (host, sim) = (host.clone(), handle.clone());
                handle.spawn(async move {
                    host.compute("work", Picoseconds::from_ns(100), tag).await;
                    sim.now().0 / 1_000
                })
            })
            .collect();
        let mut ends = Vec::new();
        for one in work {
            ends.push(one.await);
        }
        assert_eq!(host.cpu().busy(), Picoseconds::from_ns(400));
        ends
    });
    sim.run_until_complete(&task).unwrap()
}

#[test]
fn work_beyond_the_number_of_cores_waits_its_turn() {
    assert_eq!(ends(1), [100, 200, 300, 400]);
    assert_eq!(ends(2), [100, 100, 200, 200]);
    assert_eq!(ends(4), [100, 100, 100, 100]);
}

#[test]
fn giving_up_work_frees_the_core_and_the_place_in_the_queue() {
    let sim = Simulation::new(sim_config());
    let host = host(&sim, 1);
    let handle = sim.handle();
    let task = sim.spawn(async move {
        let ns = Picoseconds::from_ns;
        let (first, second) = (host.clone(), host.clone());
        let limit = handle.clone();
        let running = handle
            .spawn(async move { limit.timeout(ns(50), first.cpu().run(ns(1_000))).await.is_err() });
        let limit = handle.clone();
        let waiting = handle.spawn(async move {
            limit.timeout(ns(20), second.cpu().run(ns(1_000))).await.is_err()
        });
        handle.sleep(ns(1)).await;
        host.cpu().run(ns(10)).await;
        (running.await, waiting.await, handle.now())
    });
    let (first, second, end) = sim.run_until_complete(&task).unwrap();
    assert!(first && second);
    assert_eq!(end, Picoseconds::from_ns(60));
}

fn memory() -> Memory {
    Memory::new(&MemoryConfig {
        name: "memory".into(),
        size_bytes: 4_096,
        load_ns: 80.0,
        store_ns: 2.0,
        copy_ns_per_byte: 0.5,
    })
    .unwrap()
}

#[test]
fn a_program_pays_for_loads_and_stores_and_a_device_does_not() {
    let sim = Simulation::new(sim_config());
    let (host, memory, handle) = (host(&sim, 1), memory(), sim.handle());
    memory.write(100, &[1, 2, 3]).unwrap();
    let task = sim.spawn(async move {
        assert_eq!(memory.load(host.cpu(), 100, 4).await.unwrap(), [1, 2, 3, 0]);
        let after_load = handle.now();
        memory.store(host.cpu(), 200, &[9; 108]).await.unwrap();
        (after_load, handle.now() - after_load, memory.read(307, 2).unwrap())
    });
    let (load, store, bytes) = sim.run_until_complete(&task).unwrap();
    assert_eq!(load, Picoseconds::from_ns(80));
    // A word, and a hundred bytes beyond it.
    assert_eq!(store, Picoseconds::from_ns(52));
    assert_eq!(bytes, [9, 0]);
}

#[test]
fn a_watcher_wakes_when_its_bytes_satisfy_it_and_not_before() {
    let sim = Simulation::new(sim_config());
    let (memory, handle) = (memory(), sim.handle());
    for (ns, address, value) in [(10, 0, 1), (20, 64, 1), (30, 65, 2), (40, 65, 3)] {
        let memory = memory.clone();
        sim.at(Picoseconds::from_ns(ns), move || memory.write(address, &[value]).unwrap());
    }
    let task = sim.spawn(async move {
        memory.watch(64, 8, |bytes| bytes[1] == 3).await.unwrap();
        handle.now()
    });
    assert_eq!(sim.run_until_complete(&task).unwrap(), Picoseconds::from_ns(40));
}

#[test]
fn an_access_outside_the_memory_is_refused() {
    let memory = memory();
    assert!(memory.write(4_096, &[]).is_ok());
    for (address, bytes) in [(4_096, 1), (4_090, 7), (usize::MAX, 2)] {
        let line = memory.read(address, bytes).unwrap_err().to_string();
        assert!(line.ends_with("outside the memory of 4096 bytes"), "{line}");
    }
}
