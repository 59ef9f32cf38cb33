//! The paths of an association, and which of them to use (RFC 9260, section 6.4;
//! RFC 7829, section 3.2).

use core::ops::{Index, IndexMut};

use headway_sansio::{Address, Time};

use super::{Path, Reachability, Route};
use crate::Config;

/// The most paths of one association. A peer may list any number of addresses;
/// those beyond are not used.
pub(crate) const MOST_PATHS: usize = 16;

/// All paths; there is always at least one.
#[derive(Debug)]
pub(crate) struct Paths {
    list: Vec<Path>,
    /// Where the user wants DATA to go.
    primary: usize,
    /// Where it goes.
    data: usize,
    /// How often something happened that allows to send.
    opportunity: u64,
    /// The least PMDCS of all (AMDCS, RFC 9260, section 7.3).
    amdcs: u32,
}

impl Paths {
    pub(crate) fn new(config: &Config, routes: impl IntoIterator<Item = Route>) -> Self {
        let mut list: Vec<Path> = Vec::with_capacity(1);
        for route in routes {
            let known = list.iter().any(|path| path.route.remote == route.remote);
            if !known && list.len() < MOST_PATHS {
                list.push(Path::new(config, route));
            }
        }
        if list.is_empty() {
            list.push(Path::new(config, Route::default()));
        }
        let amdcs = list.iter().map(|path| path.pmdcs).min();
        Self {
            list,
            primary: 0,
            data: 0,
            opportunity: 0,
            amdcs: amdcs.unwrap_or_default(),
        }
    }

    /// What a fragment may take of a packet, so that it fits on every path.
    pub(crate) const fn amdcs(&self) -> u32 {
        self.amdcs
    }

    /// A path's MTU has changed.
    pub(crate) fn resize(&mut self, config: &Config, index: usize) {
        let path = &mut self.list[index];
        path.pmdcs = config.pmdcs_of(path.mtu.bytes());
        self.measure();
    }

    fn measure(&mut self) {
        self.amdcs = self.list.iter().map(|path| path.pmdcs).min().unwrap_or(0);
    }

