//! Choosing the next byte, and guessing several ahead.

use std::ops::RangeInclusive;

use crate::model::{Logits, Model, Rng};

/// The model is random: keeping to printable bytes makes its text fit a line.
const PRINTABLE: RangeInclusive<u8> = b' '..=b'~';

/// Draws a byte. The draw depends on the place in the text and on the `attempt` only, so drafts cannot change
/// what is said, and a second attempt says something else.
pub(crate) fn sample(logits: &Logits, place: usize, attempt: u32) -> u8 {
    byte_at(logits, draw(place, attempt))
}

fn draw(place: usize, attempt: u32) -> f32 {
    let seed = u64::from(attempt) << 32 | place as u64;
    Rng::new(seed).uniform()
}

/// The byte that a draw between 0 and 1 falls on.
fn byte_at(logits: &Logits, draw: f32) -> u8 {
    let mut highest = f32::NEG_INFINITY;
    for token in PRINTABLE {
        highest = highest.max(logits[usize::from(token)]);
    }
    let mut total = 0.0;
    for token in PRINTABLE {
        total += (logits[usize::from(token)] - highest).exp();
    }
    let mut left = draw * total;
    for token in PRINTABLE {
        left -= (logits[usize::from(token)] - highest).exp();
        if left < 0.0 {
            return token;
        }
    }
    *PRINTABLE.end()
}

/// Guesses what the model will say after `last`: the same draws from the model without its layers. Cheap, and
/// often wrong, as drafts are.
pub(crate) fn draft(model: &Model, mut last: u8, place: usize, attempt: u32, n: usize) -> Vec<u8> {
    let mut drafts = Vec::with_capacity(n);
    for ahead in 0..n {
        last = sample(&model.logits(&model.embed(last)), place + ahead, attempt);
        drafts.push(last);
    }
    drafts
}

/// Two guesses: the byte that the draw falls on, and the next one that lies beside it.
pub(crate) fn guesses(logits: &Logits, place: usize, attempt: u32) -> [u8; 2] {
    /// Small against the probability of most bytes that are ever drawn.
    const STEP: f32 = 1.0 / 64.0;
    let draw = draw(place, attempt);
    let first = byte_at(logits, draw);
    let mut others = (1..64).map(|steps| byte_at(logits, (draw + steps as f32 * STEP).fract()));
    let second = others.find(|other| *other != first);
    [first, second.unwrap_or(first)]
}
