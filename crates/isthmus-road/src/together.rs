// SPDX-License-Identifier: Apache-2.0
//! Programs that run side by side.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// A program.
pub(crate) type TaskOf<T, E> = Pin<Box<dyn Future<Output = Result<T, E>>>>;

/// The first failure ends the wait.
pub(crate) async fn try_all<T, E>(tasks: Vec<TaskOf<T, E>>) -> Result<Vec<T>, E> {
    let mut tasks: Vec<_> = tasks.into_iter().map(|task| (Some(task), None)).collect();
    poll_fn(move |context| {
        for (task, result) in &mut tasks {
            let Some(running) = task else { continue };
            if let Poll::Ready(done) = running.as_mut().poll(context) {
                *task = None;
                match done {
                    Ok(done) => *result = Some(done),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        }
        if tasks.iter().any(|(task, _)| task.is_some()) {
            return Poll::Pending;
        }
        Poll::Ready(Ok(tasks.iter_mut().filter_map(|(_, result)| result.take()).collect()))
    })
    .await
}
