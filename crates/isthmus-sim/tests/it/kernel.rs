// SPDX-License-Identifier: Apache-2.0
//! Time, tasks, channels and the ends of a run.

use crate::support;

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use isthmus_sim::kernel::{channel, oneshot};
use isthmus_sim::{Picoseconds, SimConfig, SimError, Simulation};
use support::{EchoDevice, device_config, sim_config};

fn unlimited() -> Simulation {
    Simulation::new(SimConfig { simulated_limit_ps: None, wall_limit_ms: None, ..sim_config() })
}

#[test]
fn events_run_in_the_order_of_time_and_then_of_scheduling() {
    let sim = unlimited();
    let order = Rc::new(RefCell::new(Vec::new()));
    for (name, time) in [("c", 20), ("a", 10), ("d", 20), ("b", 10)] {
        let order = Rc::clone(&order);
        sim.at(Picoseconds(time), move || order.borrow_mut().push(name));
    }
    sim.run_for(Picoseconds(30)).unwrap();
    assert_eq!(*order.borrow(), ["a", "b", "c", "d"]);
    assert_eq!(sim.now(), Picoseconds(30));
}

#[test]
fn a_woken_task_runs_after_what_was_scheduled_before_it_was_woken() {
    let sim = unlimited();
    let order = Rc::new(RefCell::new(Vec::new()));
    let (sender, receiver) = oneshot();
    let (log, handle) = (Rc::clone(&order), sim.handle());
    sim.spawn(async move {
        receiver.recv().await.unwrap();
        log.borrow_mut().push(("task", handle.now()));
    });
    let (log, other, handle) = (Rc::clone(&order), Rc::clone(&order), sim.handle());
    sim.at(Picoseconds(5), move || {
        sender.send(()).unwrap();
        log.borrow_mut().push(("first", handle.now()));
    });
    let handle = sim.handle();
    sim.at(Picoseconds(5), move || other.borrow_mut().push(("second", handle.now())));
    sim.run_for(Picoseconds(10)).unwrap();
    let at = Picoseconds(5);
    assert_eq!(*order.borrow(), [("first", at), ("second", at), ("task", at)]);
}

#[test]
fn a_task_sleeps_exactly_as_long_as_it_asked() {
    let sim = unlimited();
    let handle = sim.handle();
    let task = sim.spawn(async move {
        handle.sleep(Picoseconds(123)).await;
        handle.sleep(Picoseconds::ZERO).await;
        handle.sleep_until(Picoseconds(7)).await;
        handle.now()
    });
    assert_eq!(sim.run_until_complete(&task).unwrap(), Picoseconds(123));
}

#[test]
fn a_task_can_spawn_another_and_await_its_result() {
    let sim = unlimited();
    let handle = sim.handle();
    let task = sim.spawn(async move {
        let inner = handle.clone();
        let other = handle.spawn(async move {
            inner.sleep(Picoseconds(10)).await;
            42
        });
        other.await
    });
    assert_eq!(sim.run_until_complete(&task).unwrap(), 42);
}

#[test]
fn a_time_out_ends_the_wait_and_a_result_at_the_very_limit_counts() {
    let sim = unlimited();
    let handle = sim.handle();
    let task = sim.spawn(async move {
        let sleep = |ps| handle.sleep(Picoseconds(ps));
        let late = handle.timeout(Picoseconds(10), sleep(11)).await.is_err();
        let after_late = handle.now();
        let (sender, receiver) = oneshot();
        // Scheduled before the time-out is: it comes first at the same time.
        handle.after(Picoseconds(10), move || sender.send(()).unwrap());
        let in_time = handle.timeout(Picoseconds(10), receiver.recv()).await.is_ok();
        (late, after_late, in_time)
    });
    assert_eq!(sim.run_until_complete(&task).unwrap(), (true, Picoseconds(10), true));
}

#[test]
fn a_cancelled_timer_does_not_keep_a_run_alive() {
    let sim = unlimited();
    let handle = sim.handle();
    let task = sim.spawn(async move {
        for _ in 0..1_000 {
            let quick = handle.sleep(Picoseconds(1));
            handle.timeout(Picoseconds::from_ms(1_000), quick).await.unwrap();
        }
    });
    sim.run_until_complete(&task).unwrap();
    sim.run_until_idle(&isthmus_sim::Limit::default()).unwrap();
    assert_eq!(sim.now(), Picoseconds(1_000));
}

