//! The contract between a machine and its driver.

use crate::Time;

/// A state machine that a driver feeds with input and time and then drains.
///
/// The rules, for drivers and machines alike:
///
/// 1. After every call of `handle_*` (and after every method of the machine that
///    may produce output, such as a `send`), the driver calls `poll_output`
///    until it returns `None`, and then `poll_timeout`.
/// 2. `now` never decreases from one call to the next.
/// 3. The driver calls `handle_timeout` at the time that `poll_timeout` named,
///    or later; never earlier is needed, but an early or needless call must do
///    no harm.
/// 4. After `handle_timeout(now)` the machine names no timeout at or before
///    `now`, so that a driver always makes progress.
/// 5. A machine reads no clock, never sleeps, opens no socket and draws only
///    from random streams that it was given.
///
/// A machine that contains others drains them inside its own handlers.
pub trait Machine {
    /// What the world hands in, mostly datagrams.
    type Input;
    /// What the machine hands out, mostly datagrams.
    type Output;

    /// Takes one input that arrived at `now`.
    fn handle_input(&mut self, now: Time, input: Self::Input);

    /// Does what is due at `now`; does nothing where nothing is due.
    fn handle_timeout(&mut self, now: Time);

    /// The next output, in the order in which it was produced.
    fn poll_output(&mut self) -> Option<Self::Output>;

    /// When the machine next wants `handle_timeout`, if at all.
    fn poll_timeout(&self) -> Option<Time>;
}
