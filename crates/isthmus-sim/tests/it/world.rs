// SPDX-License-Identifier: Apache-2.0
//! Whole worlds around a device written in Rust.

use crate::support;

use isthmus_sim::kernel::ProbeRecord;
use isthmus_sim::trace::Span;
use isthmus_sim::world::{
    Cable, EndpointConfig, FrameEndpoint, GmiiPhy, Host, NetError, PhyFrame, Switch, SwitchConfig,
};
use isthmus_sim::{FaultSpec, Limit, Picoseconds, SimError, Simulation, Stop};
use support::*;

const GAP: Picoseconds = Picoseconds::from_us(50);

fn echoes(world: &Direct, count: usize) -> Vec<(Picoseconds, Option<Vec<u8>>)> {
    let socket = world.host.udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
    let task = world.sim.spawn(ping(world.sim.handle(), socket, count, GAP));
    world.sim.run_until_complete(&task).unwrap()
}

fn chain(spans: &[Span], tag: u64, start: Picoseconds) -> (Picoseconds, Vec<String>) {
    let (mut at, mut stages): (_, Vec<String>) = (start, Vec::new());
    let known = |stages: &[String], span: &Span| stages.iter().any(|stage| **stage == *span.stage);
    while let Some(span) =
        spans.iter().find(|span| span.tag == tag && span.start == at && !known(&stages, span))
    {
        at = span.end;
        stages.push(span.stage.to_string());
    }
    (at, stages)
}

#[test]
fn an_echo_comes_back_byte_for_byte() {
    let world = direct(sim_config(), &device_config());
    let results = echoes(&world, 10);
    assert!(results.iter().all(|(_, reply)| reply.is_some()));
    let checked = world.sim.scoreboard().verdict().unwrap();
    assert_eq!(checked.bytes, (0..10).map(|n| 32 + 16 * (n % 5)).sum::<u64>());
    // Ten echoes and one address resolution.
    assert_eq!(world.device.status()["frames"], 11);
}

#[test]
fn the_stages_of_a_round_trip_lie_end_to_end_and_add_up_to_it() {
    let world = direct(sim_config(), &device_config());
    let (sim, device) = (world.sim.handle(), device_address());
    let socket = world.host.udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
    let task = world.sim.spawn(async move {
        // The first resolves the address.
        socket.send_to(b"first", device).await.unwrap();
        socket.recv_from(None).await.unwrap();
        let start = sim.now();
        let request = socket.send_to(&[7; 64], device).await.unwrap();
        let reply = socket.recv_from(None).await.unwrap();
        (start, request, reply.frame, sim.now())
    });
    let (start, request, reply, end) = world.sim.run_until_complete(&task).unwrap();
    let spans = world.sim.spans().take();

    let (on_pins, there) = chain(&spans, request.0, start);
    assert_eq!(there, ["send call", "NIC transmit", "serialise", "cable", "PHY receive"]);
    let received: PhyFrame =
        *world.phy.received_since(0).iter().find(|frame| frame.id == request).unwrap();
    let sent: PhyFrame = *world.phy.sent_since(0).iter().find(|frame| frame.id == reply).unwrap();
    assert_eq!(on_pins, received.last);

    let (returned, back) = chain(&spans, reply.0, sent.first);
    assert_eq!(
        back,
        [
            "PHY transmit",
            "serialise",
            "cable",
            "NIC receive",
            "interrupt",
            "protocol receive",
            "wake-up",
            "receive call"
        ]
    );
    assert_eq!(returned, end);

    // Inside the device, the probes account for the rest: the last octet is driven, sampled at the
    // next receive clock, and the reply leaves after the device's dwell.
    let probes: Vec<ProbeRecord> = world.sim.probes().take();
    let stage = |name: &str| world.device.stages().iter().position(|stage| stage == name).unwrap();
    let at = |name: &str| {
        let stage = stage(name) as u16;
        probes.iter().rev().find(|record| record.stage == stage).unwrap().time
    };
    assert!(received.last < at("RxLast") && at("RxLast") < sent.first);
    assert_eq!(at("TxFirst"), sent.first);
    // The tag of the reply's probe is that of the request's.
    let tags: Vec<u8> = probes.iter().rev().take(3).map(|record| record.tag).collect();
    assert_eq!(tags, [3, 3, 3]);
}

