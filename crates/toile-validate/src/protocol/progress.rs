//! Progress of many cases at once, and the way to stop them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use toile_num::parallel::try_map;

use super::ProtocolError;

/// Told the finished fraction and what is being done; ends the protocol by returning `false`.
pub type Progress<'a> = dyn FnMut(f64, &str) -> bool + Send + 'a;

/// Shares one [`Progress`] between parallel cases.
pub(super) struct Meter<'a> {
    callback: Mutex<&'a mut Progress<'a>>,
    stopped: AtomicBool,
    done: AtomicUsize,
    of: usize,
}

impl<'a> Meter<'a> {
    pub(super) fn new(callback: &'a mut Progress<'a>, of: usize) -> Self {
        let (stopped, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        Self { callback: Mutex::new(callback), stopped, done, of }
    }

    /// Whether to go on; asked at every Newton step.
    pub(super) fn alive(&self) -> bool {
        self.tell("")
    }

    fn tell(&self, what: &str) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return false;
        }
        let fraction = self.done.load(Ordering::Relaxed) as f64 / self.of.max(1) as f64;
        // A poisoned lock means that the callback panicked: nobody listens any more.
        let go = self.callback.lock().is_ok_and(|mut callback| callback(fraction, what));
        if !go {
            self.stopped.store(true, Ordering::Relaxed);
        }
        go
    }

    /// Counts a finished piece of work.
    pub(super) fn finished(&self, what: &str) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.tell(what);
    }

    pub(super) fn check(&self) -> Result<(), ProtocolError> {
        if !self.stopped.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(ProtocolError::Interrupted { done: self.done.load(Ordering::Relaxed), of: self.of })
    }

    /// Runs all cases in parallel, the dearest first, and returns their results in the order of the cases.
    pub(super) fn run<C: Sync, R: Send>(
        &self,
        cases: &[C],
        cost: impl Fn(&C) -> f64,
        work: impl Fn(&C) -> Result<R, ProtocolError> + Sync,
    ) -> Result<Vec<R>, ProtocolError> {
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by(|a, b| cost(&cases[*b]).total_cmp(&cost(&cases[*a])));
        let one = |k: usize| {
            self.check()?;
            Ok::<_, ProtocolError>((order[k], work(&cases[order[k]])?))
        };
        let mut results: Vec<(usize, R)> = try_map(order.len(), 1, one)?;
        self.check()?;
        results.sort_by_key(|(i, _)| *i);
        Ok(results.into_iter().map(|(_, r)| r).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_cases_and_a_stop_is_obeyed() {
        let cases = [3.0, 1.0, 5.0, 2.0, 4.0];
        let mut seen = 0;
        {
            let mut count = |_: f64, _: &str| {
                seen += 1;
                true
            };
            let meter = Meter::new(&mut count, 5);
            let work = |c: &f64| {
                meter.finished("");
                Ok(10.0 * c)
            };
            assert_eq!(meter.run(&cases, |c| *c, work).unwrap(), [30.0, 10.0, 50.0, 20.0, 40.0]);
        }
        assert_eq!(seen, 5);

        let mut stop = |fraction: f64, _: &str| fraction < 0.3;
        let meter = Meter::new(&mut stop, 5);
        let work = |_: &f64| {
            meter.finished("");
            Ok(())
        };
        let error = meter.run(&cases, |c| *c, work).unwrap_err();
        assert!(matches!(error, ProtocolError::Interrupted { of: 5, .. }), "{error}");
    }
}
