//! Feeds damaged files of every format to the readers: `fuzz_readers [COUNT] [SEED]`.
//!
//! Prints inputs per second, the slowest input and the peak memory; exits with 1 when a reader
//! panicked, took more than a second for one input, or the process grew beyond 512 MiB.

#[path = "../tests/unit/mutation.rs"]
mod mutation;

use std::process::ExitCode;
use std::time::Instant;

/// Peak resident memory of this process [MiB], None where the system does not tell.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

const MOST_MEMORY: f64 = 512.0;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |a| a.parse::<u64>());
    let (Ok(count), Ok(seed)) = (number(100_000), number(1)) else {
        eprintln!("usage: fuzz_readers [COUNT] [SEED], whole numbers");
        return ExitCode::from(2);
    };
    let start = Instant::now();
    let outcome = mutation::run(count as usize, seed, |i| {
        if (i + 1) % 100_000 == 0 {
            println!("{} inputs, {:.0} s", i + 1, start.elapsed().as_secs_f64());
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    for (input, cause) in outcome.panics.iter().take(10) {
        println!("panic: {cause}\n  input {:?}", String::from_utf8_lossy(input));
    }
    for input in outcome.hangs.iter().take(10) {
        println!("slow: {:?}", String::from_utf8_lossy(input));
    }
    let mut accepted = 0;
    for (reader, inputs, good) in &outcome.accepted {
        println!("{reader:?}: {inputs} inputs, {good} accepted");
        accepted += good;
    }
    let memory = peak_memory();
    println!(
        "{count} inputs in {seconds:.1} s ({:.0}/s), {accepted} accepted, {} panics, {} over 1 s, slowest {:.1} ms, \
         peak memory {:.0} MiB",
        count as f64 / seconds,
        outcome.panics.len(),
        outcome.hangs.len(),
        outcome.slowest.as_secs_f64() * 1e3,
        memory.unwrap_or(f64::NAN)
    );
    let grew = memory.is_some_and(|m| m > MOST_MEMORY);
    if outcome.panics.is_empty() && outcome.hangs.is_empty() && !grew {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