#[test]
fn a_frame_occupies_the_wire_for_its_octets_and_the_gap() {
    let world = direct(sim_config(), &device_config());
    let host = world.host.clone();
    let task = world.sim.spawn(async move {
        let socket = host.udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
        for _ in 0..20 {
            socket.send_to(&[0; 1_472], device_address()).await.unwrap();
        }
    });
    world.sim.run_until_complete(&task).unwrap();
    world.sim.run_until_idle(&Limit::default()).unwrap();
    let spans = world.sim.spans().take();
    let on_wire: Vec<&Span> = spans
        .iter()
        .filter(|span| &*span.stage == "serialise" && &*span.track == "host.nic")
        .filter(|span| span.end - span.start > Picoseconds::from_us(12))
        .collect();
    // The address was resolved with room for 16.
    assert_eq!(on_wire.len(), 20);
    for pair in on_wire.windows(2) {
        let octets = (pair[0].end - pair[0].start).0 / 8_000;
        assert_eq!(octets, 8 + 14 + 1_500 + 4);
        assert!(pair[1].start - pair[0].end >= Picoseconds(12 * 8_000));
    }
    // Those that waited for the address leave back to back.
    assert!(on_wire.windows(2).any(|pair| pair[1].start - pair[0].end == Picoseconds(12 * 8_000)));
}

type Everything = (
    Vec<(Picoseconds, Option<Vec<u8>>)>,
    Vec<Span>,
    Vec<ProbeRecord>,
    Vec<PhyFrame>,
    Vec<PhyFrame>,
    std::collections::BTreeMap<String, u64>,
    std::collections::BTreeMap<String, u64>,
    u64,
);

fn everything(seed: u64, skip_idle: bool, check_idle: bool) -> (Everything, u64) {
    let mut config = device_config();
    // Clocks that never line up again, and a reset and triggers while the device sleeps.
    config.clocks[1].offset_ppm = -37.0;
    config.clocks[1].phase_ps = 1_234;
    config.resets =
        vec![isthmus_sim::kernel::ResetSpec { at_ps: Picoseconds::from_us(333).0, cycles: 3 }];
    let world =
        direct(isthmus_sim::SimConfig { seed, skip_idle, check_idle, ..sim_config() }, &config);
    for (at, index) in [(77_777_777, 0), (222_222_001, 3), (900_000_003, 1)] {
        world.device.pulse(index, Picoseconds(at), Picoseconds(20_001)).unwrap();
    }
    let rate = |rate| FaultSpec { rate, ..FaultSpec::default() };
    world.sim.faults().inject("cable.a_to_b.bit_error", rate(4e-5)).unwrap();
    world.sim.faults().inject("cable.b_to_a.drop", rate(0.1)).unwrap();
    world.sim.faults().inject("cable.b_to_a.duplicate", rate(0.1)).unwrap();
    world.sim.faults().inject("cable.a_to_b.reorder", rate(0.1)).unwrap();
    let results = echoes(&world, 40);
    let all = (
        results,
        world.sim.spans().take(),
        world.sim.probes().take(),
        world.phy.received_since(0),
        world.phy.sent_since(0),
        world.device.status(),
        world.sim.counters().values(),
        world.sim.statistics().device_cycles,
    );
    (all, world.sim.statistics().evaluated_cycles)
}

