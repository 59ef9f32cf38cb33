//! `headway-net`: Headway's machines and paths on a real network.

use std::process::ExitCode;

fn main() -> ExitCode {
    headway_programs::main()
}
