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

/// Where a set of numbers below `n` stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set {
    base: usize,
    n: u32,
}

impl Set {
    /// The set whose first word is at `base`.
    #[inline]
    pub(crate) const fn at(base: usize, n: u32) -> Self {
        Self { base, n }
    }

    /// Words of a set of numbers below `n`, summaries included.
    pub(crate) const fn words(n: u32) -> usize {
        let set = Self::at(0, n);
        set.base_of(set.levels())
    }

    const fn levels(self) -> u32 {
        let mut level = 1;
        while self.len(level - 1) > 1 {
            level += 1;
        }
        level
    }

    #[inline]
    const fn len(self, level: u32) -> usize {
        level_len(self.n, level)
    }

    /// The members in leaf word `at`.
    #[inline]
    pub(crate) fn word(self, words: &[u32], at: usize) -> u32 {
        get(words, self.base + at)
    }

    #[inline]
    pub(crate) fn contains(self, words: &[u32], number: u32) -> bool {
        self.word(words, number as usize / 32) & bit(number) != 0
    }

    /// O(1), at worst O(log n).
    pub(crate) fn insert(self, words: &mut [u32], number: u32) {
        let at = number as usize / 32;
        self.put(words, at, self.word(words, at) | bit(number));
    }

    /// O(1), at worst O(log n).
    pub(crate) fn remove(self, words: &mut [u32], number: u32) {
        let at = number as usize / 32;
        self.put(words, at, self.word(words, at) & !bit(number));
    }

    /// Replaces the members in leaf word `at`. O(1), at worst O(log n).
    pub(crate) fn put(self, words: &mut [u32], at: usize, value: u32) {
        let old = self.word(words, at);
        put(words, self.base + at, value);
        if (old == 0) != (value == 0) {
            self.summarize(words, at, value != 0);
        }
    }

    /// Tells the levels above that a leaf word became empty or no longer is.
    #[inline(never)]
    fn summarize(self, words: &mut [u32], mut at: usize, mut some: bool) {
        let mut base = self.base;
        for level in 1..self.levels() {
            base += self.len(level - 1);
            let (old, bit) = (get(words, base + at / 32), bit(at as u32));
            let new = if some { old | bit } else { old & !bit };
            put(words, base + at / 32, new);
            if (old == 0) == (new == 0) {
                return;
            }
            (at, some) = (at / 32, new != 0);
        }
    }

    /// The lowest member. O(log n).
    pub(crate) fn first(self, words: &[u32]) -> Option<u32> {
        self.descend(words, self.levels(), 0, 0, 0).map(|number| number as u32)
    }

    /// The highest member. O(log n).
    pub(crate) fn last(self, words: &[u32]) -> Option<u32> {
        self.descend(words, self.levels(), 0, 0, 31).map(|number| number as u32)
    }

    /// From word `at` of the level below `top` down to a word of level `bottom`, or with `bottom` 0 to a member: by the lowest bits for
    /// `side` 0, by the highest for 31.
    fn descend(self, words: &[u32], top: u32, mut at: usize, bottom: u32, side: u32) -> Option<usize> {
        let mut base = self.base_of(top);
        for level in (bottom..top).rev() {
            base -= self.len(level);
            at = at * 32 + outermost(get(words, base + at), side)?;
        }
        Some(at)
    }

    /// The first word of a level, or behind the last one.
    const fn base_of(self, level: u32) -> usize {
        let (mut base, mut below) = (self.base, 0);
        while below < level {
            base += self.len(below);
            below += 1;
        }
        base
    }

    /// The first leaf word from `from` on that has members. O(1) when it is `from`, else O(log n).
    pub(crate) fn next_word(self, words: &[u32], from: usize) -> Option<usize> {
        if from < self.len(0) && self.word(words, from) != 0 {
            return Some(from);
        }
        self.neighbour(words, from, 0)
    }

    /// The last leaf word before `end` that has members. O(1) when it is the one before, else O(log n).
    pub(crate) fn previous_word(self, words: &[u32], end: usize) -> Option<usize> {
        let before = end.checked_sub(1)?;
        if self.word(words, before) != 0 {
            return Some(before);
        }
        self.neighbour(words, before, 31)
    }