#[test]
fn skipping_idle_devices_changes_no_byte_no_time_and_no_counter() {
    let (skipped, evaluated) = everything(5, true, false);
    let (full, all_evaluated) = everything(5, false, false);
    let (checked, _) = everything(5, false, true);
    assert!(skipped == full, "skipping changed the result");
    assert!(checked == full, "checking changed the result");
    assert!(all_evaluated.abs_diff(full.7) <= 1, "{all_evaluated} of {}", full.7);
    assert!(evaluated * 3 < all_evaluated, "only {evaluated} of {all_evaluated} were to remain");
    // The faults did happen, or the comparison says little.
    assert!(skipped.5["bad"] > 0 && skipped.6["cable.b_to_a.frames_dropped"] > 0);
    assert!(skipped.5["latched_ns"] > 0);
}

#[test]
fn one_seed_gives_one_result_and_another_seed_another() {
    let (first, _) = everything(5, true, false);
    let (again, _) = everything(5, true, false);
    let (other, _) = everything(6, true, false);
    assert!(first == again);
    assert!(first != other);
}

#[test]
fn a_trigger_that_wakes_a_sleeping_device_latches_the_right_time() {
    for skip_idle in [true, false] {
        let sim_config = isthmus_sim::SimConfig { skip_idle, ..sim_config() };
        let world = direct(sim_config, &device_config());
        let at = Picoseconds(4_000_500_000);
        world.device.pulse(2, at, Picoseconds(30_000)).unwrap();
        world.sim.run_for(Picoseconds::from_ms(5)).unwrap();
        // Seen at the edge at 4.000504 ms, with a time path two registers deep.
        assert_eq!(world.device.status()["latched_ns"], 1_000_000_000 + 4_000_504 - 16);
        let (cycles, evaluated) = world.device.cycles();
        assert_eq!(cycles, 5_000_000 / 8 + 1);
        assert_eq!(evaluated < 100, skip_idle, "{evaluated}");
    }
}

#[test]
fn a_device_that_changes_while_it_says_idle_is_found_out() {
    let config =
        isthmus_sim::SimConfig { check_idle: true, idle_confirm_cycles: 0, ..sim_config() };
    let world = direct_with(config, &device_config(), EchoDevice::lying());
    let socket = world.host.udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
    let task = world.sim.spawn(ping(world.sim.handle(), socket, 1, GAP));
    let error = world.sim.run_until_complete(&task).unwrap_err();
    assert!(matches!(error, SimError::IdleViolation { .. }), "{error}");
    assert!(error.to_string().contains("device fpga"), "{error}");
}

#[test]
fn a_lost_reply_times_out_and_fails_the_data_check() {
    let world = direct(sim_config(), &device_config());
    // Frame 0 of this direction answers the ARP request.
    let second = FaultSpec { at_count: vec![2], ..FaultSpec::default() };
    world.sim.faults().inject("cable.b_to_a.drop", second).unwrap();
    let results = echoes(&world, 3);
    assert_eq!(results.iter().filter(|(_, reply)| reply.is_none()).count(), 1);
    assert!(results[1].1.is_none());
    let error = world.sim.scoreboard().verdict().unwrap_err().to_string();
    assert!(error.contains("0 wrong and 48 lost of 144 bytes; first: echo 1"), "{error}");
    assert_eq!(world.sim.faults().fired()["cable.b_to_a.drop"], 1);
}

#[test]
fn a_flipped_bit_is_thrown_away_by_the_receiver_and_counted() {
    let world = direct(sim_config(), &device_config());
    let bit = FaultSpec { at_ps: vec![Picoseconds::from_us(60).0], ..FaultSpec::default() };
    world.sim.faults().inject("cable.b_to_a.bit_error", bit).unwrap();
    let results = echoes(&world, 4);
    assert_eq!(results.iter().filter(|(_, reply)| reply.is_none()).count(), 1);
    let counters = world.sim.counters().values();
    let dropped =
        counters["host.nic.frames_dropped_fcs"] + counters["host.nic.frames_dropped_malformed"];
    assert_eq!(dropped, 1);
}

