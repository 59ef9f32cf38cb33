//! The values of the knobs that are not numbers.

use serde::{Deserialize, Serialize};

/// Declares an enum that travels in kebab case.
macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident),* $(,)? })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
            #[serde(rename_all = "kebab-case")]
            pub enum $name { $($(#[$vmeta])* $variant),* }
        )*
    };
}

kinds! {
    /// How lost segments are repaired before the retransmission timeout.
    Recovery {
        /// Fast recovery ends with the first new ACK (RFC 5681, section 3.2).
        Reno,
        /// A partial ACK repairs the next loss (RFC 6582).
        NewReno,
        /// By the SACK scoreboard, see [`SackDetection`] (RFC 6675). Where the
        /// peer knows no SACK, as `new-reno`.
        Sack,
        /// By the times of transmission, with tail loss probes (RFC 8985). Where
        /// the peer knows no SACK, as `new-reno`.
        RackTlp,
    }

    /// When a segment that was not SACKed counts as lost.
    SackDetection {
        /// More than two MSS of bytes, or three separate ranges, were SACKed
        /// above it (RFC 6675, `IsLost`).
        Rfc6675,
        /// Three segments were SACKed above it (Linux with FACK off).
        Segments,
        /// It lies three segments or more below the highest SACKed one (forward
        /// acknowledgement, Linux 2.6).
        Fack,
        /// It lies below the highest SACKed one; recovery still begins with the
        /// third duplicate ACK (FreeBSD 6).
        Holes,
    }

    /// How the window falls to ssthresh in fast recovery.
    Reduction {
        /// At once (RFC 5681, RFC 6675).
        Immediate,
        /// By one segment for every second ACK (Linux 2.6).
        RateHalving,
        /// Proportional, bound by what was delivered (RFC 6937, PRR-CRB).
        PrrCrb,
        /// Proportional, and as slow start below ssthresh (RFC 6937, PRR-SSRB).
        PrrSsrb,
        /// To one segment, then up by one for each duplicate ACK (FreeBSD 6
        /// with SACK).
        OneSegment,
    }

    /// Congestion control in congestion avoidance.
    CongestionControl {
        /// One segment a round trip (RFC 5681).
        Reno,
        /// Binary increase (Xu, Harfoush, Rhee 2004), as Linux 2.6.9 to 2.6.18.
        Bic,
        /// A cubic function of time (RFC 9438).
        Cubic,
    }

    /// What the congestion window is counted in.
    WindowUnit {
        /// Segments, however short they are (Linux).
        Segments,
        /// Bytes (RFC 5681, BSD).
        Bytes,
    }

    /// What makes the congestion window grow.
    GrowthCounting {
        /// Each ACK of new data, whatever it covers (RFC 5681, section 3.1).
        Acks,
        /// Each segment that is acknowledged (Linux since 3.13).
        Segments,
        /// Each byte that is acknowledged, up to
        /// `byte_counting_limit_segments` for one ACK (RFC 3465).
        Bytes,
    }

    /// Whether the window grows while the application does not fill it.
    WindowWhenLimited {
        /// It grows with every ACK (BSD).
        Grow,
        /// It grows only if it was full before the ACK (Linux 2.6).
        Keep,
        /// It grows if the last round trip was limited by it, in slow start
        /// also while below twice what was in flight (Linux since 3.16).
        Linux,
    }

    /// Whether a window that was not used for some time shrinks.
    Validation {
        /// It does not.
        Off,
        /// Halfway towards what was used, once for each RTO (RFC 2861).
        Rfc2861,
        /// It stays for five minutes, but a loss resets it to what was used
        /// (RFC 7661).
        Rfc7661,
    }

    /// What happens to the window after an idle time longer than the RTO.
    IdleRestart {
        /// Nothing.
        Off,
        /// It falls to the initial window (RFC 5681, section 4.1).
        InitialWindow,
        /// It falls to one segment (BSD).
        OneSegment,
        /// It halves for each RTO, down to the initial window (RFC 2861, Linux).
        Decay,
    }

    /// What ssthresh is half of after a loss.
    SsthreshBasis {
        /// What is in flight without what limited transmit sent (RFC 5681,
        /// equation 4 and section 3.2, step 2).
        Flight,
        /// All that is outstanding: three segments more (the model of seed 4).
        Outstanding,
        /// The congestion window (Linux).
        Window,
        /// The smaller of congestion window and offered window (BSD).
        SmallerWindow,
    }

    /// When a segment shorter than the MSS waits.
    Nagle {
        /// Never.
        Off,
        /// While anything is unacknowledged (RFC 9293, section 3.7.4).
        On,
        /// While a short segment is unacknowledged (Minshall, Linux).
        Minshall,
    }

    /// How a retransmission takes in the segments after it.
    RetransmitMerge {
        /// It does not.
        Off,
        /// The next one, where the first is shorter than half the MSS and both
        /// fit one MSS (Linux 2.6).
        One,
        /// As many as fit one MSS (BSD, Linux today).
        Full,
    }

    /// How the retransmission timeout follows from round-trip times.
    RtoForm {
        /// SRTT + max(G, 4 RTTVAR), within minimum and maximum (RFC 6298).
        Rfc6298,
        /// SRTT + RTTVAR', with RTTVAR' four times the largest mean deviation of
        /// a round trip and never below the minimum (Linux).
        Linux,
        /// SRTT + 4 RTTVAR + slop (FreeBSD).
        Freebsd,
        /// A multiple of the round-trip time, without a minimum (the model of
        /// seed 4).
        RttMultiple,
    }

    /// Which round-trip times are measured.
    RttSampling {
        /// One segment at a time (RFC 6298, section 3; BSD without timestamps).
        OnePerFlight,
        /// Each ACK that covers something never retransmitted (Linux); with
        /// timestamps each ACK of new data (RFC 7323).
        EveryAck,
    }

    /// When data that arrives in order is acknowledged.
    AckPolicy {
        /// At once.
        Immediate,
        /// After `ack_every_segments` segments of any size, or after the delay
        /// (BSD).
        Delayed,
        /// After `ack_every_segments` segments of full size, or after the delay
        /// (RFC 5681, section 4.2).
        DelayedFullSized,
        /// After more than one segment of the size that the peer uses, or after
        /// a delay that follows the spacing of arrivals (Linux).
        Adaptive,
    }

    /// When reading is followed by an ACK of its own that opens the window.
    WindowUpdate {
        /// If less than one MSS is on offer and it opens by one MSS or by half the
        /// buffer (RFC 9293, section 3.8.6.2.2).
        Rfc9293,
        /// If it opens by two MSS or by half the buffer (FreeBSD).
        Freebsd,
        /// If it at least doubles (Linux).
        Linux,
    }
}