    /// The nearest leaf word beside `at` that has members: above it for `side` 0, below it for 31.
    #[inline(never)]
    fn neighbour(self, words: &[u32], mut at: usize, side: u32) -> Option<usize> {
        if at >= self.len(0) {
            return None;
        }
        for level in 1..self.levels() {
            let below = bit(at as u32) - 1;
            let beside = if side == 0 { !below & !bit(at as u32) } else { below };
            at /= 32;
            if let Some(nearest) = outermost(get(words, self.base_of(level) + at) & beside, side) {
                return self.descend(words, level, at * 32 + nearest, 1, side);
            }
        }
        None
    }

    /// The leaf words that have members, ascending.
    pub(crate) fn cursor(self) -> Cursor {
        Cursor { set: self, at: 0 }
    }

    /// Takes every member out. O(n / 32).
    pub(crate) fn clear(self, words: &mut [u32]) {
        if let Some(words) = words.get_mut(self.base..self.base + Self::words(self.n)) {
            words.fill(0);
        }
    }

    /// Makes every number below `n` a member. O(n / 32).
    pub(crate) fn fill(self, words: &mut [u32]) {
        let (mut base, mut numbers) = (self.base, self.n as usize);
        for level in 0..self.levels() {
            let len = self.len(level);
            for at in 0..len {
                let here = (numbers - at * 32).min(32) as u32;
                put(words, base + at, u32::MAX >> (32 - here));
            }
            (base, numbers) = (base + len, len);
        }
    }
}

/// The lowest bit of a word for `side` 0, the highest for 31; none of 0.
#[inline]
const fn outermost(word: u32, side: u32) -> Option<usize> {
    match (word, side) {
        (0, _) => None,
        (_, 0) => Some(word.trailing_zeros() as usize),
        _ => Some(word.ilog2() as usize),
    }
}

/// Goes over the leaf words of a set that have members, while the caller changes what it passed.
pub(crate) struct Cursor {
    set: Set,
    at: usize,
}

impl Cursor {
    /// The next such word and its members.
    #[inline]
    pub(crate) fn next(&mut self, words: &[u32]) -> Option<(usize, u32)> {
        let at = self.set.next_word(words, self.at)?;
        self.at = at + 1;
        Some((at, self.set.word(words, at)))
    }
}

/// Words of a level: a bit for each word of the level below, on the leaf level for each number.
#[inline]
const fn level_len(n: u32, level: u32) -> usize {
    let shift = 5 * (level + 1);
    ((n as u64 + (1 << shift) - 1) >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::{Set, members};
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// Small, deterministic, good enough to pick numbers.
    fn next(state: &mut u32) -> u32 {
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        *state
    }

    fn check(set: Set, words: &[u32], model: &BTreeSet<u32>, n: u32) {
        assert_eq!(set.first(words), model.first().copied());
        assert_eq!(set.last(words), model.last().copied());
        let (mut cursor, mut seen) = (set.cursor(), Vec::new());
        while let Some((at, bits)) = cursor.next(words) {
            seen.extend(members(at, bits));
        }
        assert!(seen.iter().eq(model));
        let mut end = n.div_ceil(32) as usize;
        let mut back = Vec::new();
        while let Some(at) = set.previous_word(words, end) {
            let here: Vec<u32> = members(at, set.word(words, at)).collect();
            back.extend(here.into_iter().rev());
            end = at;
        }
        assert!(back.iter().eq(model.iter().rev()));
    }

    #[test]
    fn a_set_is_what_a_tree_set_is() {
        for n in [1, 2, 31, 32, 33, 100, 1024, 1025, 33_000, 1_100_000] {
            let set = Set::at(3, n);
            let mut words = vec![0; 3 + Set::words(n) + 1];
            let (mut model, mut state) = (BTreeSet::new(), 77 + n);
            for round in 0..300 {
                let number = next(&mut state) % n;
                if next(&mut state) % 3 == 0 {
                    set.remove(&mut words, number);
                    model.remove(&number);
                } else {
                    set.insert(&mut words, number);
                    model.insert(number);
                }
                assert_eq!(set.contains(&words, number), model.contains(&number));
                if round % 10 == 0 {
                    check(set, &words, &model, n);
                }
            }
            set.clear(&mut words);
            check(set, &words, &BTreeSet::new(), n);
            set.fill(&mut words);
            assert_eq!((set.first(&words), set.last(&words)), (Some(0), Some(n - 1)));
            assert_eq!(words.last(), Some(&0), "nothing behind the set is touched");
            if n <= 33_000 {
                check(set, &words, &(0..n).collect(), n);
            }
        }
    }
}
