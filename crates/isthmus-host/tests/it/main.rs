// SPDX-License-Identifier: Apache-2.0
//! All integration tests in one program: linked once.

#[cfg(feature = "tokio")]
mod asynchronous;
mod block;
#[cfg(feature = "board")]
mod board;
mod bulk;
mod etherbone_client;
mod etherbone_codec;
mod fuzz;
mod lite_eth;
mod loss;
mod nic_peers;
mod pcie;
mod rdma;
mod rdma_group;
mod rdma_read;
mod sdb;
mod server;
mod sockets;
mod soft_network;
mod svm;
