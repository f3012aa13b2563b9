// SPDX-License-Identifier: Apache-2.0
//! All integration tests in one program: linked once.

#[path = "pcie_support/copier.rs"]
mod copier;
mod cycles;
mod gpu;
mod host;
mod iommu;
mod kernel;
mod model;
mod pcie;
mod pcie_pins;
mod pcie_support;
mod pcix;
mod pcix_pins;
mod pcix_soon;
mod pcix_support;
mod support;
mod times;
mod traces;
mod usb;
mod vme;
mod world;