#[test]
fn a_bounded_channel_holds_its_sender_back_and_keeps_the_order() {
    let sim = unlimited();
    let (sender, mut receiver) = channel(2);
    let handle = sim.handle();
    let sent_at = Rc::new(Cell::new(Picoseconds::ZERO));
    let (last, clock) = (Rc::clone(&sent_at), sim.handle());
    sim.spawn(async move {
        for number in 0..5 {
            sender.send(number).await.unwrap();
        }
        last.set(clock.now());
    });
    let task = sim.spawn(async move {
        let mut all = Vec::new();
        loop {
            handle.sleep(Picoseconds(100)).await;
            match receiver.recv().await {
                Some(number) => all.push(number),
                None => return all,
            }
        }
    });
    assert_eq!(sim.run_until_complete(&task).unwrap(), [0, 1, 2, 3, 4]);
    // The fifth needs the third slot to be taken, at 300 ps.
    assert_eq!(sent_at.get(), Picoseconds(300));
}

#[test]
fn sending_to_a_dropped_receiver_is_an_error() {
    let sim = unlimited();
    let (sender, receiver) = channel(1);
    drop(receiver);
    let task = sim.spawn(async move { sender.send(1).await });
    assert!(sim.run_until_complete(&task).unwrap().is_err());
}

#[test]
fn a_deadlock_is_reported_with_the_names_of_those_who_wait() {
    for skip_idle in [true, false] {
        let sim = Simulation::new(SimConfig { skip_idle, ..sim_config() });
        sim.add_model(EchoDevice::boxed(), &device_config()).unwrap();
        let (sender, mut receiver) = channel::<()>(1);
        let task = sim.spawn_named("reader", async move {
            receiver.recv().await;
            drop(sender);
        });
        let error = sim.run_until_complete(&task).unwrap_err();
        assert!(matches!(error, SimError::Deadlock { .. }), "{error}");
        assert!(error.to_string().contains("still wait: reader"), "{error}");
    }
}

#[test]
fn a_run_beyond_its_simulated_time_is_ended() {
    let sim = Simulation::new(SimConfig { simulated_limit_ps: Some(1_000), ..sim_config() });
    let handle = sim.handle();
    let task = sim.spawn_named("sleeper", async move { handle.sleep(Picoseconds(1_001)).await });
    let error = sim.run_until_complete(&task).unwrap_err();
    assert!(matches!(error, SimError::SimulatedTimeLimit { .. }), "{error}");
    assert_eq!(sim.now(), Picoseconds(1_000));
}

fn forever(sim: &Simulation) -> isthmus_sim::JoinHandle<()> {
    let handle = sim.handle();
    sim.spawn(async move {
        loop {
            handle.sleep(Picoseconds(1)).await;
        }
    })
}

#[test]
fn a_run_beyond_its_wall_time_is_ended() {
    let limits = SimConfig { simulated_limit_ps: None, wall_limit_ms: Some(20), ..sim_config() };
    let sim = Simulation::new(limits);
    let task = forever(&sim);
    let error = sim.run_until_complete(&task).unwrap_err();
    assert!(matches!(error, SimError::WallTimeLimit { .. }), "{error}");
}

