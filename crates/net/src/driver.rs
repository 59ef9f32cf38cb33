//! The loop that runs a machine in real time.

use std::io;

use headway_sansio::{Machine, Time};

use crate::{Clock, Poller, Ready, Woken};

/// What lies between a machine and the operating system: sockets, and how their
/// datagrams and messages become the machine's inputs and outputs.
pub trait Outside {
    /// What the machine takes in.
    type Input;
    /// What the machine hands out.
    type Output;

    /// A descriptor is ready: reads a bounded amount and appends what it means.
    /// What is left is reported again by the next wait.
    ///
    /// # Errors
    /// Where the program cannot go on. What a peer or the network did is no error.
    fn read(&mut self, now: Time, ready: Ready, into: &mut Vec<Self::Input>) -> io::Result<()>;

    /// Takes an output of the machine. It may wait here for [`Self::flush`].
    fn write(&mut self, now: Time, output: Self::Output);

    /// Gives everything written to the operating system, and appends what that
    /// brings to light: a connection that turns out to be lost, for example.
    ///
    /// # Errors
    /// Where the program cannot go on.
    fn flush(&mut self, into: &mut Vec<Self::Input>) -> io::Result<()>;
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The machine had done what it was to do.
    Finished,
    /// The time was up.
    TimeUp,
    /// The user or the system asked for it.
    Stopped,
}

/// Runs `machine` until `finished` says so, until `end`, or until a signal comes
/// (see [`Poller::catch_stop_signals`]).
///
/// Each turn does what is due, sends, waits, and reads one batch from each ready
/// socket, so that neither many timers nor a flood of datagrams can starve the
/// other.
///
/// # Errors
/// What `outside` or the poller reports.
pub fn run<M, O>(
    machine: &mut M,
    outside: &mut O,
    poller: &mut Poller,
    end: Option<Time>,
    mut finished: impl FnMut(&M, Time) -> bool,
) -> io::Result<Ending>
where
    M: Machine,
    O: Outside<Input = M::Input, Output = M::Output>,
{
    let clock: Clock = poller.clock();
    let mut inputs = Vec::new();
    let mut ready = Vec::new();
    loop {
        let now = clock.now();
        if machine.poll_timeout().is_some_and(|at| at <= now) {
            machine.handle_timeout(now);
        }
        drain(machine, outside, now);
        outside.flush(&mut inputs)?;
        if !inputs.is_empty() {
            feed(machine, outside, &mut inputs, clock);
            continue;
        }
        if finished(machine, now) {
            return Ok(Ending::Finished);
        }
        if end.is_some_and(|end| end <= now) {
            return Ok(Ending::TimeUp);
        }
        let next = [machine.poll_timeout(), end].into_iter().flatten().min();
        let woken = poller.wait(next)?;
        ready.clear();
        ready.extend_from_slice(poller.ready());
        for ready in &ready {
            outside.read(clock.now(), *ready, &mut inputs)?;
            feed(machine, outside, &mut inputs, clock);
        }
        if woken == Woken::Stop {
            // What still comes to light concerns nobody any more.
            outside.flush(&mut inputs)?;
            return Ok(Ending::Stopped);
        }
    }
}

fn feed<M, O>(machine: &mut M, outside: &mut O, inputs: &mut Vec<M::Input>, clock: Clock)
where
    M: Machine,
    O: Outside<Output = M::Output>,
{
    for input in inputs.drain(..) {
        let now = clock.now();
        machine.handle_input(now, input);
        drain(machine, outside, now);
    }
}

fn drain<M, O>(machine: &mut M, outside: &mut O, now: Time)
where
    M: Machine,
    O: Outside<Output = M::Output>,
{
    while let Some(output) = machine.poll_output() {
        outside.write(now, output);
    }
}
