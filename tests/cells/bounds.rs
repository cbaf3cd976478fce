//! How many cells windows need, what pools of their own save, what a rewind still finds; and long conversations.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use kvcore::config::{KEEP_CELLS, SPLIT_POOLS};
use kvcore::{Error, Layer, Move, UNBOUNDED};

use crate::pair::{Pair, on};
use crate::setup::Setup;

/// A step of `batch` tokens, dealt out to the sequences in another way each time.
fn deal(pair: &mut Pair<'_>, seqs: u32, batch: u32, round: u32) -> Result<(), Error> {
    let all_to_one = round.is_multiple_of(3);
    let of = |token: u32| if all_to_one { round / 3 % seqs } else { (token + round) % seqs };
    let tokens: Vec<u32> = (0..batch).map(of).collect();
    let mut next: Vec<u32> = (0..seqs).map(|seq| pair.cache.next_pos(seq).expect("it is live")).collect();
    let positions: Vec<u32> = tokens
        .iter()
        .map(|&seq| {
            next[seq as usize] += 1;
            next[seq as usize] - 1
        })
        .collect();
    pair.step(&tokens, &positions).map(|_| ())
}

/// Rounds that a cache of that many cells lasts, at most `rounds`.
fn lasts(setup: &Setup, batch: u32, rounds: u32) -> u32 {
    let mut lasted = 0;
    on(setup, |pair| {
        for seq in 0..setup.max_seqs {
            assert_eq!(pair.seq_new(), Ok(seq));
        }
        for round in 0..rounds {
            pair.audits = round % 7 == 0;
            match deal(pair, setup.max_seqs, batch, round) {
                Ok(()) => lasted += 1,
                Err(error) => return assert_eq!(error, Error::OutOfCapacity),
            }
        }
    });
    lasted
}

/// S sequences of window w and one step fit into `S * w + step` cells for ever. (A token sees itself: before a step a
/// sequence keeps `w - 1`.)
#[test]
fn windows_and_one_step_fit_for_ever() {
    for (seqs, window, batch) in [(1, 1, 1), (1, 4, 1), (2, 3, 5), (3, 1, 4), (4, 8, 2), (5, 2, 16)] {
        for (sinks, rollback) in [(0, 0), (2, 0), (0, 3), (1, 2)] {
            let layers = [Layer::ring(window).with_sinks(sinks)];
            let kept = sinks + window + rollback;
            for flags in [0, SPLIT_POOLS] {
                let new = |cells| Setup { rollback, flags, ..Setup::new(cells, seqs, &layers) };
                assert_eq!(lasts(&new(seqs * kept + batch), batch, 90), 90);
                let least = seqs * (kept - 1) + batch;
                assert_eq!(lasts(&new(least), batch, 90), 90, "{seqs} x {window}, {batch}");
                if least > batch.max(sinks + 1) {
                    assert!(lasts(&new(least - 1), batch, 90) < 90, "{seqs} x {window}, {batch}");
                }
            }
        }
    }
}

#[test]
fn kept_cells_and_full_layers_fill_the_pool() {
    let (window, mixed) = ([Layer::ring(4)], [Layer::ring(4), Layer::flat()]);
    assert_eq!(lasts(&Setup { flags: KEEP_CELLS, ..Setup::new(24, 1, &window) }, 2, 90), 12);
    assert_eq!(lasts(&Setup::new(24, 1, &mixed), 2, 90), 12);
    assert_eq!(lasts(&Setup { flags: SPLIT_POOLS, max_write: 2, ..Setup::new(24, 1, &mixed) }, 2, 90), 12);
    // Of several windows in one pool the largest keeps.
    let windows = [Layer::ring(2), Layer::ring(6).with_sinks(1), Layer::ring(4).with_sinks(3)];
    assert_eq!(lasts(&Setup::new(3 + 5 + 2, 1, &windows), 2, 90), 90);
    assert!(lasts(&Setup::new(3 + 5 + 1, 1, &windows), 2, 90) < 90);
}

