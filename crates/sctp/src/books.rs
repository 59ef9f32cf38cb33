//! What is counted with every chunk, beside what stands there: for tests and fuzzers.

/// One sum, as it is kept and as it was counted anew.
pub(crate) fn equal(name: &str, kept: u64, counted: u64) -> Result<(), String> {
    if kept == counted {
        return Ok(());
    }
    Err(format!("{name}: {kept} kept, {counted} counted"))
}
