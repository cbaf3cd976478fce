//! What one conversation went through, token by token, kept apart from any cache.

use crate::model::State;
use crate::reference::Reading;

#[derive(Clone)]
enum Past {
    Token(u8),
    /// The positions `from..from + len` were dropped, and what stood behind them moved up.
    Shift {
        from: usize,
        len: usize,
    },
}

#[derive(Clone, Default)]
pub(crate) struct Log {
    past: Vec<Past>,
}

impl Log {
    pub(crate) fn read(&mut self, tokens: &[u8]) {
        self.past.extend(tokens.iter().map(|&token| Past::Token(token)));
    }

    pub(crate) fn shift(&mut self, from: usize, len: usize) {
        self.past.push(Past::Shift { from, len });
    }

    /// Tokens read, those that were dropped since included.
    pub(crate) fn tokens(&self) -> usize {
        self.past.iter().filter(|past| matches!(past, Past::Token(_))).count()
    }

    /// The tokens that are left, by their positions.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for past in &self.past {
            match *past {
                Past::Token(token) => text.push(token),
                Past::Shift { from, len } => drop(text.drain(from..from + len)),
            }
        }
        text
    }

    /// Goes through all of it, from the first token on. Answers what comes out for each token.
    pub(crate) fn replay(&self, reading: &mut Reading<'_>) -> Vec<State> {
        let (mut states, mut text) = (Vec::new(), Vec::new());
        for past in &self.past {
            match *past {
                Past::Token(token) => text.push(token),
                Past::Shift { from, len } => {
                    states.extend(reading.read(&text));
                    text.clear();
                    reading.shift(from, len);
                }
            }
        }
        states.extend(reading.read(&text));
        states
    }
}