/// A pool of its own: rows of each, and a full layer that does not keep a windowed layer's cells.
#[test]
fn split_pools_are_as_large_as_their_windows() {
    let layers = [Layer::flat(), Layer::ring(4), Layer::ring(6).with_sinks(2), Layer::ring(4)];
    for (max_write, capacity, rollback, rows) in [
        (3, 100, 0, [100, 15, 27, 15]),
        (3, 100, 5, [100, 30, 42, 30]),
        (0, 100, 0, [100, 100, 100, 100]),
        (3, 20, 0, [20, 15, 20, 15]),
        (200, 60, 0, [60, 60, 60, 60]),
    ] {
        let setup = Setup { max_write, rollback, flags: SPLIT_POOLS, ..Setup::new(capacity, 3, &layers) };
        on(&setup, |pair| {
            let found = [0, 1, 2, 3].map(|layer| pair.cache.layer(layer).expect("a layer").rows);
            assert_eq!(found, rows, "{setup:?}");
        });
        on(&Setup { flags: 0, ..setup }, |pair| {
            assert!((0..4).all(|layer| pair.cache.layer(layer).expect("a layer").rows == capacity));
        });
    }
    let setup = Setup { max_write: 2, flags: SPLIT_POOLS, ..Setup::new(40, 2, &layers) };
    on(&setup, |pair| {
        let a = pair.seq_new().expect("an id");
        for _ in 0..20 {
            pair.append(a, 2).expect("room");
        }
        let used = |layer: u32| pair.model.layer_pool(layer).expect("a layer").used().count();
        // The last step is held as well.
        assert_eq!([used(0), used(1), used(2)], [40, 3 + 2, 2 + 5 + 2]);
        assert_eq!((pair.cache.seq_len(a), pair.cache.first_pos(a)), (Ok(40), Ok(0)));
        assert_eq!(pair.declare(&[a]), Err(Error::OutOfCapacity), "the full layer is full");
        // Each pool is compacted on its own.
        assert_eq!(pair.defrag(0, 9), Ok(0));
        assert!(pair.defrag(1, 9).is_ok() && pair.defrag(2, 9).is_ok());
        pair.rewind(a, 39).expect("within the last step");
        pair.append(a, 1).expect("room");
    });
}

/// Cells go when a step is declared, not before, and not with a step that is refused.
#[test]
fn a_window_lets_go_when_the_next_step_is_declared() {
    on(&Setup::new(9, 2, &[Layer::ring(3)]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 8).expect("room");
        assert_eq!((pair.cache.seq_len(a), pair.cache.free_rows()), (Ok(8), 1));
        assert_eq!((pair.cache.can_admit(a, 7), pair.cache.can_admit(a, 8)), (Ok(true), Ok(false)));
        assert_eq!(pair.declare(&[a; 8]), Err(Error::OutOfCapacity));
        assert_eq!(pair.cache.seq_len(a), Ok(8));
        // Until then all of it may be taken back.
        let clone = pair.seq_clone(a, 4).expect("an id");
        pair.seq_release(clone).expect("it is live");
        pair.declare(&[a]).expect("room");
        let (len, first) = (pair.cache.seq_len(a), pair.cache.first_pos(a));
        assert_eq!((len, first, pair.cache.next_pos(a)), (Ok(2), Ok(6), Ok(8)));
        pair.place(0, &[8]).expect("declared");
        for len in [1, 2, 5, 7] {
            assert_eq!(pair.rewind(a, len), Err(Error::Evicted), "to {len}");
            assert_eq!(pair.seq_clone(a, len), Err(Error::Evicted), "to {len}");
        }
        assert_eq!(pair.seq_remove(a, 7, UNBOUNDED), Err(Error::Evicted));
        assert_eq!(pair.rewind(a, 8), Ok(()), "what was declared is taken back");
        assert_eq!(pair.rewind(a, 0), Ok(()));
        assert_eq!(pair.cache.free_rows(), 9);
    });
}

/// So many tokens as `rollback` says can be taken back after the next step is declared.
#[test]
fn rollback_keeps_what_a_rewind_needs() {
    for rollback in 0..=4 {
        for (window, sinks) in [(1, 0), (3, 0), (3, 2), (5, 1)] {
            let layers = [Layer::ring(window).with_sinks(sinks)];
            on(&Setup { rollback, ..Setup::new(40, 3, &layers) }, |pair| {
                let a = pair.seq_new().expect("an id");
                pair.append(a, 20).expect("room");
                pair.declare(&[a]).expect("room");
                // A window of one needs nothing; otherwise one position further back is missing.
                let floor = if window == 1 { 1 } else { 20 - rollback };
                let refused = if window == 1 { 0..0 } else { sinks + 1..floor };
                for len in refused {
                    assert_eq!(
                        pair.rewind(a, len),
                        Err(Error::Evicted),
                        "{len} of {layers:?} and {rollback}"
                    );
                }
                for len in (floor..=20).rev() {
                    pair.rewind(a, len).unwrap_or_else(|error| panic!("{error}: {len} of {layers:?}"));
                }
                pair.append(a, 1).expect("room");
                assert_eq!(pair.shadow.excused, 0);
                // Sinks are never gone.
                for len in (1..=sinks).rev() {
                    pair.rewind(a, len).expect("within the sinks");
                }
            });
        }
    }
}

