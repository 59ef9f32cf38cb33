//! What the tests of the binary share.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A running `headway-net`. It is killed where the test forgets it.
pub(crate) struct Program {
    child: Child,
    stdout: ChildStdout,
    stderr: BufReader<ChildStderr>,
}

impl Program {
    /// Starts it with these arguments, separated by spaces.
    pub(crate) fn start(arguments: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_headway-net"))
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdout = child.stdout.take().expect("piped");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// The next line that it says on standard error.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("readable");
        line
    }

    /// Its end: what it printed, what it said since, and its exit status.
    pub(crate) fn end(mut self) -> (String, String, ExitStatus) {
        let (mut out, mut err) = (String::new(), String::new());
        self.stdout.read_to_string(&mut out).expect("text");
        self.stderr.read_to_string(&mut err).expect("text");
        let status = self.child.wait().expect("it ends");
        (out, err, status)
    }

    /// Asks it to stop and reads the JSON that it prints.
    pub(crate) fn stop(self, signal: Signal) -> Value {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("it runs");
        let (out, err, status) = self.end();
        assert!(status.success(), "{status}: {err}");
        serde_json::from_str(&out).expect(&out)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A relay to `target`, and where it listens.
pub(crate) fn relay(target: SocketAddr, flags: &str) -> (Program, SocketAddr) {
    let mut program = Program::start(&format!(
        "relay --listen 127.0.0.1:0 --to {target} --duration 60s --json {flags}"
    ));
    let line = program.line();
    let address = line
        .strip_prefix("relaying ")
        .and_then(|rest| rest.split_once(" -> "))
        .and_then(|(listen, _)| listen.parse().ok());
    (program, address.expect(&line))
}

/// A socket on loopback that does not wait for ever.
pub(crate) fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a time-out");
    socket
}
