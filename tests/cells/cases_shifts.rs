//! The cases of context shifts, C6 to C8, each with its neighbours.

use kvcore::{Error, MASK_EXPLICIT, Shift, UNBOUNDED};

use crate::cases::{flat, positions};
use crate::pair::on;
use crate::setup::Setup;

/// C6: what is not rotated yet adds up.
#[test]
fn c6_two_shifts_are_one_pending_delta() {
    on(&flat(8, 1), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 5).expect("room");
        pair.seq_shift(a, 2, 5, 10).expect("free positions");
        pair.seq_shift(a, 12, 15, -3).expect("free positions");
        assert_eq!(positions(pair, 0)[..5], [Some(0), Some(1), Some(9), Some(10), Some(11)]);
        assert_eq!(pair.read_shifts(0), Ok(vec![Shift { row: 2, len: 3, delta: 7 }]));
        // A part of it: runs of equal deltas.
        pair.seq_shift(a, 10, 11, 20).expect("a free position");
        let runs = [(2, 7), (3, 27), (4, 7)].map(|(row, delta)| Shift { row, len: 1, delta });
        assert_eq!(pair.read_shifts(0), Ok(runs.to_vec()));
        // What comes to nothing is not pending.
        pair.seq_shift(a, 30, 31, -27).expect("a free position");
        pair.seq_shift(a, 9, 12, -7).expect("free positions");
        assert_eq!((pair.read_shifts(0), pair.cache.next_pos(a)), (Ok(vec![]), Ok(5)));
        // Without any, nothing is frozen.
        pair.append(a, 1).expect("room");
        pair.seq_shift(a, 0, 6, 1).expect("free positions");
        pair.apply_shifts();
        assert_eq!(pair.cache.n_shifts(0), Ok(0));
        // Another occupant of a row does not inherit a delta.
        pair.seq_shift(a, 0, 9, 1).expect("free positions");
        pair.rewind(a, 4).expect("nothing was dropped");
        pair.append(a, 3).expect("room");
        assert_eq!(pair.read_shifts(0), Ok(vec![Shift { row: 0, len: 2, delta: 1 }]));
    });
}

/// C6, at the far ends: positions and the sum of the deltas.
#[test]
fn c6_a_shift_that_leads_nowhere_moves_nothing() {
    on(&Setup { max_context: 40, ..flat(8, 1) }, |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 4).expect("room");
        for (from, delta) in [(0, -1), (0, 37), (1, -1), (2, -2), (0, i32::MIN), (3, i32::MAX)] {
            assert_eq!(
                pair.seq_shift(a, from, UNBOUNDED, delta),
                Err(Error::BadPosition),
                "{from} by {delta}"
            );
        }
        assert_eq!(pair.seq_shift(a, 0, 2, 2), Err(Error::BadPosition));
        assert_eq!(pair.cache.n_shifts(0), Ok(0));
        pair.seq_shift(a, 0, UNBOUNDED, 36).expect("just below max_context");
        pair.seq_shift(a, 0, 36, -50).expect("nothing is there");
        pair.seq_shift(a, 36, 38, -36).expect("down to 0");
    });
    on(&flat(8, 1), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.step(&[a, a], &[5, 5 + (1 << 31)]).expect("room");
        // Exactly onto what stays: the negative of this delta has no 32 bits.
        assert_eq!(pair.seq_shift(a, 6, UNBOUNDED, i32::MIN), Err(Error::BadPosition));
        pair.seq_remove(a, 5, 6).expect("it is live");
        pair.seq_shift(a, 6, UNBOUNDED, i32::MIN).expect("a free position");
        pair.apply_shifts();
        pair.seq_shift(a, 0, 6, i32::MAX).expect("a free position");
        // A backend could not be told a sum of more than 32 bits.
        assert_eq!(pair.seq_shift(a, 6, UNBOUNDED, 1), Err(Error::BadPosition));
        pair.apply_shifts();
        pair.seq_shift(a, 6, UNBOUNDED, i32::MAX - 6).expect("the highest position");
        assert_eq!(pair.cache.next_pos(a), Ok(UNBOUNDED - 1));
        pair.seq_shift(a, 6, UNBOUNDED, 1).expect("the highest position");
        assert_eq!(pair.seq_shift(a, 6, UNBOUNDED, 1), Err(Error::BadPosition));
        assert_eq!(pair.cache.next_pos(a), Ok(UNBOUNDED));
    });
}

/// C7: positions have moved when the shift returns.
#[test]
fn c7_a_removal_after_a_shift_uses_the_shifted_positions() {
    on(&flat(8, 1), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 8).expect("room");
        pair.seq_remove(a, 2, 4).expect("it is live");
        pair.seq_shift(a, 4, UNBOUNDED, -2).expect("the gap");
        assert_eq!((pair.cache.next_pos(a), pair.cache.seq_len(a)), (Ok(6), Ok(6)));
        pair.seq_remove(a, 2, 4).expect("it is live");
        let left = [Some(0), Some(1), None, None, None, None, Some(4), Some(5)];
        assert_eq!(positions(pair, 0), left);
        pair.seq_shift(a, 4, 6, -2).expect("the gap");
        assert_eq!(pair.read_shifts(0), Ok(vec![Shift { row: 6, len: 2, delta: -4 }]));
        let step = pair.append(a, 2).expect("room");
        assert_eq!((step.mask, step.write_start), (MASK_EXPLICIT, 2));
        assert_eq!(pair.model.placed(0).expect("a step").1, [4, 5]);
    });
}

/// C8: a cell has one position.
#[test]
fn c8_a_shift_over_a_shared_cell_moves_nothing() {
    on(&flat(16, 2), |pair| {
        let a = pair.seq_new().expect("an id");
        pair.append(a, 4).expect("room");
        let b = pair.seq_clone(a, 3).expect("an id");
        pair.append(b, 2).expect("room");
        for seq in [a, b] {
            for (from, to) in [(0, UNBOUNDED), (2, 3), (0, 1), (2, 9)] {
                assert_eq!(pair.seq_shift(seq, from, to, 20), Err(Error::Shared));
            }
        }
        // Before anything about positions is asked; and a shift by nothing moves nobody.
        assert_eq!(pair.seq_shift(a, 0, UNBOUNDED, -1), Err(Error::Shared));
        assert_eq!(pair.seq_shift(a, 0, UNBOUNDED, 0), Ok(()));
        assert_eq!(pair.cache.n_shifts(0), Ok(0));
        // What is behind the shared part is free to go, each on its own.
        pair.seq_shift(a, 3, UNBOUNDED, 5).expect("a's alone");
        pair.seq_shift(b, 3, UNBOUNDED, 6).expect("b's alone");
        let runs = [(3, 1, 5), (4, 2, 6)].map(|(row, len, delta)| Shift { row, len, delta });
        assert_eq!(pair.read_shifts(0), Ok(runs.to_vec()));
        pair.seq_release(b).expect("it is live");
        pair.seq_shift(a, 0, 3, 1).expect("a's alone by now");
        // A clone shares what is pending with the cell.
        let b = pair.seq_clone(a, UNBOUNDED).expect("an id");
        pair.seq_release(a).expect("it is live");
        pair.seq_shift(b, 0, 9, -1).expect("b's alone by now");
        assert_eq!(pair.read_shifts(0), Ok(vec![Shift { row: 3, len: 1, delta: 4 }]));
    });
}
