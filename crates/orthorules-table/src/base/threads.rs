//! Threads for a piece of work, started once for all its parts.

use crate::base::error::{Error, Result};

/// No more threads than this are started.
pub const MOST_THREADS: usize = 1024;

/// Does `work` on this many threads (at most 1,024), or on as many as there are processors. Whatever of this library is
/// called on them uses them too, if it is to use as many: so that reading a file and learning from it start threads
/// only once.
pub fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    // WebAssembly has one thread, and cannot start a pool of them.
    if cfg!(target_arch = "wasm32") {
        return Ok(work());
    }
    let threads = threads.unwrap_or_else(available_threads).min(MOST_THREADS);
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() == threads {
        return Ok(work());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Error::Table(format!("cannot start {threads} threads: {e}")))?;
    Ok(pool.install(work))
}

/// As many threads as there are processors, at most [`MOST_THREADS`].
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_started_once() {
        let here = || (std::thread::current().id(), rayon::current_num_threads());
        let caller = here().0;
        let (outer, same, more) =
            on_threads(Some(1), || (here(), on_threads(Some(1), here), on_threads(Some(2), here))).unwrap();
        assert_eq!(outer.1, 1);
        assert_ne!(outer.0, caller);
        assert_eq!(same.unwrap(), outer);
        assert_eq!(more.unwrap().1, 2);
    }
}
