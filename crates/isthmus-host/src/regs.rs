// SPDX-License-Identifier: Apache-2.0
// Generated from rtl/regs/*.rdl by python/isthmus/regs.py: change those, not this.
//! Register offsets in bytes from the start of each map.

/// ECA control (time).
pub mod eca {
    /// Channels (ro).
    pub const CHANNELS: u32 = 0x00;
    /// Latency (ro).
    pub const LATENCY: u32 = 0x0C;
    /// Time, high word (ro).
    pub const TIME_HI_GET: u32 = 0x18;
    /// Time, low word (ro).
    pub const TIME_LO_GET: u32 = 0x1C;
}

/// Timestamp latch unit (TLU).
pub mod tlu {
    /// FIFO ready (ro).
    pub const FIFO_READY: u32 = 0x00;
    /// FIFO clear (wo).
    pub const FIFO_CLEAR: u32 = 0x04;
    /// Test (wo).
    pub const TEST: u32 = 0x08;
    /// Arm status (ro).
    pub const ARMSTAT: u32 = 0x0C;
    /// Arm (wo).
    pub const ARMSET: u32 = 0x10;
    /// Disarm (wo).
    pub const ARMCLR: u32 = 0x14;
    /// Edge status (ro).
    pub const EDGESTAT: u32 = 0x18;
    /// Rising edge (wo).
    pub const EDGEPOS: u32 = 0x1C;
    /// Falling edge (wo).
    pub const EDGENEG: u32 = 0x20;
    /// Interrupt enable (rw).
    pub const IRQ_ENABLE: u32 = 0x24;
    /// Interrupt mask (ro).
    pub const IRQ_MASKSTAT: u32 = 0x28;
    /// Interrupt mask set (wo).
    pub const IRQ_MASKSET: u32 = 0x2C;
    /// Interrupt mask clear (wo).
    pub const IRQ_MASKCLR: u32 = 0x30;
    /// Channels (ro).
    pub const CHNS_TOTAL: u32 = 0x34;
    /// FIFO size (ro).
    pub const FIFOSIZE: u32 = 0x38;
    /// Current time, high word (ro).
    pub const ATSHI: u32 = 0x50;
    /// Current time, low word (ro).
    pub const ATSLO: u32 = 0x54;
    /// Channel select (rw).
    pub const CH_SELECT: u32 = 0x58;
    /// Pop (wo).
    pub const FIFO_POP: u32 = 0x5C;
    /// Channel test (wo).
    pub const CH_TEST: u32 = 0x60;
    /// Fill count (ro).
    pub const FIFO_CNT: u32 = 0x64;
    /// Timestamp, high word (ro).
    pub const FTSHI: u32 = 0x68;
    /// Timestamp, low word (ro).
    pub const FTSLO: u32 = 0x6C;
    /// Timestamp, sub-cycle (ro).
    pub const FTSSUB: u32 = 0x70;
}

