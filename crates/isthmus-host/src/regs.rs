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
    /// Own subnet mask (ro).
    pub const NETMASK: u32 = 0x14;
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
    /// drop_broadcast (ro).
    pub const DROP_BROADCAST: u32 = 0xC8;
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

/// UDP-to-memory interface.
pub mod nanet {
    /// Identity (ro).
    pub const ID: u32 = 0x00;
    /// Version and limits (ro).
    pub const VERSION: u32 = 0x04;
    /// Control (rw).
    pub const CONTROL: u32 = 0x08;
    /// Interrupt gap (rw).
    pub const IRQ_GAP: u32 = 0x0C;
    /// Event queue, address low (rw).
    pub const QUEUE_LO: u32 = 0x10;
    /// Event queue, address high (rw).
    pub const QUEUE_HI: u32 = 0x14;
    /// Event queue, size (rw).
    pub const QUEUE_SIZE: u32 = 0x18;
    /// Event queue, taken (rw).
    pub const QUEUE_TAKEN: u32 = 0x1C;
    /// Events (ro).
    pub const EVENTS: u32 = 0x20;
    /// Write errors (ro).
    pub const WRITE_ERRORS: u32 = 0x24;
    /// Result (rw).
    pub const RESULT: u32 = 0x28;
    /// Buffer, key (rw).
    pub const BUFFER_KEY: u32 = 0x2C;
    /// Buffer, address low (rw).
    pub const BUFFER_LO: u32 = 0x30;
    /// Buffer, address high (rw).
    pub const BUFFER_HI: u32 = 0x34;
    /// Buffer, bytes (rw).
    pub const BUFFER_BYTES: u32 = 0x38;
    /// Buffer, number (rw).
    pub const BUFFER_SET: u32 = 0x3C;
    /// List (rw).
    pub const LIST0: u32 = 0x40;
    /// List (rw).
    pub const LIST1: u32 = 0x44;
    /// List (rw).
    pub const LIST2: u32 = 0x48;
    /// List (rw).
    pub const LIST3: u32 = 0x4C;
    /// List, flush (rw).
    pub const LIST_FLUSH0: u32 = 0x50;
    /// List, flush (rw).
    pub const LIST_FLUSH1: u32 = 0x54;
    /// List, flush (rw).
    pub const LIST_FLUSH2: u32 = 0x58;
    /// List, flush (rw).
    pub const LIST_FLUSH3: u32 = 0x5C;
    /// List, returned (rw).
    pub const LIST_RETURNED0: u32 = 0x60;
    /// List, returned (rw).
    pub const LIST_RETURNED1: u32 = 0x64;
    /// List, returned (rw).
    pub const LIST_RETURNED2: u32 = 0x68;
    /// List, returned (rw).
    pub const LIST_RETURNED3: u32 = 0x6C;
    /// List, filled (ro).
    pub const LIST_FILLED0: u32 = 0x70;
    /// List, filled (ro).
    pub const LIST_FILLED1: u32 = 0x74;
    /// List, filled (ro).
    pub const LIST_FILLED2: u32 = 0x78;
    /// List, filled (ro).
    pub const LIST_FILLED3: u32 = 0x7C;
    /// Frames (ro).
    pub const FRAMES0: u32 = 0x80;
    /// Frames (ro).
    pub const FRAMES1: u32 = 0x84;
    /// Frames (ro).
    pub const FRAMES2: u32 = 0x88;
    /// Frames (ro).
    pub const FRAMES3: u32 = 0x8C;
    /// Other frames, overflow (ro).
    pub const OVERFLOW0: u32 = 0x90;
    /// Other frames, overflow (ro).
    pub const OVERFLOW1: u32 = 0x94;
    /// Other frames, overflow (ro).
    pub const OVERFLOW2: u32 = 0x98;
    /// Other frames, overflow (ro).
    pub const OVERFLOW3: u32 = 0x9C;
    /// Dropped: list (ro).
    pub const NO_BUFFER0: u32 = 0xA0;
    /// Dropped: list (ro).
    pub const NO_BUFFER1: u32 = 0xA4;
    /// Dropped: list (ro).
    pub const NO_BUFFER2: u32 = 0xA8;
    /// Dropped: list (ro).
    pub const NO_BUFFER3: u32 = 0xAC;
    /// Dropped: datagram (ro).
    pub const BAD0: u32 = 0xB0;
    /// Dropped: datagram (ro).
    pub const BAD1: u32 = 0xB4;
    /// Dropped: datagram (ro).
    pub const BAD2: u32 = 0xB8;
    /// Dropped: datagram (ro).
    pub const BAD3: u32 = 0xBC;
    /// Dropped: event (ro).
    pub const NO_EVENT0: u32 = 0xC0;
    /// Dropped: event (ro).
    pub const NO_EVENT1: u32 = 0xC4;
    /// Dropped: event (ro).
    pub const NO_EVENT2: u32 = 0xC8;
    /// Dropped: event (ro).
    pub const NO_EVENT3: u32 = 0xCC;
    /// Delivered (ro).
    pub const DELIVERED0: u32 = 0xD0;
    /// Delivered (ro).
    pub const DELIVERED1: u32 = 0xD4;
    /// Delivered (ro).
    pub const DELIVERED2: u32 = 0xD8;
    /// Delivered (ro).
    pub const DELIVERED3: u32 = 0xDC;
    /// Region, page table low (rw).
    pub const REGION_LO: u32 = 0xE0;
    /// Region, page table high (rw).
    pub const REGION_HI: u32 = 0xE4;
    /// Region, pages (rw).
    pub const REGION_PAGES: u32 = 0xE8;
    /// Region, number (rw).
    pub const REGION_SET: u32 = 0xEC;
    /// Translations (ro).
    pub const TRANSLATED: u32 = 0xF0;
    /// Page table reads (ro).
    pub const WALKS: u32 = 0xF4;
    /// Writes refused (ro).
    pub const REFUSED: u32 = 0xF8;
}

