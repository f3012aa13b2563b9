// SPDX-License-Identifier: Apache-2.0
//! Bytes written out by hand from the format, both ways.

use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ascii"), 16).expect("hex"))
        .collect()
}

#[test]
fn checked_read_is_28_bytes() {
    // Header; read record; status record: the bytes written out by hand from the format.
    let message = Message::Data {
        no_reads: false,
        format: Format::W32,
        records: vec![
            Record {
                flags: Flags(0xA0),
                byte_enable: 0xF,
                return_base: 0x8002,
                reads: vec![0x0020_0018],
                ..Record::default()
            },
            Record {
                flags: Flags(0xE8),
                byte_enable: 0xF,
                return_base: 0x8003,
                reads: vec![4],
                ..Record::default()
            },
        ],
    };
    let mut out = Vec::new();
    OhwrCodec.encode(&message, &mut out).expect("encodes");
    let expected = hex("4e6f1044 a00f0001 00008002 00200018 e80f0001 00008003 00000004");
    assert_eq!(out, expected);
    assert_eq!(OhwrCodec.decode(&out), Ok(message));
}

#[test]
fn probe_bytes() {
    let mut out = Vec::new();
    let probe = Message::Probe { widths: Widths::ANY, id: 0x0102_0304 };
    OhwrCodec.encode(&probe, &mut out).expect("encodes");
    assert_eq!(out, hex("4e6f11ff 01020304"));
    let reply = Message::ProbeReply { widths: Widths::W32, id: 0x0102_0304 };
    assert_eq!(OhwrCodec.decode(&hex("4e6f1644 01020304")), Ok(reply.clone()));
    // Gateware that leaves NR out is understood as well.
    assert_eq!(OhwrCodec.decode(&hex("4e6f1244 01020304")), Ok(reply));
}

#[test]
fn malformed() {
    let cases = [
        ("", "header at byte 0"),
        ("4e6f10", "header at byte 0"),
        ("4e6e1044", "magic 0x4e6e"),
        ("4e6f2044", "version 2"),
        ("4e6f104c", "widths 0x4c"),
        ("4e6f1040", "widths 0x40"),
        ("4e6f1088", "header at byte 0"),
        ("4e6f1144", "probe of 4 bytes"),
        ("4e6f1144 00000000 00", "probe of 9 bytes"),
        ("4e6f1044 a00f", "record at byte 4"),
        ("4e6f1044 a00f0002 00008000 00000000", "record at byte 4"),
    ];
    for (bytes, expected) in cases {
        let error = OhwrCodec.decode(&hex(bytes)).expect_err(bytes).to_string();
        assert!(error.contains(expected), "{bytes}: {error}");
    }
}

#[test]
fn limits_of_fields() {
    let encode = |record: Record| record.encode(Format::W32, &mut Vec::new());
    assert!(encode(Record { reads: vec![0; 256], ..Record::default() }).is_err());
    assert!(encode(Record { writes: vec![1 << 32], ..Record::default() }).is_err());
    assert!(encode(Record { reads: vec![0; 255], ..Record::default() }).is_ok());
}

#[test]
fn lite_eth_as_bytes() {
    // Header with four zero bytes, flags mirrored (BCA 01, RFF 04, CYC 10), one record.
    let message = Message::Data {
        no_reads: false,
        format: Format::W32,
        records: vec![Record {
            flags: Flags::BCA | Flags::RFF | Flags::CYC,
            byte_enable: 0xF,
            return_base: 0x8000_0001,
            reads: vec![0xF000_0004],
            ..Record::default()
        }],
    };
    let mut out = Vec::new();
    LiteCodec.encode(&message, &mut out).expect("encodes");
    assert_eq!(out, hex("4e6f1044 00000000 150f0001 80000001 f0000004"));
    assert_eq!(LiteCodec.decode(&out), Ok(message));
    let mut probe = Vec::new();
    LiteCodec.encode(&Message::Probe { widths: Widths::W32, id: 7 }, &mut probe).expect("fits");
    assert_eq!(probe, hex("4e6f1144 00000007 00000000"));
    let reply = Message::ProbeReply { widths: Widths::W32, id: 7 };
    assert_eq!(LiteCodec.decode(&hex("4e6f1244 00000007 00000000")), Ok(reply));
}

#[test]
fn lite_eth_refuses_what_is_not_its_own() {
    let cases = [
        ("4e6f1144 00000007", "bytes 4 to 7"),
        ("4e6f1044 a00f0001 00008000 00000000", "bytes 4 to 7"),
        ("4e6f1044 00000000 000f0001 00000000 00000000 00000000", "after the record"),
        ("4e6f1044 00000000 000f0002 00000000 00000000", "record at byte 8"),
        ("4e6f1088 00000000 000f0000 00000000", "widths 0x88"),
        ("4e6f1044 00", "bytes 4 to 7"),
        ("4e6f1144 00000000", "probe of 8 bytes, a probe has 12"),
    ];
    for (bytes, expected) in cases {
        let error = LiteCodec.decode(&hex(bytes)).expect_err(bytes).to_string();
        assert!(error.contains(expected), "{bytes}: {error}");
    }
}
