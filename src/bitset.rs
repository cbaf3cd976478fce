//! Sets of small numbers, as bits with summaries, in words that somebody else keeps.
//!
//! The leaf level has one bit for each number. Each level above has one bit for each word of the level below, set where
//! that word is not zero; the last level is one word. So the lowest and the highest member, and the next word with a member,
//! are found in O(log32 n).

/// The word at an index; 0 behind the end, which no caller reaches.
#[inline]
pub(crate) fn get(words: &[u32], at: usize) -> u32 {
    words.get(at).copied().unwrap_or(0)
}

/// Sets the word at an index.
#[inline]
pub(crate) fn put(words: &mut [u32], at: usize, value: u32) {
    if let Some(word) = words.get_mut(at) {
        *word = value;
    }
}

/// The bit of a number in its word.
#[inline]
pub(crate) const fn bit(number: u32) -> u32 {
    1 << (number % 32)
}

/// The members of a leaf word, ascending.
#[inline]
pub(crate) fn members(at: usize, mut bits: u32) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let lowest = (bits != 0).then(|| at as u32 * 32 + bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(lowest)
    })
}

/// Words of a set of numbers below `n`, 1 or more, summaries included.
pub(crate) const fn set_words(n: u32) -> usize {
    let (mut words, mut level) = (level_len(n, 0), 0);
    while level_len(n, level) > 1 {
        level += 1;
        words += level_len(n, level);
    }
    words
}

/// Words of a level: a bit for each word of the level below, on the leaf level for each number.
#[inline]
const fn level_len(n: u32, level: u32) -> usize {
    match (n - 1).checked_shr(5 * (level + 1)) {
        Some(last) => last as usize + 1,
        None => 1,
    }
}

/// Words with sets of numbers below `n` in them, to look at. A set is known by the index of its first word.
#[derive(Clone, Copy)]
pub(crate) struct Sets<'w> {
    pub(crate) words: &'w [u32],
    pub(crate) n: u32,
}

impl Sets<'_> {
    #[inline]
    pub(crate) fn get(&self, at: usize) -> u32 {
        get(self.words, at)
    }

    /// The members in leaf word `at`.
    #[inline]
    pub(crate) fn word(&self, set: usize, at: usize) -> u32 {
        self.get(set + at)
    }

    #[inline]
    pub(crate) fn contains(&self, set: usize, number: u32) -> bool {
        self.word(set, number as usize / 32) & bit(number) != 0
    }

    /// The highest member. O(log n).
    pub(crate) fn last(&self, set: usize) -> Option<u32> {
        let at = self.previous_word(set, level_len(self.n, 0))?;
        Some(at as u32 * 32 + 31 - self.word(set, at).leading_zeros())
    }

    /// The first leaf word from `from` on that has members. O(1) when it is `from`, else O(log n).
    #[inline]
    pub(crate) fn next_word(&self, set: usize, from: usize) -> Option<usize> {
        if from >= level_len(self.n, 0) {
            return None;
        }
        if self.word(set, from) != 0 { Some(from) } else { self.neighbour(set, from, true) }
    }

    /// The last leaf word before `end` that has members. O(1) when it is the one before, else O(log n).
    pub(crate) fn previous_word(&self, set: usize, end: usize) -> Option<usize> {
        let before = end.checked_sub(1)?;
        if self.word(set, before) != 0 { Some(before) } else { self.neighbour(set, before, false) }
    }

    /// The nearest leaf word beside `at` that has members: above or below it.
    #[inline(never)]
    fn neighbour(&self, set: usize, mut at: usize, above: bool) -> Option<usize> {
        let (mut base, mut level) = (set, 0);
        // Up to a word with a member on that side, then down by the members nearest to where it began.
        let mut beside = loop {
            let len = level_len(self.n, level);
            if len == 1 {
                return None;
            }
            (base, level) = (base + len, level + 1);
            let below = bit(at as u32) - 1;
            at /= 32;
            let beside = self.get(base + at) & if above { !(below << 1 | 1) } else { below };
            if beside != 0 {
                break beside;
            }
        };
        loop {
            let nearest = if above { beside.trailing_zeros() } else { beside.checked_ilog2()? };
            (at, level) = (at * 32 + nearest as usize, level - 1);
            if level == 0 {
                return Some(at);
            }
            base -= level_len(self.n, level);
            beside = self.get(base + at);
        }
    }
}

/// The same to change.
pub(crate) struct SetsMut<'w> {
    pub(crate) words: &'w mut [u32],
    pub(crate) n: u32,
}