/// UDP-to-memory interface, send queue.
pub mod nanet_send {
    /// Send memory, address low (wo).
    pub const SEND_LO: u32 = 0x00;
    /// Send memory, address high (wo).
    pub const SEND_HI: u32 = 0x04;
    /// Send memory, bytes (wo).
    pub const SEND_BYTES: u32 = 0x08;
    /// Peer, MAC low (wo).
    pub const PEER_MAC: u32 = 0x10;
    /// Peer, MAC high and port (wo).
    pub const PEER_PORT: u32 = 0x14;
    /// Peer, IPv4 (wo).
    pub const PEER_IP: u32 = 0x18;
    /// Peer, number (wo).
    pub const PEER_SET: u32 = 0x1C;
    /// Post (wo).
    pub const POST: u32 = 0x20;
    /// Sent (ro).
    pub const SENT: u32 = 0x24;
    /// Not sent (ro).
    pub const NOT_SENT: u32 = 0x28;
    /// Ask (wo).
    pub const ASK: u32 = 0x2C;
    /// Answer, MAC low (ro).
    pub const ANSWER_MAC: u32 = 0x30;
    /// Answer, MAC high (ro).
    pub const ANSWER: u32 = 0x34;
}

/// Torus node, put queue.
pub mod nanet_put {
    /// Put memory, address low (wo).
    pub const PUT_LO: u32 = 0x00;
    /// Put memory, address high (wo).
    pub const PUT_HI: u32 = 0x04;
    /// Put memory, bytes (wo).
    pub const PUT_BYTES: u32 = 0x08;
    /// Target, place low (wo).
    pub const TARGET_LO: u32 = 0x10;
    /// Target, place high, key (wo).
    pub const TARGET_HI: u32 = 0x14;
    /// Target, number (wo).
    pub const TARGET_SET: u32 = 0x18;
    /// Post, places (wo).
    pub const POST_PLACES: u32 = 0x20;
    /// Post (wo).
    pub const POST: u32 = 0x24;
    /// Puts done (ro).
    pub const DONE: u32 = 0x28;
    /// Posts without room (ro).
    pub const FULL: u32 = 0x2C;
    /// Packets (ro).
    pub const PACKETS: u32 = 0x30;
    /// Not announced (ro).
    pub const BAD: u32 = 0x34;
    /// Gets, region (wo).
    pub const LAND: u32 = 0x38;
    /// Gets of other nodes (wo).
    pub const SERVE: u32 = 0x3C;
    /// Gets served (ro).
    pub const SERVED: u32 = 0x40;
    /// Gets without room (ro).
    pub const GETS_LOST: u32 = 0x44;
    /// List (wo).
    pub const LIST_KEY: u32 = 0x48;
    /// Messages refused (ro).
    pub const LIST_REFUSED: u32 = 0x4C;
    /// Gets (ro).
    pub const ASKED: u32 = 0x50;
    /// Answers too late (ro).
    pub const LATE: u32 = 0x54;
    /// Shape of the torus (ro).
    pub const SHAPE: u32 = 0x58;
    /// Payload with a post (ro).
    pub const CARRIED: u32 = 0x5C;
}

