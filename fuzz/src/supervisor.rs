//! Starts workers, watches their time and memory, starts others where they die, and keeps what was found.

use crate::Cli;
use crate::case::{Case, Format, kept};
use crate::limits::resident;
use crate::report::{self, Finding, Tally};
use crate::worker::Line;
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often workers are looked at.
const PULSE: Duration = Duration::from_millis(20);
/// Findings of one kind that are kept; the rest is counted.
const KEPT_OF_A_KIND: usize = 2;

/// What is known of a worker.
struct State {
    current: Option<u64>,
    since: Instant,
    done: bool,
}

pub(crate) fn run(cli: &Cli) -> Result<ExitCode> {
    // What panics is told as a finding.
    std::panic::set_hook(Box::new(|_| {}));
    let formats = if cli.formats.is_empty() { &Format::ALL[..] } else { &cli.formats[..] };
    let mut tallies = Vec::new();
    for &format in formats {
        if format == Format::Commands && !cli.program().is_file() {
            println!("SKIPPED: command lines were not tried, since there is no program {}", cli.program().display());
            continue;
        }
        let tally = of_format(cli, format)?;
        println!("{}", report::line(&tally));
        tallies.push(tally);
    }
    if cli.record {
        println!("{}", report::record(cli, &tallies));
    }
    let found = tallies.iter().any(|tally| !tally.findings.is_empty());
    Ok(ExitCode::from(u8::from(found)))
}

/// All cases of a format, on as many workers as there are jobs.
fn of_format(cli: &Cli, format: Format) -> Result<Tally> {
    let cases = match format {
        _ if cli.replay => kept(&cli.kept.join(format.name())).len() as u64,
        Format::Commands => cli.cases.div_ceil(10),
        _ => cli.cases,
    };
    let one = cli.case.is_some();
    let (cases, jobs) = match cli.case {
        Some(index) => (index + 1, 1),
        None => (cases, cli.jobs.unwrap_or_else(cores).clamp(1, cases.max(1))),
    };
    let start = Instant::now();
    let tally = Mutex::new(Tally::new(format));
    let first = |job| if one { cases - 1 } else { job };
    std::thread::scope(|scope| {
        let tally = &tally;
        let start = |job| scope.spawn(move || self::job(cli, format, (cases, jobs), first(job), tally));
        let running: Vec<_> = (0..jobs).map(start).collect();
        running.into_iter().try_for_each(|job| job.join().map_err(|_| anyhow::anyhow!("a job stopped"))?)
    })?;
    let mut tally = tally.into_inner().map_err(|_| anyhow::anyhow!("a job stopped"))?;
    tally.seconds = start.elapsed().as_secs_f64();
    tally.findings.sort_by_key(|finding| finding.index);
    keep(cli, &tally);
    Ok(tally)
}

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
}

/// Every `jobs`-th case from `first` on, with as many workers after one another as it takes.
fn job(cli: &Cli, format: Format, (cases, jobs): (u64, u64), first: u64, tally: &Mutex<Tally>) -> Result<()> {
    let mut next = first;
    while next < cases {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(format.name()).arg("--kept").arg(&cli.kept).arg("--program").arg(cli.program());
        command.args(["--cases", &cases.to_string(), "--seed", &cli.seed.to_string(), "--jobs", &jobs.to_string()]);
        command.args(cli.replay.then_some("--replay")).arg("--worker").arg(folder.path()).arg(next.to_string());
        let mut worker = command
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let state = Mutex::new(State { current: None, since: Instant::now(), done: false });
        let ended = std::thread::scope(|scope| {
            let (out, err) = (worker.stdout.take(), worker.stderr.take());
            scope.spawn(|| listen(out, &state, tally));
            let said = scope.spawn(move || last_words(err));
            let killed = watch(cli, format, &mut worker, &state, tally);
            let status = worker.wait().map_or(String::new(), |status| status.to_string());
            killed.unwrap_or_else(|| format!("the process ended: {status}: {}", said.join().unwrap_or_default()))
        });
        let state = state.into_inner().map_err(|_| anyhow::anyhow!("a listener stopped"))?;
        if state.done {
            break;
        }
        let index = state.current.with_context(|| format!("a worker of {} did not start: {ended}", format.name()))?;
        add(tally, |tally| {
            tally.run += 1;
            tally.findings.push(Finding { index, what: ended });
        });
        next = index + jobs;
    }
    Ok(())
}

