//! The user's hold on an association.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::Payload;
use headway_sctp::{AssociationId, AssociationState, MessageId, ReconfigError, Reliability, Stats};

use super::core::Core;
use super::endpoint::Shared;
use super::slot::{End, Notice, PathReport, Received, Slot, Wakes};
use super::{AssociationError, SendError};

/// A message to send.
///
/// ```
/// use headway_net::sctp::Message;
///
/// let message = Message { stream: 3, unordered: true, ..Message::new("hello") };
/// assert_eq!(message.payload, "hello");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Message {
    /// Stream identifier, below the number of streams agreed with the peer.
    pub stream: u16,
    /// Payload protocol identifier, which the peer's user sees.
    pub ppid: u32,
    /// Deliver it as soon as it is complete, without regard to its stream's order.
    pub unordered: bool,
    /// How much is done to bring it across (RFC 3758, RFC 7496).
    pub reliability: Reliability,
    /// Ask for a SACK without delay (RFC 7053, section 4).
    pub immediate_sack: bool,
    /// The content, at least one byte.
    pub payload: Bytes,
}

impl Message {
    /// An ordered message on stream 0.
    #[must_use]
    pub fn new(payload: impl Into<Bytes>) -> Self {
        Self {
            payload: payload.into(),
            ..Self::default()
        }
    }
}

impl From<Received> for Message {
    /// The same message back, as an echo.
    fn from(received: Received) -> Self {
        Self {
            stream: received.stream,
            ppid: received.ppid,
            unordered: received.unordered,
            payload: received.payload,
            ..Self::default()
        }
    }
}

/// An SCTP association. Clones are the same association; several tasks may send
/// and receive at once.
///
/// Where the last clone is dropped, the association ends as a TCP connection does
/// that is closed: gracefully, with what was handed over still delivered, or with
/// an abort where messages came that nobody read. What comes later is thrown away.
/// [`Endpoint::idle`](super::Endpoint::idle) waits for such ends.
#[derive(Clone)]
pub struct Association {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    id: AssociationId,
    wakes: Arc<Wakes>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shared.lock().release(self.id);
    }
}

impl Association {
    pub(super) fn new(shared: Arc<Shared>, id: AssociationId, wakes: Arc<Wakes>) -> Self {
        Self {
            inner: Arc::new(Inner { shared, id, wakes }),
        }
    }

    /// Looks at the association's slot, again and again until `look` finds
    /// something, each time that `news` come.
    async fn until<R>(
        &self,
        news: &tokio::sync::Notify,
        mut look: impl FnMut(&mut Slot) -> Option<R>,
    ) -> Result<R, AssociationError> {
        let look = |core: &mut Core| match core.slots.get_mut(&self.inner.id) {
            Some(slot) => look(slot).map(Ok),
            None => Some(Err(AssociationError::EndpointClosed)),
        };
        until(&self.inner.shared, news, look).await
    }

    /// Waits until the handshake is done.
    pub(super) async fn connected(&self) -> Result<(), AssociationError> {
        let look = |slot: &mut Slot| match (&slot.streams, &slot.end) {
            (Some(_), _) => Some(Ok(())),
            (None, Some(End::Error(error))) => Some(Err(error.clone())),
            (None, Some(End::Shutdown)) => Some(Err(AssociationError::EndpointClosed)),
            (None, None) => None,
        };
        self.until(&self.inner.wakes.change, look).await?
    }

    /// Hands a message over for sending, as soon as there is room for it. What
    /// comes back is its running number: 0, 1, 2...
    ///
    /// # Errors
    /// Where the message can never be sent, or the association is ending or over.
    pub async fn send(&self, message: Message) -> Result<MessageId, SendError> {
        loop {
            match self.try_send(message.clone()) {
                Err(SendError::Full) => {}
                result => return result,
            }
            let mut news = std::pin::pin!(self.inner.wakes.room.notified());
            news.as_mut().enable();
            // Room may have come before the wait began.
            match self.try_send(message.clone()) {
                Err(SendError::Full) => news.await,
                result => return result,
            }
        }
    }

