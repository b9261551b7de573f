//! Little memory, few file descriptors, and files that would take more than there is.

use super::{assert_one_line, people_and_model, shell};
use crate::Sandbox;
use std::io::Write;

/// Refused in one line that holds `part`, within this many kilobytes of addresses.
fn refused_within(sandbox: &Sandbox, kilobytes: u32, args: &[&str], part: &str) {
    let before = sandbox.files();
    let run = shell(sandbox, &format!(r#"ulimit -v {kilobytes}; exec "$0" "$@""#), args);
    assert_eq!(run.code, 2, "{args:?}: {run:?}");
    assert_one_line(&run, &format!("{args:?}"));
    assert!(run.stderr.contains(part), "{args:?}: {run:?}");
    assert_eq!(sandbox.files(), before);
}

const GIB: u32 = 1 << 20;

#[test]
fn a_device_is_no_endless_model_or_table() {
    let sandbox = people_and_model(10);
    refused_within(&sandbox, 2 * GIB, &["show", "/dev/zero"], "/dev/zero: has more than 256 MiB");
    refused_within(&sandbox, 2 * GIB, &["predict", "/dev/zero", "t.csv"], "/dev/zero: has more than 256 MiB");
    refused_within(&sandbox, 5 * GIB, &["predict", "m.json", "/dev/zero", "-o", "p"], "more than 1 GiB: save it");
}

/// `bytes` packed this many times one after the other, which unpacks to all of them.
fn zstd(bytes: &[u8], times: usize) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap().repeat(times)
}

fn gzip(bytes: &[u8], times: usize) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap().repeat(times)
}

#[test]
fn little_files_do_not_become_large_memory() {
    let sandbox = people_and_model(10);
    let zeros = vec![0u8; 16 << 20];
    for (name, start) in [("b.parquet", &b"PAR1"[..]), ("b.arrow", b"ARROW1\0\0"), ("b", b"PAR1")] {
        sandbox.write(&format!("{name}.zst"), [zstd(start, 1), zstd(&zeros, 400)].concat());
        let name = format!("{name}.zst");
        refused_within(&sandbox, 5 * GIB, &["predict", "m.json", &name, "-o", "p"], "unpacks to more than 1 GiB");
    }
    // One row without end, a quote without end, and a header of nothing but commas.
    let commas = vec![b','; 16 << 20];
    let header = zstd(b"sex,age,survived\n", 1);
    let cases = [
        ("row.csv.zst", [header.clone(), zstd(&zeros, 40)].concat(), "the row on line 2 has more than 128 MiB"),
        (
            "quote.csv.zst",
            [header.clone(), zstd(b"\"", 1), zstd(&zeros, 40)].concat(),
            "opened on line 2 and not closed",
        ),
        ("commas.csv.zst", [header, zstd(&commas, 7), zstd(b"\n", 1)].concat(), "has 117440513 fields"),
        ("header.csv.zst", [zstd(&commas, 7), zstd(b"\n1\n", 1)].concat(), "117440513 columns"),
        ("row.csv.gz", [gzip(b"sex,age\n", 1), gzip(&zeros, 40)].concat(), "the row on line 2 has more than 128 MiB"),
    ];
    for (name, bytes, part) in cases {
        assert!(bytes.len() < 2 << 20, "{name} has {} bytes", bytes.len());
        sandbox.write(name, bytes);
        refused_within(&sandbox, 2 * GIB, &["predict", "m.json", name, "-o", "p"], part);
    }
}

/// Every command that writes, with its output `new`.
const COMMANDS: [&[&str]; 3] = [
    &["predict", "m.json", "t.csv", "-o", "new"],
    &["fit", "t.csv", "--target", "survived", "-o", "new"],
    &["predict", "m.json", "t.csv", "--json", "-o", "new"],
];

/// Runs under each limit: what comes out is right or nothing, with a line that says why. Some run must succeed.
fn right_or_nothing(sandbox: &Sandbox, limits: impl Iterator<Item = String>) {
    let whole = COMMANDS.map(|args| {
        sandbox.ok(args);
        sandbox.read("new")
    });
    let mut done = 0;
    for limit in limits {
        for (args, whole) in COMMANDS.iter().zip(&whole) {
            sandbox.write("new", "old");
            let run = shell(sandbox, &format!(r#"{limit}; exec "$0" "$@""#), args);
            let context = format!("{limit} {args:?}: {run:?}");
            assert_eq!(&sandbox.read("new"), if run.code == 0 { whole } else { "old" }, "{context}");
            match run.code {
                0 => done += 1,
                1 | 2 => {
                    assert_one_line(&run, &context);
                    assert!(!run.stderr.contains("bug"), "{context}");
                }
                // The program was not started, or the system ended it where memory could not be had.
                127 | 134 | 139 => {}
                _ => panic!("{context}"),
            }
            if run.code <= 2 {
                assert_eq!(sandbox.files(), ["m.json", "new", "t.csv"], "{context}");
            }
        }
    }
    assert!(done > 0);
}

#[test]
fn few_descriptors_give_the_right_result_or_none() {
    let sandbox = people_and_model(1000);
    right_or_nothing(&sandbox, (3..=12).map(|files| format!("ulimit -n {files}")));
}

#[test]
fn few_addresses_give_the_right_result_or_none() {
    let sandbox = people_and_model(100_000);
    let megabytes = [4, 16, 20, 24, 26, 28, 30, 32, 36, 40, 48, 64, 128, 1024];
    right_or_nothing(&sandbox, megabytes.iter().map(|m| format!("ulimit -v {}", m << 10)));
}
