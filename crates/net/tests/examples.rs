//! The examples of the guide run, and the guide shows them as they are.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Cargo builds the examples beside the tests.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(|deps| deps.parent());
    let path: PathBuf = folder.expect("a build folder").join("examples").join(name);
    Command::new(path)
}

#[test]
fn server_and_client_meet() {
    let mut server = example("echo_server")
        .arg("127.0.0.1:0")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server");
    let mut line = String::new();
    let output = server.stdout.take().expect("piped");
    BufReader::new(output).read_line(&mut line).expect("a line");
    let address = line
        .trim()
        .strip_prefix("listening on ")
        .expect("an address");
    let client = example("echo_client").arg(address).output();
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    let client = client.expect("the client");
    let said = String::from_utf8_lossy(&client.stdout);
    assert!(client.status.success(), "{said}");
    assert!(said.contains("message 9 came back on stream 1"), "{said}");
    assert!(said.contains("round trip Some("), "{said}");
}

#[test]
fn the_guide_shows_the_examples() {
    let guide = include_str!("../../../docs/guide-sctp.md");
    for example in [
        include_str!("../examples/echo_server.rs"),
        include_str!("../examples/echo_client.rs"),
    ] {
        // Without the line that says what it is.
        let code = example.split_once("\n\n").map(|(_, code)| code);
        assert!(guide.contains(code.expect("a description")));
    }
}
