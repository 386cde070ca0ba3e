//! Reports on a share of the work, made by one of several machines.

use super::{Dealt, PartEntry};
use crate::checkers::{ShardAssignment, Share};

/// For a whole history among several.
pub fn of_histories(share: Share, levels: Vec<String>) -> PartEntry {
    let Share { shard, shards } = share;
    PartEntry {
        shard,
        shards,
        of: Dealt::Histories,
        levels,
        components: None,
        mine: None,
    }
}

/// Of components of one history.
pub(super) fn of_components(shared: &ShardAssignment) -> PartEntry {
    PartEntry {
        shard: shared.share.shard,
        shards: shared.share.shards,
        of: Dealt::Components,
        levels: shared
            .levels
            .iter()
            .map(|level| level.code().to_owned())
            .collect(),
        components: Some(shared.components),
        mine: Some(shared.mine.clone()),
    }
}