/// Gigabit Ethernet control (gige_ctrl).
pub mod gige_ctrl {
    /// Protocol (ro).
    pub const PROTOCOL: u32 = 0x00;
    /// Own MAC, high part (ro).
    pub const MAC_HI: u32 = 0x04;
    /// Own MAC, low part (ro).
    pub const MAC_LO: u32 = 0x08;
    /// Own IPv4 address (ro).
    pub const IPV4: u32 = 0x0C;
    /// Own UDP port (ro).
    pub const UDP_PORT: u32 = 0x10;
    /// Enable (rw).
    pub const ALLOW0_CTRL: u32 = 0x40;
    /// Address (rw).
    pub const ALLOW0_IP: u32 = 0x44;
    /// Mask (rw).
    pub const ALLOW0_MASK: u32 = 0x48;
    /// Enable (rw).
    pub const ALLOW1_CTRL: u32 = 0x50;
    /// Address (rw).
    pub const ALLOW1_IP: u32 = 0x54;
    /// Mask (rw).
    pub const ALLOW1_MASK: u32 = 0x58;
    /// Enable (rw).
    pub const ALLOW2_CTRL: u32 = 0x60;
    /// Address (rw).
    pub const ALLOW2_IP: u32 = 0x64;
    /// Mask (rw).
    pub const ALLOW2_MASK: u32 = 0x68;
    /// Enable (rw).
    pub const ALLOW3_CTRL: u32 = 0x70;
    /// Address (rw).
    pub const ALLOW3_IP: u32 = 0x74;
    /// Mask (rw).
    pub const ALLOW3_MASK: u32 = 0x78;
    /// rx_good (ro).
    pub const RX_GOOD: u32 = 0x80;
    /// drop_fcs (ro).
    pub const DROP_FCS: u32 = 0x84;
    /// drop_size (ro).
    pub const DROP_SIZE: u32 = 0x88;
    /// drop_mac (ro).
    pub const DROP_MAC: u32 = 0x8C;
    /// drop_ip (ro).
    pub const DROP_IP: u32 = 0x90;
    /// drop_udp (ro).
    pub const DROP_UDP: u32 = 0x94;
    /// drop_port (ro).
    pub const DROP_PORT: u32 = 0x98;
    /// drop_denied (ro).
    pub const DROP_DENIED: u32 = 0x9C;
    /// drop_refused (ro).
    pub const DROP_REFUSED: u32 = 0xA0;
    /// drop_align (ro).
    pub const DROP_ALIGN: u32 = 0xA4;
    /// drop_overflow (ro).
    pub const DROP_OVERFLOW: u32 = 0xA8;
    /// drop_malformed (ro).
    pub const DROP_MALFORMED: u32 = 0xAC;
    /// arp_replies (ro).
    pub const ARP_REPLIES: u32 = 0xB0;
    /// icmp_replies (ro).
    pub const ICMP_REPLIES: u32 = 0xB4;
    /// tx_frames (ro).
    pub const TX_FRAMES: u32 = 0xB8;
    /// eb_records (ro).
    pub const EB_RECORDS: u32 = 0xBC;
    /// eb_bus_errors (ro).
    pub const EB_BUS_ERRORS: u32 = 0xC0;
    /// eb_timeouts (ro).
    pub const EB_TIMEOUTS: u32 = 0xC4;
}

/// PCIe stream DMA (pcie_dma).
pub mod pcie_dma {
    /// Identity (ro).
    pub const ID: u32 = 0x00;
    /// Version (ro).
    pub const VERSION: u32 = 0x04;
    /// Limits (ro).
    pub const LIMITS: u32 = 0x08;
    /// Control (rw).
    pub const CONTROL: u32 = 0x0C;
    /// State (ro).
    pub const STATE: u32 = 0x10;
    /// Errors (rw).
    pub const ERRORS: u32 = 0x14;
    /// Next push (ro).
    pub const PUSH_NEXT: u32 = 0x18;
    /// Request ring, address low (rw).
    pub const REQ_BASE_LO: u32 = 0x20;
    /// Request ring, address high (rw).
    pub const REQ_BASE_HI: u32 = 0x24;
    /// Request ring, size (rw).
    pub const REQ_SIZE: u32 = 0x28;
    /// Request tail (wo).
    pub const REQ_TAIL: u32 = 0x2C;
    /// Request head (ro).
    pub const REQ_HEAD: u32 = 0x30;
    /// Reply ring, address low (rw).
    pub const REP_BASE_LO: u32 = 0x40;
    /// Reply ring, address high (rw).
    pub const REP_BASE_HI: u32 = 0x44;
    /// Reply ring, size (rw).
    pub const REP_SIZE: u32 = 0x48;
    /// Replies consumed (wo).
    pub const REP_CONSUMED: u32 = 0x4C;
    /// Reply tail (ro).
    pub const REP_TAIL: u32 = 0x50;
    /// Status word, address low (rw).
    pub const STATUS_LO: u32 = 0x60;
    /// Status word, address high (rw).
    pub const STATUS_HI: u32 = 0x64;
    /// ring_words (ro).
    pub const RING_WORDS: u32 = 0x80;
    /// push_words (ro).
    pub const PUSH_WORDS: u32 = 0x84;
    /// reply_words (ro).
    pub const REPLY_WORDS: u32 = 0x88;
    /// read_bursts (ro).
    pub const READ_BURSTS: u32 = 0x8C;
    /// write_bursts (ro).
    pub const WRITE_BURSTS: u32 = 0x90;
    /// status_writes (ro).
    pub const STATUS_WRITES: u32 = 0x94;
    /// push_refused (ro).
    pub const PUSH_REFUSED: u32 = 0x98;
    /// axi_errors (ro).
    pub const AXI_ERRORS: u32 = 0x9C;
    /// eb_records (ro).
    pub const EB_RECORDS: u32 = 0xA0;
    /// eb_bus_errors (ro).
    pub const EB_BUS_ERRORS: u32 = 0xA4;
    /// eb_timeouts (ro).
    pub const EB_TIMEOUTS: u32 = 0xA8;
    /// eb_malformed (ro).
    pub const EB_MALFORMED: u32 = 0xAC;
}

