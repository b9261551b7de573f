//! Whatever bytes come, reading ends with a table or with one line.

use std::sync::{Arc, LazyLock};

use crate::files::{Folder, batch, compressed_ipc, gzip, ipc_file, ipc_stream, parquet, read_bytes, zstd};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use orthorules_table::table::{Batches, ReadOptions, read};
use proptest::prelude::*;

/// Valid files to damage, of every format.
fn specimens() -> Vec<(&'static str, Vec<u8>)> {
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("c")]));
    let key = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let batches = [batch(vec![
        ("x", Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef),
        ("v", cast(&text, &DataType::Utf8View).unwrap()),
        ("d", cast(&text, &key).unwrap()),
        ("t", text),
        ("b", Arc::new(BooleanArray::from(vec![true, false, true]))),
    ])];
    let mut files = compressed_ipc(&batch(vec![("x", Arc::new(Int32Array::from(vec![5; 300])) as ArrayRef)]));
    let csv = b"x,t\n1,a\n2.5,\"b\n\"\"c\"\n,NA\n".to_vec();
    files.extend([
        ("a.csv.gz", gzip(&csv)),
        ("a.csv.zst", zstd(&csv)),
        ("a.csv", csv),
        ("a.parquet", parquet(&batches)),
        ("a.arrow", ipc_file(&batches)),
        ("a.ipc", ipc_stream(&batches)),
    ]);
    files
}

static SPECIMENS: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(specimens);

/// Reads whatever comes; only that it returns matters, with one line if it fails.
fn survives(name: &str, bytes: &[u8]) {
    let folder = Folder::new();
    let path = folder.file(name, bytes);
    let whole = read(&path, &ReadOptions::default());
    let batches = Batches::open(&path, &ReadOptions::default()).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    assert_eq!(whole.is_ok(), batches.is_ok(), "{whole:?} {batches:?}");
    if let Err(error) = whole {
        let message = error.to_string();
        assert!(!message.contains(['\n', '\r']), "{message:?}");
    }
}

/// Lengths in the footer of an Arrow file, those of its dictionaries among them, are not taken for room to allocate.
#[test]
fn lengths_of_a_footer_are_not_believed() {
    let (name, whole) = SPECIMENS.iter().find(|(name, _)| *name == "a.arrow").unwrap();
    for place in whole.len() - 700..whole.len() {
        for byte in [0x7f, 0xf2] {
            let mut bytes = whole.clone();
            bytes[place] = byte;
            survives(name, &bytes);
        }
    }
}

/// The size that a page of a Parquet file claims is not taken for room to allocate.
#[test]
fn sizes_of_pages_are_not_believed() {
    let column: ArrayRef = Arc::new(Int32Array::from((0..90).collect::<Vec<_>>()));
    let whole = parquet(&[batch(vec![("x", column)])]);
    // The first page follows the magic: its type, then the number of its bytes, both as numbers of 32 bits.
    assert_eq!((whole[4], whole[6]), (0x15, 0x15));
    let end = 7 + whole[7..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let mut bytes = whole.clone();
    bytes.splice(7..end, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
    let message = read_bytes("a.parquet", &bytes).unwrap_err().to_string();
    assert!(message.contains("bytes claims to hold 2147483647"), "{message}");
    survives("a.parquet", &bytes);
    assert!(read_bytes("a.parquet", &whole).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["a.csv", "a.tsv", "a.csv.gz", "a.csv.zst", "a.parquet", "a.arrow", "a.bin"] {
            survives(name, &bytes);
        }
        for magic in ["PAR1", "ARROW1\0\0"] {
            survives("a", &[magic.as_bytes(), &bytes, magic.trim_end_matches('\0').as_bytes()].concat());
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[ax1.,;\t\r\n\" ?é-]{0,60}") {
        survives("a.csv", text.as_bytes());
        survives("a.tsv", text.as_bytes());
    }

    #[test]
    fn damaged_files_never_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in any::<prop::sample::Index>(),
    ) {
        for (name, whole) in SPECIMENS.iter() {
            let mut bytes = whole.clone();
            for (place, byte) in &damage {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            survives(name, &bytes);
            survives(name, &whole[..end.index(whole.len())]);
        }
    }
}
