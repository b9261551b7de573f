//! Files that change between two batches, and files that would fill the memory.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::files::{Folder, batch, gzip, ipc_file, ipc_stream, parquet, read_bytes, show, zstd};
use arrow_array::{ArrayRef, Int8Array};
use orthorules_table::table::{Batches, ReadOptions, read};

/// What is done to a file.
type Change = (&'static str, fn(&Path));

fn cut(path: &Path) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() - 1).unwrap();
}

/// Puts another file with these bytes in the place of this one.
fn replace(path: &Path) {
    let other = path.with_file_name("other");
    fs::copy(path, &other).unwrap();
    fs::rename(&other, path).unwrap();
}

/// Writes the bytes of a file once more, at another time.
fn touch(path: &Path) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let time = file.metadata().unwrap().modified().unwrap() + std::time::Duration::from_secs(1);
    file.set_modified(time).unwrap();
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap();
}

#[test]
fn a_file_that_changes_before_its_end_is_refused() {
    let rows = batch(vec![("x", Arc::new(Int8Array::from(vec![1, 2, 3])) as ArrayRef)]);
    let rows = std::slice::from_ref(&rows);
    let files = [
        ("a.csv", b"x\n1\n2\n3\n".to_vec()),
        ("a.csv.gz", gzip(b"x\n1\n2\n3\n")),
        ("a.csv.zst", zstd(b"x\n1\n2\n3\n")),
        ("a.parquet", parquet(rows)),
        ("a.arrow", ipc_file(rows)),
        ("a.ipc", ipc_stream(rows)),
    ];
    let changes: [Change; 4] = [("cut", cut), ("touched", touch), ("replaced", replace), ("removed", remove)];
    for (name, bytes) in &files {
        // Elsewhere a file that is open can be neither replaced nor removed.
        for (what, change) in &changes[..if cfg!(unix) { 4 } else { 2 }] {
            let folder = Folder::new();
            let path = folder.file(name, bytes);
            assert_eq!(read(&path, &ReadOptions::default()).unwrap().rows(), 3);
            let mut batches = Batches::open(&path, &ReadOptions::default()).unwrap();
            assert!(batches.next().unwrap().is_ok(), "{name} {what}");
            change(&path);
            let message = batches.find_map(Result::err).map(|e| e.to_string()).unwrap_or_default();
            assert!(message.ends_with(&format!("{name}: changed while it was read")), "{name} {what}: {message:?}");
        }
    }
}

/// Once the end of such a piece was taken for the end of the file.
#[test]
fn megabytes_of_empty_lines_are_not_the_end() {
    for lines in ["\n".repeat(3 << 20), "\r\n".repeat(2 << 20)] {
        let text = format!("x,y\n1,2\n{lines}3,4\n{lines}");
        assert_eq!(show(&read_bytes("a.csv", text).unwrap()), "x num: 1 3 | y num: 2 4");
    }
}

#[test]
fn what_unpacks_without_end_is_not_unpacked() {
    let zeros = zstd(&vec![0; 16 << 20]).repeat(80);
    let text = [zstd(b"PAR1"), zeros].concat();
    for name in ["a.parquet.zst", "a.arrow.zst", "a.zst"] {
        let message = read_bytes(name, &text).unwrap_err().to_string();
        assert!(message.contains("unpacks to more than 1 GiB: unpack it first"), "{message}");
    }
}