/// Torus node, payload with a post.
pub mod nanet_inline {
    /// Post, place (wo).
    pub const PLACE: u32 = 0x00;
    /// Post (wo).
    pub const POST: u32 = 0x04;
    /// Payload (wo).
    pub const PAYLOAD0: u32 = 0x08;
    /// Payload (wo).
    pub const PAYLOAD1: u32 = 0x0C;
    /// Payload (wo).
    pub const PAYLOAD2: u32 = 0x10;
    /// Payload (wo).
    pub const PAYLOAD3: u32 = 0x14;
    /// Payload (wo).
    pub const PAYLOAD4: u32 = 0x18;
    /// Payload (wo).
    pub const PAYLOAD5: u32 = 0x1C;
    /// Payload (wo).
    pub const PAYLOAD6: u32 = 0x20;
    /// Payload (wo).
    pub const PAYLOAD7: u32 = 0x24;
    /// Payload (wo).
    pub const PAYLOAD8: u32 = 0x28;
    /// Payload (wo).
    pub const PAYLOAD9: u32 = 0x2C;
    /// Payload (wo).
    pub const PAYLOAD10: u32 = 0x30;
    /// Payload (wo).
    pub const PAYLOAD11: u32 = 0x34;
    /// Payload (wo).
    pub const PAYLOAD12: u32 = 0x38;
    /// Payload (wo).
    pub const PAYLOAD13: u32 = 0x3C;
    /// Payload (wo).
    pub const PAYLOAD14: u32 = 0x40;
    /// Payload (wo).
    pub const PAYLOAD15: u32 = 0x44;
}

/// UDP-to-memory interface, merging.
pub mod nanet_merge {
    /// Wait (rw).
    pub const WAIT: u32 = 0x00;
    /// Merged (ro).
    pub const MERGED: u32 = 0x04;
    /// Incomplete (ro).
    pub const INCOMPLETE: u32 = 0x08;
    /// Fragments, late (ro).
    pub const LATE0: u32 = 0x10;
    /// Fragments, late (ro).
    pub const LATE1: u32 = 0x14;
    /// Fragments, late (ro).
    pub const LATE2: u32 = 0x18;
    /// Fragments, late (ro).
    pub const LATE3: u32 = 0x1C;
    /// Fragments, missing (ro).
    pub const MISSING0: u32 = 0x20;
    /// Fragments, missing (ro).
    pub const MISSING1: u32 = 0x24;
    /// Fragments, missing (ro).
    pub const MISSING2: u32 = 0x28;
    /// Fragments, missing (ro).
    pub const MISSING3: u32 = 0x2C;
    /// Datagrams refused (ro).
    pub const REFUSED0: u32 = 0x30;
    /// Datagrams refused (ro).
    pub const REFUSED1: u32 = 0x34;
    /// Datagrams refused (ro).
    pub const REFUSED2: u32 = 0x38;
    /// Datagrams refused (ro).
    pub const REFUSED3: u32 = 0x3C;
}

/// UDP-to-memory interface, release.
pub mod nanet_release {
    /// Released (ro).
    pub const RELEASED: u32 = 0x00;
    /// Late (ro).
    pub const LATE: u32 = 0x04;
    /// Early (ro).
    pub const EARLY: u32 = 0x08;
    /// Lost (ro).
    pub const LOST: u32 = 0x0C;
}

/// RDMA network interface: words.
pub mod rdma_words {
    use crate::field::Field;

    /// Descriptor, beat 0.
    pub mod descriptor_source {
        use super::Field;
        /// Bus address of the source, a multiple of 8.
        pub const ADDRESS: Field = Field { low: 0, bits: 64 };
    }

    /// Descriptor, beat 1.
    pub mod descriptor {
        use super::Field;
        /// Destination address, a multiple of 8; its low half if the descriptor is extended.
        pub const ADDRESS: Field = Field { low: 0, bits: 32 };
        /// Number of beats, 1..512.
        pub const SIZE: Field = Field { low: 32, bits: 10 };
        /// Destination host. It must be the one of the queue, else the descriptor is refused.
        pub const DST: Field = Field { low: 42, bits: 7 };
        /// Start this slot and all slots before it.
        pub const START: Field = Field { low: 49, bits: 1 };
        /// Notify the sender when the data has left.
        pub const LOCAL_NOTIFY: Field = Field { low: 50, bits: 1 };
        /// Notify the remote program.
        pub const NOTIFY: Field = Field { low: 51, bits: 1 };
        /// Interrupt the remote host.
        pub const IRQ: Field = Field { low: 52, bits: 1 };
        /// The remote end acknowledges when all packets up to this one are in its memory.
        pub const COMPLETION: Field = Field { low: 53, bits: 1 };
        /// The next slot belongs to this descriptor.
        pub const EXTENDED: Field = Field { low: 54, bits: 1 };
    }