    /// Hands a message over for sending if there is room for it now.
    ///
    /// # Errors
    /// As for [`Self::send`], and where there is no room.
    pub fn try_send(&self, message: Message) -> Result<MessageId, SendError> {
        let id = self.inner.id;
        let mut core = self.inner.shared.lock();
        let message = headway_sctp::Message {
            stream: message.stream,
            ppid: message.ppid,
            unordered: message.unordered,
            reliability: message.reliability,
            immediate_sack: message.immediate_sack,
            payload: Payload::Bytes(message.payload),
        };
        let result = core.with(id, |machine, now| machine.send(now, message));
        let error = match result {
            Some(Ok(id)) => return Ok(id),
            Some(Err(headway_sctp::SendError::BufferFull)) => {
                core.block(id);
                return Err(SendError::Full);
            }
            Some(Err(headway_sctp::SendError::Closing)) | None => SendError::Closing,
            Some(Err(error)) => SendError::Message(error),
        };
        let slot = core.slots.get(&id);
        match slot.and_then(Slot::error) {
            Some(over) if error == SendError::Closing => Err(over.into()),
            _ => Err(error),
        }
    }

    /// The next message; `None` where the association has ended gracefully, or the
    /// peer has begun to end it so, and all messages were received.
    ///
    /// # Errors
    /// Where the association was aborted or given up, after all messages that came
    /// before.
    pub async fn recv(&self) -> Result<Option<Received>, AssociationError> {
        let id = self.inner.id;
        let look = |core: &mut Core| {
            if let Some(message) = core.read(id) {
                return Some(Ok(Some(message)));
            }
            let slot = core.slots.get(&id)?;
            match &slot.end {
                Some(End::Error(error)) => Some(Err(error.clone())),
                Some(End::Shutdown) => Some(Ok(None)),
                None => slot.peer_shutdown.then_some(Ok(None)),
            }
        };
        until(&self.inner.shared, &self.inner.wakes.message, look).await
    }

    /// The next thing that happened to the association as such; `None` where it is
    /// over. Nobody has to ask.
    pub async fn notice(&self) -> Option<Notice> {
        let look = |slot: &mut Slot| match slot.take_notice() {
            Some(notice) => Some(Some(notice)),
            None => slot.end.is_some().then_some(None),
        };
        let found = self.until(&self.inner.wakes.change, look).await;
        found.unwrap_or_default()
    }

    /// Waits until the peer's stack has all that was handed over for sending. Whether
    /// its user has, only the user can tell.
    ///
    /// # Errors
    /// Where the association was aborted or given up.
    pub async fn drained(&self) -> Result<(), AssociationError> {
        let id = self.inner.id;
        let look = |core: &mut Core| {
            let slot = core.slots.get(&id)?;
            match slot.error() {
                Some(error) => Some(Err(error)),
                None if core.is_drained(id) => Some(Ok(())),
                None => {
                    core.drain(id);
                    None
                }
            }
        };
        until(&self.inner.shared, &self.inner.wakes.room, look).await
    }

    /// Ends the association gracefully: no more messages are taken from this side,
    /// all that were are delivered, and what the peer has sent still comes. Waits
    /// for the end, for which the peer, too, must have all its messages
    /// acknowledged: read on meanwhile where it may still send much.
    ///
    /// # Errors
    /// Where it ended in another way.
    pub async fn shutdown(&self) -> Result<(), AssociationError> {
        let id = self.inner.id;
        self.inner
            .shared
            .lock()
            .with(id, |machine, now| machine.shutdown(now));
        self.ended().await
    }

