//! Work on all threads, so that the bits of a result do not depend on their number: every piece is
//! computed alone and put in its place, and reductions add fixed chunks in order.
//!
//! Rayon's iterators would do; but each use of one compiles some six thousand lines of its own, which
//! was a third of the time to build toile. Here the spreading is compiled once.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Chunk length of the reductions: long enough to hide the cost of a task, fixed so that the order
/// of the additions is.
const CHUNK: usize = 1024;

/// Calls `work(0)`, …, `work(tasks - 1)`, each once; threads take them in this order, so put the dearest first.
pub fn for_tasks(tasks: usize, work: &(dyn Fn(usize) + Sync)) {
    for_tasks_on(threads(), tasks, work);
}

/// [`for_tasks`] on no more than so many threads.
pub fn for_tasks_on(threads: usize, tasks: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let deal = || {
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                break;
            }
            work(task);
        }
    };
    on_threads(tasks.min(threads).min(self::threads()), &deal);
}

/// How many threads there are to share work.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Runs `work`, which will share several times, on one of the threads: another would be put to sleep and
/// woken up at each sharing.
pub fn within<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}

fn on_threads(count: usize, work: &(dyn Fn() + Sync)) {
    if count <= 1 {
        work();
    } else {
        let half = count / 2;
        rayon::join(|| on_threads(count - half, work), || on_threads(half, work));
    }
}

/// `f(0)`, …, `f(len - 1)`, `grain` of them to a task.
pub fn map<T: Send>(len: usize, grain: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let grain = grain.max(1);
    let tasks = len.div_ceil(grain);
    if tasks <= 1 {
        return (0..len).map(f).collect();
    }
    let parts: Vec<Mutex<Vec<T>>> = (0..tasks).map(|_| Mutex::default()).collect();
    for_tasks(tasks, &|task| {
        let part = (task * grain..((task + 1) * grain).min(len)).map(&f).collect();
        *parts[task].lock().expect("no task locks another's part") = part;
    });
    let mut all = Vec::with_capacity(len);
    for part in parts {
        all.append(&mut part.into_inner().expect("a task that panics ends the whole"));
    }
    all
}

/// `f(i, &items[i])` for all items, `grain` of them to a task.
pub fn map_items<S: Sync, T: Send>(
    items: &[S],
    grain: usize,
    f: impl Fn(usize, &S) -> T + Sync,
) -> Vec<T> {
    map(items.len(), grain, |i| f(i, &items[i]))
}

/// [`map`] of what can fail; the first error in order, whatever the threads did first.
pub fn try_map<T: Send, E: Send>(
    len: usize,
    grain: usize,
    f: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    map(len, grain, f).into_iter().collect()
}

/// Calls `f` with the number of each chunk of `size` items (the last may be shorter) and the chunk.
pub fn for_chunks<T: Send>(items: &mut [T], size: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let size = size.max(1);
    if items.len() <= size {
        if !items.is_empty() {
            f(0, items);
        }
        return;
    }
    let parts: Vec<Mutex<&mut [T]>> = items.chunks_mut(size).map(Mutex::new).collect();
    for_tasks(parts.len(), &|task| {
        f(task, &mut parts[task].lock().expect("no task locks another's part"));
    });
}

/// Σ over `0..len`, where `f` sums one range serially.
///
/// The ranges are the same whatever the number of threads, and their sums are added in order.
pub fn ordered_sum(len: usize, f: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    let part = |c: usize| f(c * CHUNK..((c + 1) * CHUNK).min(len));
    map(len.div_ceil(CHUNK), 1, part).iter().sum()
}