    /// Extended descriptor, beat 2.
    pub mod descriptor_key {
        use super::Field;
        /// Destination address, high half.
        pub const ADDRESS: Field = Field { low: 0, bits: 32 };
        /// Key of the region: see Key.
        pub const KEY: Field = Field { low: 32, bits: 32 };
    }

    /// Extended descriptor, beat 3.
    pub mod descriptor_immediate {
        use super::Field;
        /// Delivered with the notification.
        pub const IMMEDIATE: Field = Field { low: 0, bits: 32 };
    }

    /// Message header.
    pub mod message {
        use super::Field;
        /// Number of beats that follow, 1..64.
        pub const BEATS: Field = Field { low: 0, bits: 7 };
        /// Remote queue; 0 for a write.
        pub const QID: Field = Field { low: 8, bits: 8 };
        /// Notify the sender when the data has left.
        pub const LOCAL_NOTIFY: Field = Field { low: 16, bits: 1 };
        /// Notify the remote program.
        pub const NOTIFY: Field = Field { low: 17, bits: 1 };
        /// Interrupt the remote host.
        pub const IRQ: Field = Field { low: 18, bits: 1 };
        /// The remote end acknowledges when all packets up to this one are in its memory.
        pub const COMPLETION: Field = Field { low: 19, bits: 1 };
        /// 1: an inline write. The beats are a destination address, an inline write key if extended, and one or more beats of data.
        pub const WRITE: Field = Field { low: 20, bits: 1 };
        /// For an inline write only: a key follows the address.
        pub const EXTENDED: Field = Field { low: 21, bits: 1 };
        /// Delivered to the reader of the message; ignored for a write.
        pub const IMMEDIATE: Field = Field { low: 32, bits: 32 };
    }

    /// Inline write key.
    pub mod inline_key {
        use super::Field;
        /// Key of the region: see Key.
        pub const KEY: Field = Field { low: 0, bits: 32 };
        /// Delivered with the notification.
        pub const IMMEDIATE: Field = Field { low: 32, bits: 32 };
    }

    /// Key.
    pub mod key {
        use super::Field;
        /// Index in the remote host's region table.
        pub const REGION: Field = Field { low: 0, bits: 8 };
        /// Must equal the nonce of that entry.
        pub const NONCE: Field = Field { low: 8, bits: 24 };
    }

    /// Region, beat 0.
    pub mod region_base {
        use super::Field;
        /// Address of the first byte, a multiple of 8.
        pub const ADDRESS: Field = Field { low: 0, bits: 64 };
    }

    /// Region, beat 1.
    pub mod region_limit {
        use super::Field;
        /// Address of the first byte after the region, a multiple of 8.
        pub const ADDRESS: Field = Field { low: 0, bits: 64 };
    }

    /// Region, beat 2.
    pub mod region {
        use super::Field;
        /// 1: the entry is in use.
        pub const VALID: Field = Field { low: 0, bits: 1 };
        /// Hosts that may write, one bit per host.
        pub const SOURCES: Field = Field { low: 1, bits: 8 };
        /// 1: notifications go to a queue.
        pub const TO_QUEUE: Field = Field { low: 9, bits: 1 };
        /// Number of that queue.
        pub const QID: Field = Field { low: 10, bits: 8 };
        /// Nonce that a key must repeat.
        pub const NONCE: Field = Field { low: 32, bits: 24 };
    }

    /// Queue, beat 0.
    pub mod queue_base {
        use super::Field;
        /// Address of the ring, a multiple of 8.
        pub const ADDRESS: Field = Field { low: 0, bits: 64 };
    }

    /// Queue, beat 1.
    pub mod queue {
        use super::Field;
        /// Beat index of the next message; advanced by the interface.
        pub const HEAD: Field = Field { low: 0, bits: 17 };
        /// Number of beats in the ring.
        pub const WRAP: Field = Field { low: 17, bits: 17 };
        /// 0: packed; 1 to 4: slots of 8, 16, 32 or 64 beats that begin with a frame word.
        pub const SLOT: Field = Field { low: 34, bits: 3 };
        /// Hosts that may enqueue, one bit per host.
        pub const SOURCES: Field = Field { low: 37, bits: 8 };
        /// 1: the queue accepts messages.
        pub const VALID: Field = Field { low: 45, bits: 1 };
    }

