//! What this project's stack and dcsctp cost: two ends in one process, packets
//! as bytes through memory.
//!
//! ```text
//! sctp-stacks messages ours|dcsctp SIZE COUNT   ordered on one stream
//! sctp-stacks handshakes ours|dcsctp COUNT      from nothing to established
//! ```
//!
//! Prints one line of JSON with the CPU time of one message or handshake, both
//! ends counted. `run.py` beside it runs this and usrsctp in turn.

mod cpu;
mod ours;
mod theirs;

use std::process::ExitCode;

/// Length of a packet above the IP header.
const PACKET_BYTES: u32 = 1472;
/// Send and receive buffer of each end.
const BUFFER_BYTES: u32 = 256 * 1024;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<usize>().unwrap_or(0).max(1);
    match words[..] {
        ["messages", stack, size, count] => {
            let (size, count) = (number(size), number(count));
            let cpu_us = match stack {
                "ours" => ours::messages(size, count),
                _ => theirs::messages(size, count),
            };
            println!(r#"{{"stack":"{stack}","size":{size},"count":{count},"cpu_us":{cpu_us:.6}}}"#);
        }
        ["handshakes", stack, count] => {
            let count = number(count);
            let cpu_us = match stack {
                "ours" => ours::handshakes(count),
                _ => theirs::handshakes(count),
            };
            println!(r#"{{"stack":"{stack}","handshakes":{count},"cpu_us":{cpu_us:.6}}}"#);
        }
        _ => {
            eprintln!(
                "sctp-stacks messages ours|dcsctp SIZE COUNT, or handshakes ours|dcsctp COUNT"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