#[test]
fn a_duplicate_arrives_twice_and_a_reordered_frame_late() {
    let world = direct(sim_config(), &device_config());
    let once = |at| FaultSpec { at_count: vec![at], ..FaultSpec::default() };
    world.sim.faults().inject("cable.a_to_b.duplicate", once(1)).unwrap();
    world.sim.faults().inject("cable.b_to_a.reorder", once(1)).unwrap();
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let task = world.sim.spawn(async move {
        let socket = host.udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
        socket.send_to(&[1; 32], device_address()).await.unwrap();
        let mut times = Vec::new();
        while let Ok(reply) = socket.recv_from(Some(Picoseconds::from_us(100))).await {
            assert_eq!(&reply.payload[8..], [1; 32]);
            times.push(sim.now());
        }
        times
    });
    let times = world.sim.run_until_complete(&task).unwrap();
    // The first copy's reply is held up for as long as the second copy of the request was.
    assert_eq!(times.len(), 2);
    assert!(times[1] - times[0] < Picoseconds::from_us(4), "{times:?}");
}

#[test]
fn a_reset_in_the_middle_of_a_frame_loses_it_and_the_device_recovers() {
    let mut config = device_config();
    let at = Picoseconds::from_us(9);
    config.resets = vec![isthmus_sim::kernel::ResetSpec { at_ps: at.0, cycles: 2 }];
    let world = direct(sim_config(), &config);
    let reset_hits = |world: &Direct| world.device.status()["resets"];
    let results = echoes(&world, 3);
    assert_eq!(results.len(), 3);
    assert!(results[2].1.is_some());
    assert!(reset_hits(&world) <= 1);
}

#[test]
fn a_held_signal_is_not_driven_until_it_is_released() {
    let mut config = device_config();
    config.holds = vec![isthmus_sim::kernel::HoldSpec {
        port: "gmii_rx_er_i".into(),
        value: 1,
        from_ps: 0,
        until_ps: Some(Picoseconds::from_us(900).0),
    }];
    let world = direct(sim_config(), &config);
    let results = echoes(&world, 6);
    // All ARP requests before the release are bad to the device.
    assert!(results[0].1.is_none());
    assert!(results[5].1.is_some());
    assert!(world.device.status()["bad"] >= 1);
}

fn switch_config(queue_bytes: u64) -> SwitchConfig {
    SwitchConfig {
        name: "switch".into(),
        ports: 4,
        bit_rate_bit_s: GIGABIT,
        forwarding_latency_ns: 800.0,
        queue_bytes,
    }
}

#[test]
fn a_switch_learns_where_stations_are_and_floods_only_before_that() {
    let sim = Simulation::new(sim_config());
    let switch = Switch::new(&sim, &switch_config(100_000)).unwrap();
    let hosts: Vec<Host> = (0..3_u8)
        .map(|n| Host::new(&sim, &host_config(&format!("host{n}"), n + 1)).unwrap())
        .collect();
    for (number, host) in hosts.iter().enumerate() {
        let port = switch.port(number).unwrap();
        Cable::connect(&sim, host, port, &cable_config(&format!("cable{number}"))).unwrap();
    }
    let server = hosts[1].udp_bind(([10, 0, 0, 2], 99).into_socket()).unwrap();
    let client = hosts[0].udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
    let to = server.local_address();
    sim.spawn(async move {
        while let Ok(datagram) = server.recv_from(Some(Picoseconds::from_ms(1))).await {
            server.send_to(&datagram.payload, datagram.from).await.unwrap();
        }
    });
    let task = sim.spawn(async move {
        for number in 0..5_u8 {
            client.send_to(&[number; 100], to).await.unwrap();
            let reply = client.recv_from(None).await.unwrap();
            assert_eq!((reply.payload, reply.from), (vec![number; 100], to));
        }
    });
    sim.run_until_complete(&task).unwrap();
    assert_eq!(switch.learned(hosts[0].nic().mac()), Some(0));
    assert_eq!(switch.learned(hosts[1].nic().mac()), Some(1));
    assert_eq!(switch.learned(hosts[2].nic().mac()), None);
    // Of all frames only the broadcast ARP request reached the third host.
    let counters = sim.counters().values();
    assert_eq!(counters["switch.port2.frames_sent"], 1);
    assert_eq!(counters["host2.nic.frames_ignored_address"], 0);
    assert_eq!(counters["switch.port1.frames_sent"], 6);
}

