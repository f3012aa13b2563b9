// SPDX-License-Identifier: Apache-2.0
//! A program gets from the far program's put memory, which takes no part in it: in a closed loop or at a rate.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::nic::Got;

use super::ends::{End, One, Shared, Usage, compare, failed, payload, random, wrong};
use super::world::Sent;
use crate::error::RoadError;

/// Asks for `total`. A get that is due is asked for as soon as its program is free and fewer than the window are
/// unanswered; until then the program takes answers.
pub(super) async fn gets(
    mut end: End,
    far: End,
    total: usize,
    shared: Rc<Shared>,
    carried: Box<dyn Fn() -> Sent>,
) -> Result<(), RoadError> {
    let (mut random, shape) = (random(&end.sim, "get"), end.shape);
    let mut expected = VecDeque::new();
    let mut starts = end.starts();
    let mut due = starts.as_mut().and_then(Iterator::next);
    let (mut asked, mut done) = (0, 0);
    while done < total {
        let room = asked < total && asked - done < shape.window;
        if room && due.is_none_or(|due| due <= end.sim.now()) {
            let payload = payload(&mut random, shape.bytes);
            far.fill(asked, &payload)?;
            expected.push_back(payload);
            let (now, slot) = (end.sim.now(), shape.slot(asked));
            let usage = [end.usage(), Usage::default()];
            let one = One { begun: due.unwrap_or(now), posted: now, usage, ..One::default() };
            shared.ones.borrow_mut().push(one);
            end.nic.get(slot, shape.bytes, 0, slot).await.map_err(failed)?;
            asked += 1;
            due = starts.as_mut().and_then(Iterator::next);
            continue;
        }
        let next = due.filter(|_| room).map(|due| Duration::from_nanos(due.0 / 1_000));
        let before = end.usage();
        let found = end.nic.get_done(next.unwrap_or(end.deadline())).await.map_err(failed)?;
        end.resume(before).await;
        match found {
            Some(Got { sequence, offset, refused: None, .. })
                if sequence as usize == done && offset == shape.slot(done) => {}
            None if next.is_some() => continue,
            other => return Err(wrong(format!("get {done} expected: {other:?}"))),
        }
        if let Some(one) = shared.ones.borrow_mut().get_mut(done) {
            let now = end.sim.now();
            (one.came, one.seen, one.carried) = (now, now, carried());
        }
        let expected: Vec<u8> = expected.pop_front().unwrap_or_default();
        compare((&end.data, shape), done, &expected, &shared).await?;
        end.sim.count_transfers(1);
        done += 1;
    }
    let statistics = end.nic.put_statistics().await.map_err(failed)?;
    if !statistics.is_whole() {
        return Err(wrong(format!("not whole: {statistics}")));
    }
    Ok(())
}
