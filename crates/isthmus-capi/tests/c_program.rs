// SPDX-License-Identifier: Apache-2.0
//! A C and a C++ compiler take the header, and a C program does what it says, against the software
//! slave over UDP and TCP, with the shared and with the static library.

use std::path::{Path, PathBuf};
use std::process::Command;

use isthmus_host::etherbone::sdb::Product;
use isthmus_host::etherbone::{AddressMap, Memory, Server, ServerConfig, SlaveConfig};

const TABLE: u64 = 0xFFFF_0000;

/// The folder of the built libraries: that of this test, or the one above.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let mut folders = test.ancestors().skip(1).take(2);
    let found = folders.find(|folder| folder.join("libisthmus_eb.so").is_file());
    found.expect("cargo builds the libraries beside the test").to_owned()
}

fn compile(compiler: &str, output: &str, arguments: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(output);
    let done = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-o"])
        .arg(&output)
        .arg("-I")
        .arg(root.join("include"))
        .args(arguments)
        .current_dir(root.join("tests"))
        .output()
        .expect("a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    output
}

fn passes(program: &Path, name: &str) {
    let done = Command::new(program)
        .arg(name)
        .env("LD_LIBRARY_PATH", libraries())
        .output()
        .expect("the program runs");
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!((out.as_str(), done.status.code()), ("all checks passed\n", Some(0)), "{name}");
}

#[test]
fn a_c_program_reaches_the_software_slave() {
    let folder = libraries();
    let folder = folder.to_str().expect("a plain path");
    let dynamic = compile(
        "cc",
        "dynamic",
        &["-std=c99", "program.c", "-L", folder, "-Wl,-Bdynamic", "-l:libisthmus_eb.so"],
    );
    let archive = format!("{folder}/libisthmus_eb.a");
    let fixed = compile(
        "cc",
        "static",
        &["-std=c99", "program.c", &archive, "-lpthread", "-ldl", "-lm", "-lgcc_s"],
    );
    let ram =
        Product { vendor: 0x651, device: 0x66CF_EB52, name: "RAM".into(), ..Product::default() };
    let map = AddressMap::new(Product::default(), TABLE);
    let map = map.add(ram, 0x1000, 0x1_0FFF, Memory::new(0, 0x1_0000)).expect("fits");
    let config = ServerConfig {
        slave: SlaveConfig { sdb_address: TABLE, ..SlaveConfig::default() },
        ..ServerConfig::listen(([127, 0, 0, 1], 0).into())
    };
    let server = Server::bind(map, config).expect("free ports").spawn().expect("a thread");
    for program in [dynamic, fixed] {
        passes(&program, &format!("udp/127.0.0.1/{}", server.udp_addresses()[0].port()));
        passes(&program, &format!("tcp/127.0.0.1/{}", server.tcp_addresses()[0].port()));
    }
    let statistics = server.stop().expect("served").statistics();
    // The two connections that offered no width of the slave's.
    assert_eq!(statistics.slave.malformed, 2);
}

/// The example of docs/reference/c-api.md, built as that page says.
#[test]
fn the_master_of_the_reference_page_runs_without_a_library_path() {
    let page = include_str!("../../../docs/reference/c-api.md");
    let example = include_str!("master.c");
    let example = example.get(example.find("#include").expect("code")..).expect("code");
    assert!(page.contains(example), "the page shows tests/master.c");
    let folder = libraries();
    let folder = folder.to_str().expect("a plain path");
    let rpath = format!("-Wl,-rpath,{folder}");
    let arguments = ["-std=c99", "master.c", "-L", folder, "-listhmus_eb", &rpath];
    let program = compile("cc", "master", &arguments);
    let config = ServerConfig::listen(([127, 0, 0, 1], 0).into());
    let server = Server::bind(Memory::new(0x1000, 64), config).expect("free ports");
    let server = server.spawn().expect("a thread");
    let name = format!("udp/127.0.0.1/{}", server.udp_addresses()[0].port());
    let run = |name: &str| {
        let done = Command::new(&program).arg(name).env_remove("LD_LIBRARY_PATH").output();
        let done = done.expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    assert_eq!(run(&name), (Some(0), "cafef00d cafef00d 00000000\n".into(), String::new()));
    let (code, out, err) = run("usb/x");
    assert_eq!((code, out.as_str(), err.lines().count()), (Some(1), "", 1), "{err}");
    drop(server);
}

#[test]
fn a_c_program_is_a_slave_with_handlers_of_its_own() {
    let folder = libraries();
    let archive = format!("{}/libisthmus_eb.a", folder.to_str().expect("a plain path"));
    let program = compile(
        "cc",
        "slave",
        &[
            "-std=c99",
            "-D_XOPEN_SOURCE=600",
            "slave.c",
            &archive,
            "-lpthread",
            "-ldl",
            "-lm",
            "-lgcc_s",
        ],
    );
    passes(&program, "");
}

#[test]
fn the_header_is_cpp_too() {
    compile("c++", "header.o", &["-std=c++11", "-x", "c++", "-c", "../include/isthmus_eb.h"]);
}