fn add(tally: &Mutex<Tally>, change: impl FnOnce(&mut Tally)) {
    if let Ok(mut tally) = tally.lock() {
        change(&mut tally);
    }
}

/// Follows what a worker says.
fn listen(out: Option<impl Read>, state: &Mutex<State>, tally: &Mutex<Tally>) {
    for line in out.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok) {
        let (Ok(line), Ok(mut state)) = (serde_json::from_str(&line), state.lock()) else { continue };
        match line {
            Line::Begins(index) => (state.current, state.since) = (Some(index), Instant::now()),
            Line::Ended { used } => add(tally, |tally| {
                tally.run += 1;
                tally.used += u64::from(used);
            }),
            Line::Found(what) => {
                let index = state.current.unwrap_or(0);
                add(tally, |tally| {
                    tally.run += 1;
                    tally.findings.push(Finding { index, what });
                });
            }
            Line::Done { peak } => {
                state.done = true;
                add(tally, |tally| tally.peak = tally.peak.max(peak));
            }
        }
    }
}

/// The end of what a worker wrote to standard error: what the runtime says when it gives up.
fn last_words(err: Option<impl Read>) -> String {
    let mut text = Vec::new();
    let _ = err.map(|mut err| err.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    words[words.len().saturating_sub(30)..].join(" ")
}

/// Waits for the end of a worker; ends it where a case takes too long or too much, and says so.
fn watch(cli: &Cli, format: Format, worker: &mut Child, state: &Mutex<State>, tally: &Mutex<Tally>) -> Option<String> {
    // Command lines have a watch of their own, which ends earlier.
    let most = Duration::from_secs_f64(if format == Format::Commands { 3.0 * cli.seconds } else { cli.seconds });
    loop {
        if !matches!(worker.try_wait(), Ok(None)) {
            return None;
        }
        let memory = resident(worker.id());
        add(tally, |tally| tally.peak = tally.peak.max(memory));
        let running = state.lock().map_or(Duration::ZERO, |s| if s.done { Duration::ZERO } else { s.since.elapsed() });
        let why = if memory > cli.megabytes << 20 {
            Some(format!("grew to {} MB", memory >> 20))
        } else {
            (running > most).then(|| format!("ran for more than {} s", most.as_secs_f64()))
        };
        if why.is_some() {
            let _ = worker.kill();
            return why;
        }
        std::thread::sleep(PULSE);
    }
}

/// Writes new findings to the folder of their format, a few of each kind.
fn keep(cli: &Cli, tally: &Tally) {
    let folder = cli.kept.join(tally.format.name());
    let files = kept(&folder);
    for (kind, findings) in report::kinds(&tally.findings) {
        println!("{} {kind}: {} times", tally.format.name(), findings.len());
        for finding in findings.iter().take(KEPT_OF_A_KIND) {
            let place = if cli.replay {
                files.get(finding.index as usize).map_or(String::new(), |path| path.display().to_string())
            } else {
                let label = format!("{}-{}", cli.seed, finding.index);
                let make = || Case::make(tally.format, cli.seed, finding.index)?.keep(&folder, &label);
                // A case that could not even be made has been told of as such.
                let is_kept = std::panic::catch_unwind(make).is_ok_and(|kept| kept.unwrap_or(false));
                let where_to = if is_kept { folder.display().to_string() } else { "not kept".into() };
                format!("--seed {} --case {} ({where_to})", cli.seed, finding.index)
            };
            println!("  {place}: {}", finding.what);
        }
    }
}