    /// Queue, tail.
    pub mod queue_tail {
        use super::Field;
        /// Beat index of the consumer's next read.
        pub const TAIL: Field = Field { low: 0, bits: 17 };
    }

    /// Frame word.
    pub mod frame {
        use super::Field;
        /// 1 on the first pass through the ring, 0 on the second, and so on.
        pub const PHASE: Field = Field { low: 0, bits: 1 };
        /// Beats of the body; 0: the body could not be written, skip the slot. For a notification: 1 if a transfer of the same session failed since the last one.
        pub const BEATS: Field = Field { low: 1, bits: 7 };
        /// Source host.
        pub const SRC: Field = Field { low: 8, bits: 7 };
        /// 1: a notification, not a message.
        pub const NOTIFICATION: Field = Field { low: 15, bits: 1 };
        /// Number of messages in this queue so far, this one included.
        pub const COUNT: Field = Field { low: 16, bits: 16 };
        /// Immediate data from the sender.
        pub const IMMEDIATE: Field = Field { low: 32, bits: 32 };
    }

    /// Local notification.
    pub mod local {
        use super::Field;
        /// Slots (for messages: beats) released since enable.
        pub const COUNT: Field = Field { low: 0, bits: 16 };
    }

    /// Remote notification.
    pub mod notification {
        use super::Field;
        /// Address of the transfer's last beat.
        pub const ADDRESS: Field = Field { low: 0, bits: 48 };
        /// Number of notifications since the address of this word was set, this one included.
        pub const COUNT: Field = Field { low: 48, bits: 15 };
        /// 1: a transfer of the same session failed since the last notification.
        pub const FAILED: Field = Field { low: 63, bits: 1 };
    }

    /// Completion.
    pub mod completion {
        use super::Field;
        /// Packets below this number are in the remote host's memory, or were refused.
        pub const ACKNOWLEDGED: Field = Field { low: 0, bits: 16 };
        /// 1: the flow is open.
        pub const OPEN: Field = Field { low: 16, bits: 1 };
        /// 1: the remote end has refusals that are not yet counted here.
        pub const PENDING: Field = Field { low: 17, bits: 1 };
        /// Number of sessions of the flow that ended since enable, modulo 64; their transfers in flight may be lost.
        pub const ENDED: Field = Field { low: 18, bits: 6 };
        /// Session number of the flow.
        pub const SESSION: Field = Field { low: 24, bits: 8 };
        /// Refusals so far.
        pub const REFUSALS: Field = Field { low: 32, bits: 32 };
    }

    /// Error record, beat 0.
    pub mod record {
        use super::Field;
        /// Reason.
        pub const CODE: Field = Field { low: 0, bits: 8 };
        /// Slot of the descriptor, or number of the message.
        pub const TAG: Field = Field { low: 8, bits: 7 };
        /// 1: tag is the number of a message.
        pub const MESSAGE: Field = Field { low: 15, bits: 1 };
        /// The other host.
        pub const HOST: Field = Field { low: 16, bits: 7 };
        /// 1: this host refused or lost one of its packets; 0: it refused one of ours.
        pub const OURS: Field = Field { low: 23, bits: 1 };
        /// Further packets without a record of their own, saturating at 4095. With code session: all packets that the session had not acknowledged, or had refusals to report for.
        pub const MORE: Field = Field { low: 24, bits: 12 };
        /// As in the frame word.
        pub const PHASE: Field = Field { low: 63, bits: 1 };
    }

    /// Error record, beat 1.
    pub mod record_address {
        use super::Field;
        /// Destination address, where there is one; undefined for a descriptor in benchmark mode.
        pub const ADDRESS: Field = Field { low: 0, bits: 64 };
    }

    /// Why something was not done.
    pub mod code {
        /// No packet itemised: only the field more is valid.
        pub const NONE: u8 = 0;
        /// The descriptor is not legal.
        pub const DESCRIPTOR: u8 = 1;
        /// The read of the source failed on the local bus.
        pub const READ: u8 = 2;
        /// No such region, wrong key, or source not allowed.
        pub const KEY: u8 = 3;
        /// Outside the region's bounds, or longer than a slot.
        pub const BOUNDS: u8 = 4;
        /// No such queue, or source not allowed.
        pub const QUEUE: u8 = 5;
        /// Queue full.
        pub const FULL: u8 = 6;
        /// The write failed on the remote host's bus.
        pub const WRITE: u8 = 7;
        /// The packet was lost on the network.
        pub const LOST: u8 = 8;
        /// The session is not open: the remote end was reset.
        pub const SESSION: u8 = 9;
    }
}
