//! An echo server and client over the crate `dcsctp` and UDP encapsulation, for
//! the interop tests. dcsctp is sans-IO: here a UDP socket carries its packets as
//! they are, which is what RFC 6951 asks for. Both ends print one line of JSON
//! for each association.

mod client;
mod content;
mod link;
mod server;
mod settings;

use settings::Settings;

fn main() -> std::process::ExitCode {
    let settings = match Settings::read(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(problem) => {
            eprintln!("dcsctp: {problem}\n{}", Settings::USAGE);
            return 2.into();
        }
    };
    let ended = if settings.serve {
        server::serve(&settings)
    } else {
        client::connect(&settings)
    };
    match ended {
        Ok(()) => 0.into(),
        Err(error) => {
            eprintln!("dcsctp: {error}");
            1.into()
        }
    }
}