/// A window lets go for one owner; the cell stays for another whose window has not passed it.
#[test]
fn a_shared_cell_is_free_when_every_owners_window_has_passed() {
    on(&Setup::new(16, 2, &[Layer::ring(3)]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 3).expect("room");
        let b = pair.seq_clone(a, UNBOUNDED).expect("an id");
        for _ in 0..6 {
            pair.append(a, 1).expect("room");
        }
        // b still needs two of the first three tokens; a has taken the other's row meanwhile.
        assert_eq!([1, 2].map(|row| pair.cache.owners(0, row)), [Ok((1, 0b10)), Ok((2, 0b10))]);
        assert_eq!(pair.cache.seq_len(b), Ok(2));
        pair.append(b, 4).expect("room");
        pair.append(b, 1).expect("room");
        assert!(pair.model.layer_pool(0).expect("a layer").used().all(|(_, cell)| cell.position > 2));
    });
}

/// Behind a gap a sequence goes on where its tokens end: there its window must be whole.
#[test]
fn a_rewind_into_a_gap_needs_the_window_below_it() {
    on(&Setup::new(16, 1, &[Layer::ring(4)]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 8).expect("room");
        pair.step(&[a], &[50]).expect("room");
        // Nothing that a token at 49 would see was dropped yet, nor what one at 8 would.
        pair.rewind(a, 49).expect("the old end");
        assert_eq!(pair.cache.next_pos(a), Ok(8));
        pair.step(&[a], &[50]).expect("room");
        pair.append(a, 1).expect("room");
        // By now the tokens below the gap are gone, and the next one would stand at 8.
        assert_eq!(pair.rewind(a, 49), Err(Error::Evicted));
        assert_eq!(pair.seq_remove(a, 49, UNBOUNDED), Ok(()), "nothing is left: it starts anew");
        assert_eq!(pair.cache.next_pos(a), Ok(0));
        pair.append(a, 2).expect("room");
        assert_eq!(pair.shadow.excused, 0);
    });
}

/// What was dropped below moves with a shift of the lowest positions only.
#[test]
fn a_shift_of_nothing_brings_no_dropped_position_back() {
    on(&Setup::new(32, 1, &[Layer::ring(8)]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 20).expect("room");
        pair.append(a, 1).expect("room");
        assert_eq!(pair.cache.first_pos(a), Ok(13));
        pair.seq_shift(a, 0, 5, -3).expect("nothing is there");
        assert_eq!(pair.cache.next_pos(a), Ok(21));
        assert_eq!(pair.rewind(a, 19), Err(Error::Evicted));
        pair.seq_shift(a, 0, UNBOUNDED, -3).expect("all of it moves");
        assert_eq!(pair.rewind(a, 16), Err(Error::Evicted));
        pair.rewind(a, 17).expect("as 20 was before");
        pair.append(a, 1).expect("room");
        assert_eq!(pair.shadow.excused, 0);
    });
}

/// A sink that is shifted below what was dropped, and dropped itself, brings nothing of it back.
#[test]
fn what_was_dropped_first_stays_dropped() {
    on(&Setup::new(8, 1, &[Layer::ring(1).with_sinks(1)]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 3).expect("room");
        pair.step(&[a], &[6]).expect("room");
        pair.rewind(a, 6).expect("where it was");
        assert_eq!(pair.cache.next_pos(a), Ok(3), "1 and 2 were dropped");
        pair.seq_shift(a, 0, 1, 1).expect("nothing is held there");
        pair.declare(&[a]).expect("room");
        assert_eq!((pair.cache.seq_len(a), pair.cache.next_pos(a)), (Ok(0), Ok(3)));
        pair.seq_remove(a, 5, 6).expect("nothing is there");
        assert_eq!(pair.cache.next_pos(a), Ok(3));
    });
}

