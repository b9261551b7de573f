//! Signals that end the program: whatever ends it, nothing half-written is left behind.

use orthorules::atomic_file::abandon_all;

/// Ends the program with exit code `code`, without what is being written.
pub(crate) fn leave(code: i32) -> ! {
    abandon_all();
    std::process::exit(code)
}

/// From now on the signals by which terminals, shells and service managers end a program remove what is being written
/// before they do. Where that cannot be set up, nothing changes. Ctrl-C has its own way, in `console`.
#[cfg(unix)]
pub(crate) fn expect() {
    use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::sync::{Arc, atomic::AtomicBool, mpsc};

    // Where the system does not tell what is ignored, `nohup` may have been used.
    let ignored = ignored().unwrap_or(1 << (SIGHUP - 1));
    let is_ours = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    // A file that may not become so large is an error of writing, and told as such.
    if is_ours(&SIGXFSZ) {
        let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
    let ends: Vec<i32> = [SIGTERM, SIGHUP, SIGQUIT, SIGXCPU].into_iter().filter(is_ours).collect();
    let (ready, is_ready) = mpsc::channel();
    let wait = move || {
        // Only here: without this thread the signals, which are no longer deadly, would have no effect.
        let Ok(mut signals) = Signals::new(&ends) else { return };
        let _ = ready.send(());
        if let Some(signal) = signals.forever().next() {
            abandon_all();
            // The parent process learns how the program ended.
            let _ = low_level::emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    };
    if std::thread::Builder::new().name("signals".into()).spawn(wait).is_ok() {
        let _ = is_ready.recv();
    }
}

#[cfg(not(unix))]
pub(crate) fn expect() {}

/// The signals that the program is to ignore, as bits: `nohup` asks for that. Nothing where the system does not say.
#[cfg(unix)]
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}