    /// Keeps the paths that `routes` names, in their order, and adds those that
    /// are new, unconfirmed. Says for each path of before where it stands now, if it
    /// stays.
    pub(crate) fn retain_or_add(
        &mut self,
        config: &Config,
        routes: &[Route],
    ) -> Vec<Option<usize>> {
        let before: Vec<Address> = self.list.iter().map(|path| path.route.remote).collect();
        let named = |path: &Path| routes.iter().any(|r| r.remote == path.route.remote);
        if self.list.iter().any(named) {
            self.list.retain(named);
        } else {
            self.list.clear();
        }
        for &route in routes {
            if self.find(route.remote).is_none() && self.list.len() < MOST_PATHS {
                let mut path = Path::new(config, route);
                path.confirmed = self.list.is_empty();
                self.list.push(path);
            }
        }
        self.primary = 0;
        self.measure();
        self.choose();
        before.iter().map(|&remote| self.find(remote)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> core::slice::Iter<'_, Path> {
        self.list.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> core::slice::IterMut<'_, Path> {
        self.list.iter_mut()
    }

    /// The path to an address of the peer.
    pub(crate) fn find(&self, remote: Address) -> Option<usize> {
        self.list
            .iter()
            .position(|path| path.route.remote == remote)
    }

    pub(crate) const fn primary(&self) -> usize {
        self.primary
    }

    /// The path that new DATA takes.
    pub(crate) const fn data(&self) -> usize {
        self.data
    }

    pub(crate) fn set_primary(&mut self, index: usize) {
        self.primary = index;
        self.choose();
    }

    /// When the first timer of any path expires.
    pub(crate) fn next_timeout(&self) -> Time {
        self.list
            .iter()
            .map(Path::next_timeout)
            .min()
            .unwrap_or(Time::FAR_FUTURE)
    }

    /// Bytes of DATA under way on all paths.
    pub(crate) fn flight(&self) -> u32 {
        self.list.iter().map(|path| path.flight).sum()
    }

    /// Something happened that allows to send again: burst limits are worked out anew.
    pub(crate) const fn next_opportunity(&mut self) {
        self.opportunity += 1;
    }

    /// The number of the opportunity to send.
    pub(crate) const fn opportunity(&self) -> u64 {
        self.opportunity
    }

    /// Chooses anew where DATA goes, after a path has changed: the primary path
    /// if it works, else another that works, else the least bad.
    pub(crate) fn choose(&mut self) {
        self.data = if self.list[self.primary].is_usable() {
            self.primary
        } else {
            self.best(self.primary)
        };
    }

    /// The best path other than `avoided`, or `avoided` itself where that is the
    /// least bad: working ones first, then those potentially failed by the fewest
    /// errors, then inactive ones by the fewest errors (RFC 7829, sections 3.2
    /// and 4.1). Of equals the next in the list after `avoided`, so that they
    /// take turns.
    fn best(&self, avoided: usize) -> usize {
        let count = self.list.len();
        (1..=count)
            .map(|step| (avoided + step) % count)
            .min_by_key(|&index| {
                let path = &self.list[index];
                let class = match path.reachability {
                    _ if !path.confirmed => 3,
                    Reachability::Active => 0,
                    Reachability::PotentiallyFailed => 1,
                    Reachability::Inactive => 2,
                };
                let errors = if class == 0 { 0 } else { path.errors };
                (class, errors)
            })
            .unwrap_or(0)
    }

    /// Where the SACK goes for DATA that came by `from`, when the one before went
    /// to `last`. That is where the DATA came from, unless duplicates have shown
    /// that SACKs do not get through there (section 6.4): then elsewhere, until
    /// something sent there is answered.
    pub(crate) fn for_sack(&mut self, from: usize, last: usize, duplicate: bool) -> usize {
        if self.list.len() == 1 {
            return 0;
        }
        if duplicate && let Some(path) = self.list.get_mut(last) {
            path.mute = true;
        }
        if !self.list[from].mute {
            return from;
        }
        let count = self.list.len();
        let other = (0..count)
            .map(|step| (last + step) % count)
            .find(|&index| self.list[index].is_usable() && !self.list[index].mute);
        other.unwrap_or_else(|| {
            // Nothing is known to get through: all have another chance.
            for path in &mut self.list {
                path.mute = false;
            }
            from
        })
    }

    /// Where a chunk goes that timed out on `last` (section 6.4: to an active
    /// address other than the last one).
    pub(crate) fn alternate(&self, last: usize) -> usize {
        if self.list.len() == 1 {
            return 0;
        }
        let best = self.best(last);
        if self.list[best].is_usable() || self.data == last {
            best
        } else {
            self.data
        }
    }
}

impl Index<usize> for Paths {
    type Output = Path;
    fn index(&self, index: usize) -> &Path {
        &self.list[index]
    }
}

impl IndexMut<usize> for Paths {
    fn index_mut(&mut self, index: usize) -> &mut Path {
        &mut self.list[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(count: u32) -> Paths {
        let route = |n| Route {
            local: Address(0),
            remote: Address(n),
        };
        Paths::new(&Config::default(), (0..count).map(route))
    }

    #[test]
    fn an_address_has_one_path_and_their_number_is_bounded() {
        let same = Route::default();
        assert_eq!(Paths::new(&Config::default(), [same, same]).len(), 1);
        assert_eq!(paths(100).len(), MOST_PATHS);
        assert_eq!(Paths::new(&Config::default(), []).len(), 1);
    }

    #[test]
    fn data_goes_to_the_primary_path_while_it_works() {
        let mut paths = paths(3);
        paths[0].reachability = Reachability::PotentiallyFailed;
        paths.choose();
        assert_eq!(paths.data(), 1);
        paths[1].reachability = Reachability::Inactive;
        paths.choose();
        assert_eq!(paths.data(), 2);
        // An address that the peer has not shown to own is no choice.
        paths[2].confirmed = false;
        paths.choose();
        assert_eq!(paths.data(), 0);
        paths[0].reachability = Reachability::Active;
        paths.choose();
        assert_eq!(paths.data(), 0);
        paths[2].confirmed = true;
        paths.set_primary(2);
        assert_eq!(paths.data(), 2);
    }

    #[test]
    fn where_nothing_works_the_fewest_errors_decide() {
        let mut paths = paths(3);
        for (index, errors) in [(0, 7), (1, 9), (2, 6)] {
            paths[index].reachability = Reachability::Inactive;
            paths[index].errors = errors;
        }
        paths.choose();
        assert_eq!(paths.data(), 2);
        paths[1].reachability = Reachability::PotentiallyFailed;
        paths.choose();
        assert_eq!(paths.data(), 1);
    }

    #[test]
    fn a_sack_goes_where_the_data_came_from_while_that_works() {
        let mut paths = paths(3);
        assert_eq!(paths.for_sack(1, 0, false), 1);
        // A duplicate by another path tells of the path of the last SACK.
        assert_eq!(paths.for_sack(2, 1, true), 2);
        // The SACK for what comes there stays on the path that seems to work.
        assert_eq!(paths.for_sack(1, 2, false), 2);
        assert_eq!(paths.for_sack(1, 2, true), 0);
        paths[0].reachability = Reachability::Inactive;
        // Where nothing gets through, all are tried again.
        assert_eq!(paths.for_sack(1, 0, false), 1);
        assert_eq!(paths.for_sack(2, 1, false), 2);
    }

    #[test]
    fn what_timed_out_goes_elsewhere() {
        let mut paths = paths(2);
        assert_eq!((paths.alternate(0), paths.alternate(1)), (1, 0));
        paths[1].reachability = Reachability::Inactive;
        assert_eq!(paths.alternate(0), 0);
    }
}