#[test]
fn the_one_who_watches_can_end_a_run() {
    let sim = unlimited();
    let task = forever(&sim);
    let mut reports = 0;
    sim.on_progress(Duration::from_millis(1), move |progress| {
        assert!(progress.now > Picoseconds::ZERO);
        reports += 1;
        if reports == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let error = sim.run_until_complete(&task).unwrap_err();
    assert!(matches!(error, SimError::Interrupted { .. }), "{error}");
}

#[test]
fn many_short_runs_are_watched_and_limited_as_one_long_run_is() {
    let limits = SimConfig { simulated_limit_ps: None, wall_limit_ms: Some(100), ..sim_config() };
    let sim = Simulation::new(limits);
    forever(&sim);
    let reports = Rc::new(Cell::new(0_u128));
    let counted = Rc::clone(&reports);
    sim.on_progress(Duration::from_millis(5), move |_| {
        counted.set(counted.get() + 1);
        ControlFlow::Continue(())
    });
    // Each far shorter than the time between two looks at the clock.
    let begin = std::time::Instant::now();
    let error = loop {
        if let Err(error) = sim.run_for(Picoseconds(10)) {
            break error;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "not limited");
    };
    assert!(matches!(error, SimError::WallTimeLimit { .. }), "{error}");
    let most = begin.elapsed().as_millis() / 5 + 1;
    assert!((1..=most).contains(&reports.get()), "{} reports", reports.get());
}

#[test]
fn progress_counts_the_transfers_that_programs_report() {
    let sim = unlimited();
    let handle = sim.handle();
    let task = sim.spawn(async move {
        loop {
            handle.count_transfers(2);
            handle.sleep(Picoseconds(1)).await;
        }
    });
    sim.on_progress(Duration::ZERO, |progress| {
        // One report a look, one look in 1024 steps; a step is a timer or a poll.
        assert!(progress.transfers >= 100 && progress.transfers % 2 == 0);
        ControlFlow::Break(())
    });
    let error: SimError = sim.run_until_complete::<()>(&task).unwrap_err();
    assert!(matches!(error, SimError::Interrupted { .. }), "{error}");
}

#[test]
fn a_device_that_never_answers_ends_the_wait_for_it() {
    let limits = SimConfig { simulated_limit_ps: None, skip_idle: false, ..sim_config() };
    let sim = Simulation::new(limits);
    // Clocks run, and nothing is ever sent.
    let _device = sim.add_model(EchoDevice::restless(), &device_config()).unwrap();
    let (_sender, receiver) = oneshot::<()>();
    let task = sim.spawn_named("host program", async move { receiver.recv().await });
    let error = sim.run_until_complete(&task).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, SimError::Silent { .. }), "{text}");
    assert!(text.contains("host program") && text.contains("5.0"), "{text}");
}

#[test]
fn dropping_a_simulation_drops_its_tasks_and_events() {
    let sim = unlimited();
    let witness = Rc::new(());
    let (in_task, in_event, handle) = (Rc::clone(&witness), Rc::clone(&witness), sim.handle());
    sim.spawn(async move {
        handle.sleep(Picoseconds::from_ms(1)).await;
        drop(in_task);
    });
    sim.at(Picoseconds::from_ms(2), move || drop(in_event));
    sim.run_for(Picoseconds(1)).unwrap();
    assert_eq!(Rc::strong_count(&witness), 3);
    drop(sim);
    assert_eq!(Rc::strong_count(&witness), 1);
}

#[test]
fn a_device_configuration_that_does_not_fit_is_refused_with_one_clear_line() {
    let line = |change: &dyn Fn(&mut isthmus_sim::DeviceConfig)| {
        let mut config = device_config();
        change(&mut config);
        let sim = unlimited();
        sim.add_model(EchoDevice::boxed(), &config).err().map(|error| error.to_string())
    };
    assert_eq!(line(&|_| ()), None);
    type Change<'a> = &'a dyn Fn(&mut isthmus_sim::DeviceConfig);
    let cases: [(Change<'_>, &str); 8] = [
        (&|c| c.clocks.truncate(1), "no frequency is configured for gmii_rx_clk_i"),
        (&|c| c.clocks[1].port = "rst_ni".into(), "clock rst_ni is not a clock port"),
        (&|c| c.clocks[0].frequency_hz = 0, "clock clk_i: 0 Hz with 0 ppm"),
        (&|c| c.reset_cycles = 0, "reset_cycles is 0"),
        (&|c| _ = c.cfg.remove("ip"), "cfg ip is missing"),
        (&|c| _ = c.cfg.insert("ipp".into(), 1), "the model has no port cfg_ipp_i"),
        (&|c| _ = c.cfg.insert("ip".into(), 1 << 32), "does not fit into 32 bits"),
        (
            &|c| {
                c.holds.push(isthmus_sim::kernel::HoldSpec {
                    port: "clk_i".into(),
                    value: 0,
                    from_ps: 0,
                    until_ps: None,
                });
            },
            "cannot hold clk_i",
        ),
    ];
    for (change, expected) in cases {
        let line = line(change).unwrap();
        assert!(line.starts_with("device fpga: ") && line.contains(expected), "{line}");
    }
}
