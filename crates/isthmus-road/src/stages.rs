// SPDX-License-Identifier: Apache-2.0
//! From marks along a transfer's way to contiguous stages that add up.

use isthmus_sim::Picoseconds;

use crate::error::RoadError;
use crate::measurement::Stage;

/// The way of one transfer, as a list of named marks in the order of the way.
///
/// A stage lies between one mark and the next, so that the stages of a way add up to its length by
/// construction; [`finish`](Self::finish) asserts that it covers the transfer from end to end.
#[derive(Debug)]
pub(crate) struct Way {
    begin: Picoseconds,
    at: Picoseconds,
    stages: Vec<Stage>,
}

impl Way {
    pub(crate) fn new(begin: Picoseconds) -> Self {
        Self { begin, at: begin, stages: Vec::new() }
    }

    /// The stage `name` ends at `time`. A mark before its predecessor is an error; a stage of zero
    /// length is omitted.
    pub(crate) fn until(
        &mut self,
        place: &str,
        name: &str,
        time: Picoseconds,
    ) -> Result<(), RoadError> {
        if time < self.at {
            return Err(RoadError::Inconsistent(format!(
                "stage {name:?} ends at {time}, before it begins at {}",
                self.at
            )));
        }
        let ps = (time - self.at).0;
        self.at = time;
        match self.stages.last_mut() {
            _ if ps == 0 => {}
            Some(last) if last.name == name && last.place == place => last.ps += ps,
            _ => self.stages.push(Stage { name: name.to_owned(), place: place.to_owned(), ps }),
        }
        Ok(())
    }

    /// The next stage must begin here: nothing may be left unexplained before it.
    pub(crate) fn joins(&self, time: Picoseconds, next: &str) -> Result<(), RoadError> {
        if time == self.at {
            return Ok(());
        }
        Err(RoadError::Inconsistent(format!(
            "stage {next:?} begins at {time}, the one before it ended at {}",
            self.at
        )))
    }

    /// The stages, which must end at `end`.
    pub(crate) fn finish(self, end: Picoseconds) -> Result<Vec<Stage>, RoadError> {
        let total: u64 = self.stages.iter().map(|stage| stage.ps).sum();
        if self.begin + Picoseconds(total) != end {
            return Err(RoadError::Inconsistent(format!(
                "the stages add up to {}, the transfer took {}",
                Picoseconds(total),
                end.saturating_sub(self.begin)
            )));
        }
        Ok(self.stages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_add_up_or_are_refused() {
        let mut way = Way::new(Picoseconds(100));
        way.until("host", "build", Picoseconds(150)).unwrap();
        way.until("host", "build", Picoseconds(160)).unwrap();
        way.until("host", "nothing", Picoseconds(160)).unwrap();
        way.until("wire", "frame", Picoseconds(300)).unwrap();
        assert!(way.until("fpga", "early", Picoseconds(299)).is_err());
        assert!(way.joins(Picoseconds(300), "next").is_ok());
        assert!(way.joins(Picoseconds(301), "next").is_err());
        let stages = way.finish(Picoseconds(300)).unwrap();
        assert_eq!(
            stages.iter().map(|s| (s.name.as_str(), s.ps)).collect::<Vec<_>>(),
            [("build", 60), ("frame", 140)]
        );
        let short = Way::new(Picoseconds(0));
        assert!(short.finish(Picoseconds(1)).is_err());
    }
}
