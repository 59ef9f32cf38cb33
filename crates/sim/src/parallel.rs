//! Independent runs on several threads.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::panic::resume_unwind;
use std::thread;

/// Applies `f` to each item on up to `jobs` threads and returns the results in
/// the order of the items, whatever the threads did.
///
/// Each thread takes the next item that nobody has taken. Once `cancel` is set
/// no further item is started; those under way are finished, and the rest is
/// `None`. After each item `progress` is told how many of how many are done; it
/// is called on the worker threads, several at once.
///
/// # Panics
/// With the panic of `f` or `progress`, after the other threads have stopped.
pub fn parallel_map<T: Sync, R: Send>(
    jobs: usize,
    items: &[T],
    cancel: &AtomicBool,
    progress: impl Fn(usize, usize) + Sync,
    f: impl Fn(&T) -> R + Sync,
) -> Vec<Option<R>> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let guard = SetOnPanic(&failed);
        let mut results = Vec::new();
        while !cancel.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            results.push((index, f(item)));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, items.len());
        }
        drop(guard);
        results
    };

    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let mut place = |some: Vec<(usize, R)>| {
        for (index, result) in some {
            results[index] = Some(result);
        }
    };
    let threads = jobs.min(items.len());
    if threads <= 1 {
        place(work());
        return results;
    }
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut panic = None;
        for worker in workers {
            match worker.join() {
                Ok(some) => place(some),
                Err(cause) => panic = Some(cause),
            }
        }
        if let Some(cause) = panic {
            resume_unwind(cause);
        }
    });
    results
}

/// Tells the other threads to stop where this one unwinds.
struct SetOnPanic<'a>(&'a AtomicBool);

impl Drop for SetOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
