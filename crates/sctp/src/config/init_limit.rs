//! How many INITs an endpoint lets in.

/// The most INITs that an endpoint looks at: a bucket of tokens, of which each INIT
/// takes one. An INIT that finds none is thrown away unread; its sender, if there is
/// one, sends it again when T1-init expires (RFC 9260, section 4, rule 2), so that
/// the limit costs it time, and not its association.
///
/// Answering an INIT keeps no memory but takes a processor: a cookie is to be signed
/// (section 5.1.3). Without a limit whoever sends INITs fast enough has all of it, and
/// nothing is left for the associations that there are (section 12.2.4.1 asks for
/// "priority to completion of processing in progress").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InitLimit {
    /// INITs a second, in the long run.
    pub per_second: u32,
    /// INITs at once after a quiet time.
    pub burst: u32,
}

impl Default for InitLimit {
    /// 100,000 a second, and a tenth of a second's worth at once.
    ///
    /// High, because whoever wants to keep others out has to send several times as
    /// many: more than the 87,000 associations a second that one core brings up with
    /// nothing else to do (`make bench`, `sctp_handshakes_ours`), so that it does not
    /// bind where peers do come. Low enough, because INITs at half a microsecond each
    /// take a twentieth of that core, and the burst 5 ms.
    fn default() -> Self {
        Self {
            per_second: 100_000,
            burst: 10_000,
        }
    }
}
