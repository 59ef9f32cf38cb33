//! DATA arrives (RFC 9260, section 6.2).

use headway_sansio::Time;

use super::Association;
use super::input::Rest;
use super::state::State;
use crate::inbound::{Arrival, Inbound};
use crate::{Cause, Chunk, DataChunk, LostReason};

/// What one packet brought in DATA.
#[derive(Debug)]
pub(super) struct Arrivals {
    any: bool,
    /// Something in the packet had arrived before.
    duplicate: bool,
    /// Something in the packet calls for a SACK without delay.
    urgent: bool,
    /// There was a gap before the packet.
    gap_before: bool,
}

impl Arrivals {
    pub(super) fn new(inbound: &Inbound) -> Self {
        Self {
            any: false,
            duplicate: false,
            urgent: false,
            gap_before: inbound.has_gap(),
        }
    }

    /// FORWARD-TSN is acknowledged by the rules of DATA (RFC 3758, section 3.6).
    pub(super) const fn forward(&mut self) {
        self.any = true;
    }

    pub(super) const fn hurry(&mut self) {
        self.urgent = true;
    }
}

impl Association {
    pub(super) fn handle_data(
        &mut self,
        now: Time,
        from: usize,
        chunk: &mut DataChunk,
        arrivals: &mut Arrivals,
    ) -> Rest {
        if !self.state.takes_data() {
            return Rest::Process;
        }
        // RFC 8260, section 2.2.3: there is one kind of DATA in an association.
        if chunk.interleaving.is_some() != self.extensions.interleaving {
            let cause = Cause::new(Cause::PROTOCOL_VIOLATION);
            self.abort_with(cause, LostReason::ProtocolViolation);
            return Rest::Discard;
        }
        if chunk.payload.is_empty() {
            let tsn = chunk.tsn.0.to_be_bytes().to_vec();
            self.abort_with(
                Cause::with(Cause::NO_USER_DATA, tsn),
                LostReason::ProtocolViolation,
            );
            return Rest::Discard;
        }
        arrivals.any = true;
        arrivals.urgent |= chunk.immediate;
        if chunk.stream >= self.inbound_streams {
            self.refuse_stream(from, chunk);
            return Rest::Process;
        }
        if self.reconfig.is_some() && self.keep_for_reset(chunk) {
            return Rest::Process;
        }
        match self
            .inbound
            .take(&self.config, now, chunk, &mut self.events)
        {
            Arrival::New => {
                self.stats.data_chunks_received += 1;
                let reneged = self.inbound.take_reneged();
                self.stats.data_chunks_reneged += reneged;
                arrivals.urgent |= reneged > 0;
            }
            Arrival::Duplicate => {
                self.stats.duplicates_received += 1;
                arrivals.urgent = true;
                arrivals.duplicate = true;
            }
            Arrival::Dropped => {
                self.stats.data_chunks_dropped += 1;
                arrivals.urgent = true;
            }
            Arrival::Contradiction => {
                let cause = Cause::new(Cause::PROTOCOL_VIOLATION);
                self.abort_with(cause, LostReason::ProtocolViolation);
                return Rest::Discard;
            }
            Arrival::Exhausted => {
                let cause = Cause::new(Cause::OUT_OF_RESOURCE);
                self.abort_with(cause, LostReason::ProtocolViolation);
                return Rest::Discard;
            }
        }
        Rest::Process
    }

    /// DATA for a stream that does not exist is acknowledged, reported and thrown
    /// away (section 6.5).
    #[cold]
    fn refuse_stream(&mut self, from: usize, chunk: &DataChunk) {
        self.inbound.skip(chunk.tsn);
        let mut information = chunk.stream.to_be_bytes().to_vec();
        information.extend_from_slice(&[0, 0]);
        let cause = Cause::with(Cause::INVALID_STREAM, information);
        self.answer(from, Chunk::Error(vec![cause]));
    }

    /// Decides on the SACK once all chunks of a packet are in.
    pub(super) fn end_of_packet(&mut self, now: Time, from: usize, arrivals: &Arrivals) {
        if !arrivals.any {
            return;
        }
        let last = self.reply_path;
        self.reply_path = self.paths.for_sack(from, last, arrivals.duplicate);
        if arrivals.duplicate && self.paths[last].mute {
            self.ask_mute_path(now, last);
        }
        if let State::ShutdownSent(_) = self.state {
            self.answer_data_with_shutdown(now);
            return;
        }
        let gap = self.inbound.has_gap();
        let closed = arrivals.gap_before && !gap && self.config.sack_on_gap_closed;
        let urgent = arrivals.urgent || gap || closed;
        self.inbound
            .acknowledgement
            .packet(&self.config, now, urgent);
    }
}