    /// Waits for the end, whoever brings it about.
    ///
    /// # Errors
    /// Where it is not a graceful one.
    pub async fn ended(&self) -> Result<(), AssociationError> {
        let look = |slot: &mut Slot| match &slot.end {
            Some(End::Error(error)) => Some(Err(error.clone())),
            Some(End::Shutdown) => Some(Ok(())),
            None => None,
        };
        self.until(&self.inner.wakes.change, look).await?
    }

    /// Ends the association at once; messages under way are lost. The peer's user
    /// is told `why` (RFC 9260, section 3.3.10.12).
    pub fn abort(&self, why: impl Into<Bytes>) {
        let why = why.into();
        let id = self.inner.id;
        self.inner
            .shared
            .lock()
            .with(id, |machine, now| machine.abort_because(now, why));
    }

    /// Has streams of this side begin anew with message zero, or all where none is
    /// named (RFC 6525, section 5.1.2). Messages handed over before go out before;
    /// those handed over after wait for the peer's answer, of which
    /// [`Notice::Other`] tells with
    /// [`Event::Reconfigured`](headway_sctp::Event::Reconfigured).
    ///
    /// # Errors
    /// Where there is no such stream, the two sides have not agreed on changing
    /// streams (`Config::reconfiguration`), or the request cannot be made now.
    pub fn reset_streams(&self, streams: &[u16]) -> Result<(), ReconfigError> {
        let id = self.inner.id;
        let mut core = self.inner.shared.lock();
        let result = core.with(id, |machine, now| {
            machine.reset_outgoing_streams(now, streams)
        });
        result.unwrap_or(Err(ReconfigError::NotEstablished))
    }

    /// Whether both sides have agreed on I-DATA, with which messages of several
    /// streams mix (RFC 8260, section 2.2.1). Known while the association lives.
    #[must_use]
    pub fn is_interleaving(&self) -> bool {
        let core = self.inner.shared.lock();
        let association = core.machine.association(self.inner.id);
        association.is_some_and(|association| association.is_interleaving())
    }

    /// Whether both sides have agreed that messages may be given up that were sent
    /// (RFC 3758, section 3.3). Known while the association lives.
    #[must_use]
    pub fn is_partially_reliable(&self) -> bool {
        let core = self.inner.shared.lock();
        let association = core.machine.association(self.inner.id);
        association.is_some_and(|association| association.is_partially_reliable())
    }

    /// How each path stands, or stood at the end.
    #[must_use]
    pub fn path_stats(&self) -> Vec<PathReport> {
        let reports = self.inner.shared.lock().reports(self.inner.id);
        reports.map(|(_, paths)| paths).unwrap_or_default()
    }

    /// Counters of the association.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let reports = self.inner.shared.lock().reports(self.inner.id);
        reports.map(|(stats, _)| stats).unwrap_or_default()
    }

    /// The peer's address on the path that is the primary one.
    #[must_use]
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        let paths = self.path_stats();
        let primary = paths.iter().find(|path| path.primary);
        primary.map(|path| path.remote)
    }

    /// How many streams this side and the peer may send on.
    #[must_use]
    pub fn streams(&self) -> (u16, u16) {
        let core = self.inner.shared.lock();
        let slot = core.slots.get(&self.inner.id);
        slot.and_then(|slot| slot.streams).unwrap_or_default()
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> AssociationState {
        let core = self.inner.shared.lock();
        let association = core.machine.association(self.inner.id);
        association.map_or(AssociationState::Closed, |association| association.state())
    }
}

/// Looks until something is found, first at once and then each time that `news`
/// come.
async fn until<R>(
    shared: &Shared,
    news: &tokio::sync::Notify,
    mut look: impl FnMut(&mut Core) -> Option<R>,
) -> R {
    if let Some(found) = look(&mut shared.lock()) {
        return found;
    }
    loop {
        let mut news = std::pin::pin!(news.notified());
        news.as_mut().enable();
        if let Some(found) = look(&mut shared.lock()) {
            return found;
        }
        news.await;
    }
}
