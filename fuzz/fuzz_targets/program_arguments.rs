#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| headway_fuzz_targets::program_arguments(data));
