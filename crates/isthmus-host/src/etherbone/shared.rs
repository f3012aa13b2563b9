// SPDX-License-Identifier: Apache-2.0

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use super::pending::Completion;
use super::statistics::Counters;
use super::{Client, ClientConfig, Cycle, Error, Format, Pending, Statistics};
use crate::transport::{AsyncTransport, Transport};

/// Cycles that are taken from the tasks before they are sent.
const TAKE: usize = 4096;
/// Cycles that wait for the driver, at most.
const QUEUE: usize = 65_536;

/// One device for many tasks and threads: a future for each cycle.
///
/// The handle can be cloned; all clones share one connection, and cycles that are submitted while
/// others are in flight leave together. A task of tokio does the work: [`open`](Self::open) must
/// be called where a runtime runs, the handle can be used anywhere, also from threads without a
/// runtime ([`block_on`](crate::transport::block_on)).
///
/// Cycles are executed in the order in which [`submit`](Self::submit) was called; one task that
/// submits before it awaits keeps many in flight. A cycle whose future is dropped is executed all the
/// same. With the last handle the connection closes, when all cycles have ended.
///
/// ```no_run
/// # use isthmus_host::etherbone::{AsyncClient, ClientConfig, Cycle, Error};
/// # async fn f() -> Result<(), Error> {
/// let device = AsyncClient::open("udp/192.168.10.2", ClientConfig::default()).await?;
/// let other = device.clone();
/// tokio::spawn(async move { other.write(0x100, 1).await });
/// let stamps: Vec<_> =
///     (0..90).map(|_| device.submit(Cycle::new().read(0x20_0018).read(0x20_001C))).collect();
/// for stamp in stamps {
///     println!("{:x?}", stamp.await?.reads);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AsyncClient {
    jobs: Sender<Job>,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    format: Format,
    session: bool,
    counters: Arc<Counters>,
    driver: Mutex<Option<JoinHandle<()>>>,
}

struct Job {
    cycle: Cycle,
    completion: Completion,
}

impl AsyncClient {
    /// Opens a device by its name ([`DeviceName`](crate::transport::DeviceName)) and probes it.
    pub async fn open(name: &str, config: ClientConfig) -> Result<Self, Error> {
        let transport = AsyncTransport::open(name).await?;
        Ok(Self::new(Client::connect(transport, config).await?))
    }

    /// Takes over a client, and spawns the task that drives it.
    pub fn new(client: Client<AsyncTransport>) -> Self {
        let (jobs, queue) = channel(QUEUE);
        let state = Arc::new(State {
            format: client.format(),
            session: client.has_session(),
            counters: client.counters(),
            driver: Mutex::new(None),
        });
        let driver = tokio::spawn(drive(client, queue));
        *lock(&state.driver) = Some(driver);
        Self { jobs, state }
    }

    /// Submits a cycle at once; the future has its end.
    ///
    /// At most 65536 submitted cycles wait to be sent; one more ends with [`Error::Busy`]. A
    /// program that submits and awaits smaller batches never reaches this limit.
    pub fn submit(&self, cycle: Cycle) -> Pending {
        let (completion, pending) = Completion::pending();
        if let Err(TrySendError::Full(mut job)) = self.jobs.try_send(Job { cycle, completion }) {
            job.completion.tell(Err(Error::Busy(QUEUE)));
        }
        // If the driver was dropped, the job's result reports it.
        pending
    }

    /// Reads one word in a separate checked cycle.
    pub async fn read(&self, address: u64) -> Result<u64, Error> {
        let reply = self.submit(Cycle::new().read(address)).await?;
        // A checked cycle with one read ends with exactly one value.
        Ok(reply.reads.first().copied().unwrap_or_default())
    }

    /// Writes one word in a separate checked cycle.
    pub async fn write(&self, address: u64, data: u64) -> Result<(), Error> {
        self.submit(Cycle::new().write(address, data)).await.map(drop)
    }

    /// The widths agreed on.
    pub fn format(&self) -> Format {
        self.state.format
    }

    /// True if the device opened a session ([`Client::has_session`]).
    pub fn has_session(&self) -> bool {
        self.state.session
    }

    /// The counters so far.
    pub fn statistics(&self) -> Statistics {
        self.state.counters.read()
    }

    /// Waits until the connection is closed, where this is the last handle.
    pub async fn close(self) {
        let Self { jobs, state } = self;
        drop(jobs);
        let driver = lock(&state.driver).take();
        if let Some(driver) = driver {
            // A panic of the driver has been printed by then.
            let _ = driver.await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Event {
    Job(Option<Job>),
    Arrival(Result<Option<usize>, Error>),
}

async fn drive<T: Transport>(mut client: Client<T>, mut jobs: Receiver<Job>) {
    let mut open = true;
    while open || client.outstanding() > 0 {
        let event = {
            let takes = open && client.has_room();
            let mut arrival = pin!(client.arrival());
            poll_fn(|context| {
                if takes && let Poll::Ready(job) = jobs.poll_recv(context) {
                    return Poll::Ready(Event::Job(job));
                }
                arrival.as_mut().poll(context).map(Event::Arrival)
            })
            .await
        };
        match event {
            Event::Job(None) => open = false,
            Event::Job(Some(job)) => {
                enqueue(&mut client, job);
                for _ in 1..TAKE {
                    if !client.has_room() {
                        break;
                    }
                    let Ok(job) = jobs.try_recv() else { break };
                    enqueue(&mut client, job);
                }
                if let Err(error) = client.flush().await {
                    client.fail_queue(&error);
                }
            }
            // The waiting call has been notified.
            Event::Arrival(arrival) => drop(client.take_arrival(arrival).await),
        }
    }
}

fn enqueue<T: Transport>(client: &mut Client<T>, job: Job) {
    if let Err((error, mut completion)) = client.enqueue_with(job.cycle, job.completion) {
        completion.tell(Err(error));
    }
}
