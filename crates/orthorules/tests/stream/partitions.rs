//! A table whose files are partitions that only answer messages: the model of one file, to the last byte.

use super::*;
use orthorules::{Error, Partition, fit_partitions, merge};
use std::path::PathBuf;
use std::sync::Mutex;

/// Partitions that are lost again and again. Replies are merged in pairs, so that their order matters and nothing else.
struct Partitions {
    files: Vec<PathBuf>,
    held: Mutex<Vec<Option<Partition>>>,
    trips: Mutex<usize>,
    stamp: String,
}

impl Partitions {
    fn new(files: Vec<PathBuf>) -> Self {
        let held = Mutex::new(files.iter().map(|_| None).collect());
        Self { files, held, trips: Mutex::new(0), stamp: "as it was".into() }
    }

    fn trip(&self, message: &[u8]) -> orthorules::Result<Vec<u8>> {
        let mut trips = self.trips.lock().unwrap();
        *trips += 1;
        let mut held = self.held.lock().unwrap();
        let mut replies = Vec::new();
        for (number, (file, held)) in self.files.iter().zip(held.iter_mut()).enumerate() {
            if (number + *trips).is_multiple_of(4) {
                *held = None;
            }
            let partition = held.get_or_insert_with(|| Partition::new(file, number, &self.stamp, Some(1)));
            replies.push(partition.answer(message)?);
        }
        while replies.len() > 1 {
            let pairs = replies.chunks(2).map(|pair| match pair {
                [a, b] => merge(a, b),
                _ => Ok(pair[0].clone()),
            });
            replies = pairs.collect::<orthorules::Result<_>>()?;
        }
        Ok(replies.remove(0))
    }
}

pub(super) fn partitioned(files: Vec<PathBuf>, roles: &Roles, params: &Params) -> Result<String, String> {
    let partitions = Partitions::new(files);
    let fitted = fit_partitions(roles, params, &Silent, &|message| partitions.trip(message));
    fitted.map(|(fitted, _)| fitted.model.to_json()).map_err(|error| error.to_string())
}

#[test]
fn what_needs_all_rows_is_refused_in_a_line() {
    let exact = Params { search: orthorules::params::Search::Exact, ..Params::default() };
    let folds = Params { cv: Some(Cv::Folds(3)), ..Params::default() };
    let draws = Params { bootstrap: Some(20), ..Params::default() };
    let trends = Params { terms: orthorules::params::Terms::Linear, ..Params::default() };
    let lambda = Params { reg_lambda: Some(orthorules::params::RegLambda::Cv), ..Params::default() };
    for params in [exact, folds, draws, trends, lambda, orthorules::params::Preset::Sirus.params()] {
        let message = partitioned(Vec::new(), &roles(), &params).unwrap_err();
        assert!(message.contains("several machines") && !message.contains('\n'), "{message}");
    }
    let groups = Roles { groups: Some("x".into()), ..roles() };
    assert!(partitioned(Vec::new(), &groups, &Params::default()).unwrap_err().contains("groups"));
}

#[test]
fn bytes_that_are_no_message_are_refused() {
    let mut partition = Partition::new(Path::new("nowhere"), 0, "", Some(1));
    for bytes in [&b""[..], b"OR", b"OR\x01", b"OR\x01\x07", b"OR\x02\x00", b"OR\x01\x01\x09", b"garbage"] {
        let message = partition.answer(bytes).unwrap_err().to_string();
        assert!(message.contains("another version") && !message.contains('\n'), "{message}");
        assert!(merge(bytes, bytes).is_err());
    }
}

#[test]
fn a_source_that_is_not_what_it_was_ends_the_fit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    std::fs::write(&file, parquet_of(&batches(&rows(300, 3)))).unwrap();
    let partitions = Mutex::new(Partitions::new(vec![file]));
    let trip = |message: &[u8]| {
        let mut partitions = partitions.lock().unwrap();
        if *partitions.trips.lock().unwrap() == 2 {
            partitions.stamp = "another".into();
            partitions.held.lock().unwrap()[0] = None;
        }
        partitions.trip(message)
    };
    let error = fit_partitions(&roles(), &small(), &Silent, &trip).unwrap_err().to_string();
    assert_eq!(error, "partition 0 changed while it was read");
}

#[test]
fn a_cluster_that_fails_in_the_middle_ends_the_fit_with_its_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    std::fs::write(&file, parquet_of(&batches(&rows(300, 3)))).unwrap();
    for last in 1..12 {
        let partitions = Partitions::new(vec![file.clone()]);
        let trip = |message: &[u8]| {
            if *partitions.trips.lock().unwrap() >= last {
                return Err(Error::Table("all workers are gone".into()));
            }
            partitions.trip(message)
        };
        let outcome = fit_partitions(&roles(), &small(), &Silent, &trip).map(|_| ());
        let used = *partitions.trips.lock().unwrap();
        assert!(used < last || outcome.is_err_and(|e| e.to_string() == "all workers are gone"), "{last}");
    }
}