/// PCIe window onto the Wishbone (pcie_mmio).
pub mod pcie_mmio {
    /// Cycle (rw).
    pub const CYCLE: u32 = 0x00;
    /// Errors, high word (ro).
    pub const ERROR_HI: u32 = 0x08;
    /// Errors, low word (ro).
    pub const ERROR_LO: u32 = 0x0C;
    /// Window (rw).
    pub const WINDOW: u32 = 0x14;
    /// SDB table (ro).
    pub const SDB: u32 = 0x1C;
}

/// RDMA network interface.
pub mod rdma {
    /// Identity (ro).
    pub const ID: u32 = 0x00;
    /// Version (ro).
    pub const VERSION: u32 = 0x04;
    /// Limits (ro).
    pub const LIMITS: u32 = 0x08;
    /// Control (rw).
    pub const CONTROL: u32 = 0x0C;
    /// State (ro).
    pub const STATE: u32 = 0x10;
    /// Host (rw).
    pub const HOST: u32 = 0x14;
    /// Probe time (rw).
    pub const PROBE_CYCLES: u32 = 0x18;
    /// Lost time (rw).
    pub const LOST_CYCLES: u32 = 0x1C;
    /// Error ring, address low (rw).
    pub const ERR_BASE_LO: u32 = 0x20;
    /// Error ring, address high (rw).
    pub const ERR_BASE_HI: u32 = 0x24;
    /// Error ring, size (rw).
    pub const ERR_SIZE: u32 = 0x28;
    /// Error ring, consumed (rw).
    pub const ERR_TAIL: u32 = 0x2C;
    /// Interrupts (rw).
    pub const IRQ: u32 = 0x30;
    /// Interrupt mask (rw).
    pub const IRQ_MASK: u32 = 0x34;
    /// granted (ro).
    pub const GRANTED: u32 = 0x40;
    /// packets_sent (ro).
    pub const PACKETS_SENT: u32 = 0x44;
    /// packets_taken (ro).
    pub const PACKETS_TAKEN: u32 = 0x48;
    /// packets_refused (ro).
    pub const PACKETS_REFUSED: u32 = 0x4C;
    /// packets_known (ro).
    pub const PACKETS_KNOWN: u32 = 0x50;
    /// packets_stray (ro).
    pub const PACKETS_STRAY: u32 = 0x54;
    /// packets_retired (ro).
    pub const PACKETS_RETIRED: u32 = 0x58;
    /// packets_lost (ro).
    pub const PACKETS_LOST: u32 = 0x5C;
    /// sessions_opened (ro).
    pub const SESSIONS_OPENED: u32 = 0x60;
    /// sessions_failed (ro).
    pub const SESSIONS_FAILED: u32 = 0x64;
    /// probes (ro).
    pub const PROBES: u32 = 0x68;
    /// posts_bad (ro).
    pub const POSTS_BAD: u32 = 0x6C;
    /// write_errors (ro).
    pub const WRITE_ERRORS: u32 = 0x70;
    /// records_lost (ro).
    pub const RECORDS_LOST: u32 = 0x74;
    /// link_bad (ro).
    pub const LINK_BAD_01: u32 = 0x80;
    /// link_bad (ro).
    pub const LINK_BAD_23: u32 = 0x84;
    /// link_invalid (ro).
    pub const LINK_INVALID_01: u32 = 0x88;
    /// link_invalid (ro).
    pub const LINK_INVALID_23: u32 = 0x8C;
}