trait IntoSocket {
    fn into_socket(self) -> std::net::SocketAddrV4;
}

impl IntoSocket for ([u8; 4], u16) {
    fn into_socket(self) -> std::net::SocketAddrV4 {
        std::net::SocketAddrV4::new(self.0.into(), self.1)
    }
}

fn endpoint(sim: &Simulation, name: &str) -> FrameEndpoint {
    let config =
        EndpointConfig { name: name.into(), bit_rate_bit_s: GIGABIT, queue_bytes: 1_000_000 };
    FrameEndpoint::new(sim, &config).unwrap()
}

fn frame(to: u8, from: u8, bytes: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x88, 0xb5];
    frame.resize(bytes, from);
    frame
}

#[test]
fn a_full_output_queue_drops_and_counts_what_two_senders_put_into_one_port() {
    let sim = Simulation::new(sim_config());
    let switch = Switch::new(&sim, &switch_config(10_000)).unwrap();
    let ends: Vec<FrameEndpoint> = (0..3).map(|n| endpoint(&sim, &format!("end{n}"))).collect();
    for (number, end) in ends.iter().enumerate() {
        let port = switch.port(number).unwrap();
        Cable::connect(&sim, end, port, &cable_config(&format!("cable{number}"))).unwrap();
    }
    // The receiver says where it is; then 30 frames come from each of the others at line rate.
    ends[2].send(&frame(0xee, 2, 60)).unwrap();
    sim.run_until_idle(&Limit::default()).unwrap();
    for _ in 0..30 {
        ends[0].send(&frame(2, 0, 1_000)).unwrap();
        ends[1].send(&frame(2, 1, 1_000)).unwrap();
    }
    sim.run_until_idle(&Limit::default()).unwrap();
    let received = ends[2].take();
    let dropped = sim.counters().values()["switch.port2.frames_dropped_queue_full"];
    assert_eq!(received.len() as u64 + dropped, 60);
    // Two in for one out: after the queue has filled, every second frame is lost.
    assert!((15..=30).contains(&dropped), "{dropped}");
    for pair in received.windows(2) {
        assert_eq!(pair[1].time - pair[0].time, Picoseconds((8 + 1_000 + 4 + 12) * 8_000));
    }
}

#[test]
fn an_endpoint_can_be_driven_between_slices_of_time() {
    let sim = Simulation::new(sim_config());
    let (a, b) = (endpoint(&sim, "a"), endpoint(&sim, "b"));
    Cable::connect(&sim, &a, &b, &cable_config("cable")).unwrap();
    sim.run_for(Picoseconds::from_us(5)).unwrap();
    let id = a.send(&frame(1, 0, 60)).unwrap();
    sim.run_for(Picoseconds(100_000)).unwrap();
    assert!(b.take().is_empty());
    sim.run_for(Picoseconds::from_us(5)).unwrap();
    let received = b.take();
    assert_eq!(received.len(), 1);
    assert_eq!((received[0].id, received[0].bytes.len()), (id, 60));
    // Sent at 5 us: 72 octets on the wire, 10 ns of cable.
    assert_eq!(received[0].time, Picoseconds(5_000_000 + 72 * 8_000 + 10_000));
    assert_eq!(sim.now(), Picoseconds(10_100_000));
}