/// A shift that would set a sequence's end back to where its window was dropped moves nothing: the next token would miss some of what
/// it has to see, and a step there could not be cancelled.
#[test]
fn a_shift_of_the_end_onto_a_dropped_window_is_refused() {
    on(&Setup::new(24, 3, &[Layer::ring(8)]), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 20).expect("room");
        pair.declare(&[a]).expect("room");
        assert_eq!(pair.seq_shift(a, 15, UNBOUNDED, -12), Err(Error::Evicted));
        assert_eq!((pair.cache.first_pos(a), pair.cache.next_pos(a)), (Ok(13), Ok(20)));
        // All that is left may move down, and a step there is cancelled like any other.
        pair.seq_shift(a, 13, UNBOUNDED, -12).expect("a window's worth");
        assert_eq!((pair.cache.first_pos(a), pair.cache.next_pos(a)), (Ok(1), Ok(8)));
        pair.append(a, 2).expect("room");
        pair.rewind(a, 8).expect("the step is cancelled");
        assert_eq!(pair.shadow.excused, 0);
    });
    // The full layer still holds 0 to 3, the windowed one does not.
    let layers = [Layer::ring(8), Layer::flat()];
    on(&Setup { flags: SPLIT_POOLS, ..Setup::new(64, 2, &layers) }, |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 30).expect("room");
        pair.declare(&[a]).expect("room");
        pair.seq_remove(a, 4, 27).expect("it is live");
        assert_eq!(pair.seq_shift(a, 27, UNBOUNDED, -23), Err(Error::Evicted));
        assert_eq!(pair.cache.next_pos(a), Ok(30));
    });
}

/// The longest conversation: when the context is full, the oldest half but the first tokens goes, the rest moves down.
#[test]
fn a_conversation_goes_on_by_context_shifts() {
    let layers = [Layer::flat(), Layer::ring(12).with_sinks(4)];
    let one = Setup { max_write: 3, max_context: 64, ..Setup::new(64, 1, &layers) };
    for setup in [
        one.clone(),
        Setup { flags: SPLIT_POOLS, ..one.clone() },
        Setup { flags: SPLIT_POOLS, rollback: 5, ..one },
    ] {
        on(&setup, |pair| {
            let a = pair.seq_new().expect("an id");
            let mut shifts = 0;
            for round in 0..600 {
                pair.audits = round % 5 == 0 || round % 21 < 3;
                if !pair.cache.can_admit(a, 3).expect("it is live") {
                    pair.seq_remove(a, 4, 34).expect("it is live");
                    pair.seq_shift(a, 34, UNBOUNDED, -30).expect("the gap");
                    assert!(pair.cache.n_shifts(0).expect("a layer") >= 1);
                    shifts += 1;
                    if shifts % 3 == 0 {
                        pair.defrag(0, 1 + shifts % 5).expect("nothing is frozen");
                    }
                    // Now and then the model applies two at once.
                    if shifts % 4 != 0 {
                        pair.apply_shifts();
                    }
                }
                pair.append(a, 1 + round % 3).expect("room");
            }
            assert!(shifts > 30);
            assert_eq!(pair.shadow.excused, 0, "every window was whole");
        });
    }
}

/// Compaction in pieces, the forward going on in between.
#[test]
fn defrag_may_stop_half_way() {
    on(&Setup::new(40, 3, &[Layer::flat(), Layer::ring(6)]), |pair| {
        let seqs = [0, 1, 2].map(|_| pair.seq_new().expect("an id"));
        for at in 0..12 {
            pair.step(&seqs, &[at, at, at]).expect("room");
        }
        pair.seq_release(seqs[1]).expect("it is live");
        pair.seq_shift(seqs[2], 6, UNBOUNDED, 3).expect("free positions");
        for at in 12..16 {
            assert_eq!(pair.defrag(1, 1), Ok(1));
            pair.step(&[seqs[0], seqs[2]], &[at, at + 3]).expect("room");
        }
        while pair.defrag(0, 2).expect("nothing is frozen") > 0 {}
        assert_eq!(pair.model.layer_pool(0).expect("a layer").used().last().map(|(row, _)| row), Some(31));
        assert_eq!(pair.cache.defrag(0, &mut [Move::default(); 4]), Ok(0));
        pair.apply_shifts();
        pair.step(&[seqs[0], seqs[2]], &[16, 19]).expect("room");
    });
    // One move of a whole run, in order.
    on(&Setup::new(12, 2, &[Layer::flat()]), |pair| {
        let (a, b) = (pair.seq_new().expect("an id"), pair.seq_new().expect("an id"));
        pair.append(a, 4).expect("room");
        pair.append(b, 4).expect("room");
        pair.seq_release(a).expect("it is live");
        assert_eq!(pair.defrag(0, 1), Ok(1));
        assert!((0..4).all(|row| pair.cache.owners(0, row) == Ok((row, 0b10))), "order within a run is kept");
    });
}
