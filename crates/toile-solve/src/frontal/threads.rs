//! Pieces of work shared by threads.

use std::sync::Mutex;

/// Runs `work`, which will [`share`], where sharing is cheap.
pub(super) fn sharing<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    if threads <= 1 { work() } else { toile_num::parallel::within(work) }
}

/// Calls `work` once with each piece, on up to `threads` threads, which take them in order.
///
/// One thread makes no list and enters no pool.
pub(super) fn share<T: Send>(
    threads: usize,
    pieces: impl Iterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    if threads <= 1 {
        pieces.for_each(work);
        return;
    }
    let pieces: Vec<Mutex<Option<T>>> = pieces.map(|piece| Mutex::new(Some(piece))).collect();
    toile_num::parallel::for_tasks_on(threads, pieces.len(), &|k| {
        let piece = pieces[k].lock().expect("no piece locks another").take();
        work(piece.expect("each piece once"));
    });
}