#[test]
fn interrupts_keep_their_distance_and_one_serves_several_frames() {
    let sim = Simulation::new(sim_config());
    let mut config = host_config("host", 1);
    config.nic.interrupt_gap_ns = 50_000.0;
    let host = Host::new(&sim, &config).unwrap();
    let end = endpoint(&sim, "end");
    Cable::connect(&sim, &host, &end, &cable_config("cable")).unwrap();
    let socket = host.udp_bind(([10, 0, 0, 1], 5_000).into_socket()).unwrap();
    let datagram = isthmus_sim::world::packet::Udp {
        source_mac: DEVICE_MAC,
        destination_mac: host.nic().mac(),
        source: device_address(),
        destination: socket.local_address(),
        payload: vec![9; 200],
    };
    for _ in 0..40 {
        end.send(&datagram.to_frame().unwrap()).unwrap();
    }
    let task = sim.spawn(async move {
        for _ in 0..40 {
            socket.recv_from(None).await.unwrap();
        }
    });
    sim.run_until_complete(&task).unwrap();
    // 40 frames take 84.5 us to arrive: the interrupts at 0, 50 and 100 us serve them all.
    assert!((2..=3).contains(&sim.counters().values()["host.nic.interrupts"]));
}

#[test]
fn a_station_that_never_answers_arp_gets_nothing_and_the_datagram_is_counted() {
    let sim = Simulation::new(sim_config());
    let host = Host::new(&sim, &host_config("host", 1)).unwrap();
    let end = endpoint(&sim, "end");
    Cable::connect(&sim, &host, &end, &cable_config("cable")).unwrap();
    let socket = host.udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
    let task = sim.spawn(async move {
        socket.send_to(b"hello", device_address()).await.unwrap();
        socket.recv_from(Some(Picoseconds::from_ms(10))).await
    });
    let result = sim.run_until_complete(&task).unwrap();
    assert_eq!(result, Err(NetError::TimedOut(Picoseconds::from_ms(10))));
    assert_eq!(end.take().len(), 3);
    assert_eq!(sim.counters().values()["host.datagrams_dropped_unresolved"], 1);
}

#[test]
fn a_socket_refuses_what_does_not_fit_and_whose_port_is_taken() {
    let world = direct(sim_config(), &device_config());
    let socket = world.host.udp_bind(([10, 0, 0, 1], 77).into_socket()).unwrap();
    let bind = |ip: [u8; 4], port| world.host.udp_bind((ip, port).into_socket()).map(|_| ());
    assert_eq!(bind([10, 0, 0, 1], 77), Err(NetError::PortTaken(77)));
    assert_eq!(bind([0, 0, 0, 0], 78), Ok(()));
    assert_eq!(bind([10, 0, 0, 9], 78), Err(NetError::NotLocal([10, 0, 0, 9].into())));
    let task = world.sim.spawn(async move {
        let result = socket.send_to(&[0; 1_473], device_address()).await;
        drop(socket);
        result
    });
    let result = world.sim.run_until_complete(&task).unwrap();
    assert_eq!(result, Err(NetError::TooLong { bytes: 1_473, limit: 1_472 }));
    // Closed: the port is free again.
    assert_eq!(bind([10, 0, 0, 1], 77), Ok(()));
}

#[test]
fn a_world_put_together_wrongly_is_refused_with_one_clear_line() {
    let sim = Simulation::new(sim_config());
    let host = Host::new(&sim, &host_config("host", 1)).unwrap();
    let end = endpoint(&sim, "end");
    Cable::connect(&sim, &host, &end, &cable_config("cable")).unwrap();
    let again = Cable::connect(&sim, &host, &endpoint(&sim, "other"), &cable_config("second"));
    assert_eq!(again.unwrap_err().to_string(), "second: port host.nic already has a cable");
    let mut config = host_config("slow", 2);
    config.net.wakeup_ns = -1.0;
    let line = Host::new(&sim, &config).err().unwrap().to_string();
    assert_eq!(line, "slow: wakeup_ns = -1: 0 to 10^12 expected");
    let line = Switch::new(&sim, &SwitchConfig { ports: 1, ..switch_config(1) }).err().unwrap();
    assert_eq!(line.to_string(), "switch: ports = 1: 2 to 1024 expected");
}

