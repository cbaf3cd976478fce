//! What a run must have gone through before its small differences mean anything.

use crate::cells;
use crate::chat::Record;
use crate::modes::Mode;

/// What a run with this cache has missed, in words.
pub(crate) fn missed(mode: Mode, trees: bool, record: &Record) -> Vec<&'static str> {
    let mut wanted = vec![
        (record.compared == record.logits, "a comparison of every logit vector"),
        (record.chunks > 1, "a text read in several chunks"),
        (record.kept > 0, "a draft that was kept"),
        (record.kept < record.drafted, "a draft that was rejected"),
        (record.rewinds > 0, "a rewind"),
        (record.moved > 0 || !trees, "a right draft whose row had to move"),
    ];
    if mode != Mode::Flat {
        // The ring layer is the first that the trace follows.
        let ring = cells::of(&record.trace, 0);
        wanted.extend([
            (!ring.wraps.is_empty(), "a ring that comes round"),
            (!ring.evictions.is_empty(), "a row overwritten that still held its position"),
            (record.late_rewinds > 0, "a rewind after the ring came round"),
            (record.refused > 0, "a rewind that a window forbids"),
        ]);
    }
    wanted.into_iter().filter(|(seen, _)| !seen).map(|(_, what)| what).collect()
}
