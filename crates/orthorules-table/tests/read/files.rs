//! Files of every format to read, and a table in one line.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use orthorules_table::table::{ReadOptions, read};
use orthorules_table::{Kind, Table};

/// A folder that lives as long as the test.
pub(crate) struct Folder(pub(crate) tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

pub(crate) fn read_bytes_with(
    name: &str,
    bytes: impl AsRef<[u8]>,
    options: &ReadOptions,
) -> orthorules_table::Result<Table> {
    let folder = Folder::new();
    read(&folder.file(name, bytes), options)
}

pub(crate) fn read_bytes(name: &str, bytes: impl AsRef<[u8]>) -> orthorules_table::Result<Table> {
    read_bytes_with(name, bytes, &ReadOptions::default())
}

pub(crate) fn options(categorical: &[&str], keep: &[&str]) -> ReadOptions {
    let owned = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
    ReadOptions { categorical: owned(categorical), keep: owned(keep), ..ReadOptions::default() }
}

/// The table in one line: `name kind: value value …`, columns separated by ` | `, `-` for missing.
pub(crate) fn show(table: &Table) -> String {
    let columns = table.columns().iter().map(|c| {
        let kind = match c.values.kind() {
            Kind::Numeric => "num",
            Kind::Boolean => "bool",
            _ => "cat",
        };
        let cells = (0..table.rows()).map(|r| c.values.display(r).unwrap_or("-".into()));
        format!("{} {kind}: {}", c.name, cells.collect::<Vec<_>>().join(" "))
    });
    columns.collect::<Vec<_>>().join(" | ")
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// `columns` as one batch, all nullable.
pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<_> = columns.iter().map(|(n, a)| Field::new(*n, a.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|c| c.1).collect()).unwrap()
}

pub(crate) fn parquet(batches: &[RecordBatch]) -> Vec<u8> {
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_max_row_group_row_count(Some(if batches[0].num_rows() < 1000 { 2 } else { 50_000 }))
        .build();
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
    bytes
}

pub(crate) fn ipc_file(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

pub(crate) fn ipc_stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

/// Files of these batches in each typed format, under a name with and a name without an ending.
pub(crate) fn typed_files(batches: &[RecordBatch]) -> Vec<(&'static str, Vec<u8>)> {
    let (p, f, s) = (parquet(batches), ipc_file(batches), ipc_stream(batches));
    vec![
        ("a.parquet", p.clone()),
        ("a.PQ", p.clone()),
        ("a", p),
        ("a.arrow", f.clone()),
        ("a.feather", f.clone()),
        ("b", f),
        ("a.ipc", s.clone()),
        ("c", s),
    ]
}

/// `batch` as an Arrow file and stream whose buffers are compressed.
pub(crate) fn compressed_ipc(batch: &RecordBatch) -> Vec<(&'static str, Vec<u8>)> {
    use arrow_ipc::{CompressionType, writer::*};
    let mut files = Vec::new();
    for kind in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
        let options = IpcWriteOptions::default().try_with_compression(Some(kind)).unwrap();
        let mut file = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options.clone()).unwrap();
        file.write(batch).unwrap();
        let mut stream = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        stream.write(batch).unwrap();
        files.extend([("z.arrow", file.into_inner().unwrap()), ("z.ipc", stream.into_inner().unwrap())]);
    }
    files
}