#[test]
fn a_run_ends_when_nothing_is_pending() {
    let world = direct(sim_config(), &device_config());
    assert_eq!(world.sim.run_until_idle(&Limit::default()).unwrap(), Stop::Idle);
    // Reset, and the cycles it takes to be sure that the device is idle.
    assert!(world.sim.now() < Picoseconds::from_ns(200), "{}", world.sim.now());
}

/// Two devices, each behind its PHY, on one cable; the first asks and the second answers.
fn two_devices(skip_idle: bool, second_ppm: f64) -> (Vec<PhyFrame>, Vec<PhyFrame>, [u64; 2], u64) {
    let sim = Simulation::new(isthmus_sim::SimConfig { skip_idle, ..sim_config() });
    let mut phys = Vec::new();
    let mut devices = Vec::new();
    for (number, ip, ppm, peer_ppm) in
        [(0_u64, [10, 0, 0, 9], 0.0, second_ppm), (1, [10, 0, 0, 2], second_ppm, 0.0)]
    {
        let mut config = device_config();
        config.name = format!("fpga{number}");
        config.cfg.insert("mac".into(), DEVICE_MAC.as_u64() + number);
        config.cfg.insert("ip".into(), u64::from(u32::from(std::net::Ipv4Addr::from(ip))));
        config.clocks[0].offset_ppm = ppm;
        // The receive clock is recovered from the peer's.
        config.clocks[1].offset_ppm = peer_ppm;
        config.clocks[1].phase_ps += 700 * number;
        let device = sim.add_model(EchoDevice::boxed(), &config).unwrap();
        let phy = phy_config(&format!("phy{number}"));
        phys.push(GmiiPhy::attach(&sim, &device, "gmii", &phy).unwrap());
        devices.push(device);
    }
    Cable::connect(&sim, &phys[0], &phys[1], &cable_config("cable")).unwrap();
    for time in [10, 200, 300] {
        devices[0].pulse(3, Picoseconds::from_us(time), Picoseconds(20_000)).unwrap();
    }
    sim.run_for(Picoseconds::from_us(500)).unwrap();
    let counters = sim.counters().values();
    assert_eq!(counters["phy0.receive_underruns"] + counters["phy1.receive_underruns"], 0);
    let good = [devices[0].status()["frames"], devices[1].status()["frames"]];
    let evaluated = sim.statistics().evaluated_cycles;
    (phys[0].sent_since(0), phys[1].received_since(0), good, evaluated)
}

#[test]
fn a_frame_between_two_devices_begins_to_arrive_before_it_has_been_sent() {
    for ppm in [0.0, 50.0, -50.0] {
        let (sent, received, good, evaluated) = two_devices(true, ppm);
        assert_eq!(good, [3, 3], "three questions, three answers");
        assert_eq!((sent.len(), received.len()), (3, 3));
        for (out, back) in sent.iter().zip(&received) {
            assert_eq!(out.id, back.id);
            assert_eq!((out.bytes, back.bytes), (72, 72));
            // Latencies of both PHYs and of the cable, and up to a period until the next edge.
            let through = back.first - out.first;
            assert!((310_000..=318_001).contains(&through.0), "{through}");
            assert!(back.first < out.last);
        }
        let (all_sent, all_received, _, all_evaluated) = two_devices(false, ppm);
        assert_eq!((sent, received), (all_sent, all_received));
        assert!(evaluated * 20 < all_evaluated, "{evaluated} of {all_evaluated}");
    }
}
