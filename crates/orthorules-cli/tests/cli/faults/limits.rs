//! Little memory, few file descriptors, and files that would take more than there is.

use super::{assert_one_line, people_and_model, shell};
use crate::Sandbox;
use std::io::Write;

/// So many kilobytes of addresses, of which the smallest part is memory.
fn with_addresses(sandbox: &Sandbox, kilobytes: u32, args: &[&str]) -> crate::Run {
    shell(sandbox, &format!(r#"ulimit -v {kilobytes}; exec "$0" "$@""#), args)
}

/// Refused in one line that holds `part`, within so many kilobytes of addresses.
fn refused_within(sandbox: &Sandbox, kilobytes: u32, args: &[&str], part: &str) {
    let before = sandbox.files();
    let run = with_addresses(sandbox, kilobytes, args);
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

/// `bytes` packed so many times one after the other, which unpacks to all of them.
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
        ("quote.csv.zst", [header.clone(), zstd(b"\"", 1), zstd(&zeros, 40)].concat(), "opened on line 2 and not closed"),
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

#[test]
fn few_descriptors_end_in_a_line_or_a_result() {
    let sandbox = people_and_model(1000);
    let before = sandbox.files();
    let predictions = sandbox.ok(&["predict", "m.json", "t.csv"]).stdout;
    let mut done = 0;
    for files in 3..14 {
        let script = format!(r#"ulimit -n {files}; exec "$0" "$@""#);
        let run = shell(&sandbox, &script, &["predict", "m.json", "t.csv", "-o", "new"]);
        if run.code == 0 {
            done += 1;
            assert_eq!(sandbox.read("new"), predictions);
            std::fs::remove_file(sandbox.path("new")).unwrap();
        } else {
            assert!(run.code == 1 || run.code == 2, "{files}: {run:?}");
            assert_one_line(&run, &format!("{files} files"));
        }
        assert_eq!(sandbox.files(), before, "{files}: {run:?}");
        let run = shell(&sandbox, &script, &["fit", "t.csv", "--target", "survived", "-o", "new"]);
        assert!(run.code <= 2 && !run.stderr.contains("bug"), "{files}: {run:?}");
        let _ = std::fs::remove_file(sandbox.path("new"));
        assert_eq!(sandbox.files(), before, "{files}: {run:?}");
    }
    assert!(done > 0);
}

#[test]
fn little_memory_ends_without_half_a_file() {
    let sandbox = people_and_model(1000);
    let predictions = sandbox.ok(&["predict", "m.json", "t.csv"]).stdout;
    let mut done = 0;
    for megabytes in [4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512] {
        sandbox.write("new", "old");
        let run = with_addresses(&sandbox, megabytes << 10, &["predict", "m.json", "t.csv", "-o", "new"]);
        let found = sandbox.read("new");
        if run.code == 0 {
            done += 1;
            assert_eq!(found, predictions, "{megabytes}");
        } else {
            assert_eq!(found, "old", "{megabytes}: {run:?}");
        }
        assert_ne!(run.code, 139, "{megabytes}: {run:?}");
    }
    assert!(done > 0);
}