impl SetsMut<'_> {
    #[inline]
    pub(crate) fn read(&self) -> Sets<'_> {
        Sets { words: self.words, n: self.n }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> u32 {
        get(self.words, at)
    }

    #[inline]
    pub(crate) fn put(&mut self, at: usize, value: u32) {
        put(self.words, at, value);
    }

    /// O(1), at worst O(log n).
    pub(crate) fn insert(&mut self, set: usize, number: u32) {
        self.join(set, number as usize / 32, bit(number));
    }

    /// O(1), at worst O(log n).
    pub(crate) fn remove(&mut self, set: usize, number: u32) {
        self.part(set, number as usize / 32, bit(number));
    }

    /// Makes `bits` of leaf word `at` members. O(1), at worst O(log n).
    pub(crate) fn join(&mut self, set: usize, at: usize, bits: u32) {
        let old = self.get(set + at);
        self.replace(set, at, old | bits);
    }

    /// Takes `bits` of leaf word `at` out. O(1), at worst O(log n).
    pub(crate) fn part(&mut self, set: usize, at: usize, bits: u32) {
        let old = self.get(set + at);
        self.replace(set, at, old & !bits);
    }

    /// Replaces the members in leaf word `at`.
    fn replace(&mut self, set: usize, at: usize, new: u32) {
        let old = self.get(set + at);
        self.put(set + at, new);
        if (old == 0) != (new == 0) {
            self.summarize(set, at, new != 0);
        }
    }

    /// Tells the levels above that a leaf word became empty or no longer is.
    #[inline(never)]
    fn summarize(&mut self, set: usize, mut at: usize, mut some: bool) {
        let (mut base, mut level) = (set, 0);
        loop {
            let len = level_len(self.n, level);
            if len == 1 {
                return;
            }
            (base, level) = (base + len, level + 1);
            let (old, bit) = (self.get(base + at / 32), bit(at as u32));
            let new = if some { old | bit } else { old & !bit };
            self.put(base + at / 32, new);
            if (old == 0) == (new == 0) {
                return;
            }
            (at, some) = (at / 32, new != 0);
        }
    }

    /// Takes every member out. O(n / 32).
    pub(crate) fn clear(&mut self, set: usize) {
        if let Some(words) = self.words.get_mut(set..set + set_words(self.n)) {
            words.fill(0);
        }
    }

    /// Makes every number below `n` a member of an empty set. O(n / 32).
    pub(crate) fn fill(&mut self, set: usize) {
        for at in 0..level_len(self.n, 0) {
            let here = (self.n - at as u32 * 32).min(32);
            self.join(set, at, u32::MAX >> (32 - here));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sets, SetsMut, members, set_words};
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// Where the set begins.
    const SET: usize = 3;

    /// Small, deterministic, good enough to pick numbers.
    fn next(state: &mut u32) -> u32 {
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        *state
    }

    fn check(sets: Sets<'_>, model: &BTreeSet<u32>) {
        assert_eq!(sets.last(SET), model.last().copied());
        let (mut from, mut seen) = (0, Vec::new());
        while let Some(at) = sets.next_word(SET, from) {
            seen.extend(members(at, sets.word(SET, at)));
            from = at + 1;
        }
        assert!(seen.iter().eq(model));
        let mut end = sets.n.div_ceil(32) as usize;
        let mut back = Vec::new();
        while let Some(at) = sets.previous_word(SET, end) {
            let here: Vec<u32> = members(at, sets.word(SET, at)).collect();
            back.extend(here.into_iter().rev());
            end = at;
        }
        assert!(back.iter().eq(model.iter().rev()));
    }

    #[test]
    fn a_set_is_what_a_tree_set_is() {
        for n in [1, 2, 31, 32, 33, 100, 1024, 1025, 33_000, 1_100_000] {
            let mut words = vec![0; SET + set_words(n) + 1];
            let mut sets = SetsMut { words: &mut words, n };
            let (mut model, mut state) = (BTreeSet::new(), 77 + n);
            for round in 0..300 {
                let number = next(&mut state) % n;
                if next(&mut state).is_multiple_of(3) {
                    sets.remove(SET, number);
                    model.remove(&number);
                } else {
                    sets.insert(SET, number);
                    model.insert(number);
                }
                assert_eq!(sets.read().contains(SET, number), model.contains(&number));
                if round % 10 == 0 {
                    check(sets.read(), &model);
                }
            }
            sets.clear(SET);
            check(sets.read(), &BTreeSet::new());
            sets.fill(SET);
            assert_eq!((sets.read().next_word(SET, 0), sets.read().last(SET)), (Some(0), Some(n - 1)));
            assert_eq!(sets.words.last(), Some(&0), "nothing behind the set is touched");
            if n <= 33_000 {
                check(sets.read(), &(0..n).collect());
            }
        }
    }
}
