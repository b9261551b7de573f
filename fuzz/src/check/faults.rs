//! Cases that misbehave on purpose, so that a test can see them found.

use super::{Outcome, Verdict};
use crate::case::Case;
use std::time::Duration;

pub(super) fn check(case: &Case) -> Verdict {
    match case.bytes.as_slice() {
        b"1" => panic!("a panic on purpose"),
        b"2" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        b"3" => {
            let mut held = Vec::new();
            loop {
                held.push(vec![1u8; 10 << 20]);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        b"4" => std::process::abort(),
        b"5" => Err("a wrong answer on purpose".into()),
        _ => Ok(Outcome::Used),
    }
}
