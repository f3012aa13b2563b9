// SPDX-License-Identifier: Apache-2.0
//! How a measurement of a scenario is called.

use super::{PostingName, RdmaScenario, RdmaTest, RdmaWorkload};

impl RdmaScenario {
    /// How transfers are made.
    pub(in crate::rdma) fn method(&self) -> String {
        let inline = if self.is_inline() { "-inline" } else { "" };
        format!("{}{inline}", self.workload.test.name())
    }

    /// The end of the measurement's id.
    pub(in crate::rdma) fn name(&self) -> String {
        let RdmaWorkload {
            hosts, size_bytes, posting, combined, both_ways, post_list, test, ..
        } = &self.workload;
        let mut name = match test.operation() {
            Some(operation) => {
                let arrivals = match self.arrivals() {
                    Ok(arrivals) if !test.is_devices() => arrivals.suffix(),
                    _ => String::new(),
                };
                let links = self.interface.links;
                let layout = match (hosts, links) {
                    (2, 1) => String::new(),
                    _ => format!("-{hosts}x{links}"),
                };
                format!("{operation}{size_bytes}{arrivals}{layout}")
            }
            None => format!("{hosts}x{}-{size_bytes}", self.interface.links),
        };
        if !self.is_inline() && matches!(test, RdmaTest::WriteBw | RdmaTest::OneWay) {
            name += match posting {
                PostingName::V1 => "-v1",
                PostingName::V2 => "-v2",
                PostingName::V3(_) => "-v3",
            };
        }
        if !combined {
            name += "-uncombined";
        }
        if *both_ways {
            name += "-both-ways";
        }
        if *post_list > 1 {
            name += &format!("-list-{post_list}");
        }
        name
    }
}
