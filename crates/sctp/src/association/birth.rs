//! How associations come into being.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use headway_sansio::{Address, Duration, RandomStream, Time};

use super::Association;
use super::state::{Retry, State};
use crate::cookie::KeyRing;
use crate::host::Host;
use crate::inbound::Inbound;
use crate::outbound::Outbound;
use crate::packet::Extensions;
use crate::path::{Paths, Route};
use crate::{Config, Stats, Tsn};

/// What distinguishes one association from another at its beginning.
pub(crate) struct Birth {
    pub(crate) random: RandomStream,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) tag: u32,
    pub(crate) tsn: Tsn,
    pub(crate) keys: Option<Box<KeyRing>>,
    pub(crate) routes: Vec<Route>,
}

impl Birth {
    /// An association by itself draws all that it needs from one stream.
    fn alone(config: &Config, mut random: RandomStream, local_port: u16, remote_port: u16) -> Self {
        let keys = Some(Box::new(KeyRing::random(&mut random)));
        Self {
            tag: random_tag(&mut random),
            tsn: initial_tsn(config, &mut random),
            keys,
            random,
            local_port,
            remote_port,
            routes: Vec::new(),
        }
    }
}

impl Association {
    /// Begins an association with a peer that has one address.
    #[must_use]
    pub fn connect(
        now: Time,
        config: Arc<Config>,
        random: RandomStream,
        local_port: u16,
        remote_port: u16,
    ) -> Self {
        let birth = Birth::alone(&config, random, local_port, remote_port);
        Self::begin(now, config, Arc::default(), birth)
    }

    /// Begins an association from the addresses of `host` with a peer whose
    /// addresses are known, the primary one first.
    ///
    /// Tags and keys come from `random`, which an attacker who sees enough of
    /// them can foretell: on a real network associations belong to an
    /// [`Endpoint`](crate::Endpoint).
    #[must_use]
    pub fn connect_paths(
        now: Time,
        config: Arc<Config>,
        host: Arc<Host>,
        random: RandomStream,
        (local_port, remote_port): (u16, u16),
        remotes: &[Address],
    ) -> Self {
        let local = host.addresses.first().copied().unwrap_or_default();
        let birth = Birth {
            routes: host.pair(local, remotes),
            ..Birth::alone(&config, random, local_port, remote_port)
        };
        Self::begin(now, config, host, birth)
    }

    /// A passive association: it answers INITs without keeping state, and comes
    /// into being with the first good COOKIE ECHO.
    #[must_use]
    pub fn listen(config: Arc<Config>, random: RandomStream, local_port: u16) -> Self {
        Self::listen_on(config, Arc::default(), random, local_port)
    }

    /// A passive association at the addresses of `host`.
    #[must_use]
    pub fn listen_on(
        config: Arc<Config>,
        host: Arc<Host>,
        random: RandomStream,
        local_port: u16,
    ) -> Self {
        let birth = Birth::alone(&config, random, local_port, 0);
        Self::new(config, host, State::Listen, birth)
    }

    /// Sends the INIT.
    pub(crate) fn begin(now: Time, config: Arc<Config>, host: Arc<Host>, birth: Birth) -> Self {
        let mut this = Self::new(config, host, State::Closed, birth);
        this.state = State::CookieWait(Retry {
            due: now + this.paths[0].rto,
            count: 0,
            since: now,
        });
        this.send_init(0);
        this
    }

    /// An association that the cookie at hand is to bring up.
    pub(crate) fn unborn(config: Arc<Config>, host: Arc<Host>, birth: Birth) -> Self {
        Self::new(config, host, State::Listen, birth)
    }

    fn new(config: Arc<Config>, host: Arc<Host>, state: State, birth: Birth) -> Self {
        Self {
            state,
            random: birth.random,
            local_port: birth.local_port,
            remote_port: birth.remote_port,
            local_tag: birth.tag,
            peer_tag: 0,
            local_initial_tsn: birth.tsn,
            outbound_streams: config.outbound_streams,
            inbound_streams: config.inbound_streams,
            extensions: Extensions::NONE,
            keys: birth.keys,
            paths: Paths::new(&config, birth.routes),
            outbound: Outbound::new(&config, birth.tsn, 0),
            inbound: Inbound::new(&config, Tsn(0)),
            reply_path: 0,
            errors: 0,
            guard: Time::FAR_FUTURE,
            probe: Time::FAR_FUTURE,
            probe_interval: Duration::ZERO,
            probe_now: false,
            packets: VecDeque::new(),
            control: VecDeque::new(),
            events: VecDeque::new(),
            abandoned: BTreeMap::new(),
            reconfig: None,
            stats: Stats::default(),
            host,
            config,
        }
    }
}

/// A tag is never zero (section 5.3.1).
pub(super) fn random_tag(random: &mut RandomStream) -> u32 {
    1 + random.below(u64::from(u32::MAX)) as u32
}

pub(super) fn initial_tsn(config: &Config, random: &mut RandomStream) -> Tsn {
    let drawn = Tsn(random.bits() as u32);
    config.initial_tsn.unwrap_or(drawn)
}
