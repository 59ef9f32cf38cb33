//! The network programs of Headway.

fn main() {}
