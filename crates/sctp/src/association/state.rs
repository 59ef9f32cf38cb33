//! The states of an association (RFC 9260, section 4). A state that waits for an
//! answer owns its timer, so leaving the state stops the timer.

use bytes::Bytes;
use headway_sansio::Time;

/// Where an association stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssociationState {
    /// There is none, or no longer.
    Closed,
    /// It waits for a peer to connect.
    Listen,
    /// INIT is sent.
    CookieWait,
    /// COOKIE ECHO is sent.
    CookieEchoed,
    /// Messages flow.
    Established,
    /// The user asked for the end; messages are still outstanding.
    ShutdownPending,
    /// SHUTDOWN is sent.
    ShutdownSent,
    /// The peer sent SHUTDOWN; messages are still outstanding.
    ShutdownReceived,
    /// SHUTDOWN ACK is sent.
    ShutdownAckSent,
}

/// A timer that resends something: T1 or T2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retry {
    /// When it expires.
    pub(super) due: Time,
    /// How often it has expired.
    pub(super) count: u32,
    /// When the thing was first sent.
    pub(super) since: Time,
}

#[derive(Clone, Debug)]
pub(super) enum State {
    Closed,
    Listen,
    CookieWait(Retry),
    CookieEchoed { retry: Retry, cookie: Bytes },
    Established,
    ShutdownPending,
    ShutdownSent(Retry),
    ShutdownReceived,
    ShutdownAckSent(Retry),
}

impl State {
    pub(super) const fn name(&self) -> AssociationState {
        match self {
            Self::Closed => AssociationState::Closed,
            Self::Listen => AssociationState::Listen,
            Self::CookieWait(_) => AssociationState::CookieWait,
            Self::CookieEchoed { .. } => AssociationState::CookieEchoed,
            Self::Established => AssociationState::Established,
            Self::ShutdownPending => AssociationState::ShutdownPending,
            Self::ShutdownSent(_) => AssociationState::ShutdownSent,
            Self::ShutdownReceived => AssociationState::ShutdownReceived,
            Self::ShutdownAckSent(_) => AssociationState::ShutdownAckSent,
        }
    }

    /// When the state's own timer expires.
    pub(super) const fn due(&self) -> Time {
        match self {
            Self::CookieWait(retry)
            | Self::CookieEchoed { retry, .. }
            | Self::ShutdownSent(retry)
            | Self::ShutdownAckSent(retry) => retry.due,
            _ => Time::FAR_FUTURE,
        }
    }

    /// Whether the user may hand over messages (section 9.2).
    pub(super) const fn takes_messages(&self) -> bool {
        matches!(
            self,
            Self::Listen | Self::CookieWait(_) | Self::CookieEchoed { .. } | Self::Established
        )
    }

    /// Whether DATA may be sent.
    pub(super) const fn sends_data(&self) -> bool {
        matches!(
            self,
            Self::Established | Self::ShutdownPending | Self::ShutdownReceived
        )
    }

    /// Whether heartbeats are sent (section 8.3).
    pub(super) const fn has_heartbeats(&self) -> bool {
        self.sends_data()
    }

    /// Whether DATA is taken (section 6).
    pub(super) const fn takes_data(&self) -> bool {
        matches!(
            self,
            Self::Established | Self::ShutdownPending | Self::ShutdownSent(_)
        )
    }

    /// Whether SACKs are taken.
    pub(super) const fn takes_sacks(&self) -> bool {
        matches!(
            self,
            Self::Established
                | Self::ShutdownPending
                | Self::ShutdownSent(_)
                | Self::ShutdownReceived
        )
    }
}
