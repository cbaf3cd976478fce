//! The command line.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::modes::Mode;

pub(crate) const USAGE: &str = "\
Generates text with a small random model whose K/V cache is kept by kvcore, and checks every logit vector
against a recomputation without any cache.

usage: generate [--prompt TEXT] [--tokens N] [--mode MODE] [--tree | --pool] [--map FILE.svg]

  --prompt TEXT    what the chat begins with, 1 to 4096 bytes of any kind
  --tokens N       tokens of each reply, 1 to 512 (24)
  --mode MODE      flat, ring, sinks, mixed or all (all)
  --tree           draft several continuations at once, as a token tree
  --pool           several chats that share a pool of cells and a system prompt, with trees and context shifts
  --map FILE.svg   draw which row held which position at each step (of the mixed model, or of MODE); with --pool,
                   whose it was
  --help           this text

Ends with 0 when all checks passed, 1 when one failed or had nothing to check, 2 when the command line makes
no sense or FILE cannot be opened for writing.
";

const DEFAULT_PROMPT: &str =
    "Sing, O goddess, of the cache whose window slides: of rows that are written, and read, and taken back.";
const MOST_PROMPT: usize = 4096;
const MOST_TOKENS: usize = 512;

pub(crate) struct Options {
    /// Bytes, as the model reads them: they need not be UTF-8.
    pub(crate) prompt: Vec<u8>,
    pub(crate) tokens: usize,
    pub(crate) modes: Vec<Mode>,
    /// Whether drafts are trees.
    pub(crate) trees: bool,
    /// Whether there are several chats in a pool, and not one in a cache of its own.
    pub(crate) pool: bool,
    pub(crate) map: Option<PathBuf>,
}

/// The options, or None if help is wanted.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Option<Options>, String> {
    let mut options = Options {
        prompt: DEFAULT_PROMPT.into(),
        tokens: 24,
        modes: Mode::ALL.to_vec(),
        trees: false,
        pool: false,
        map: None,
    };
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let name = argument.to_string_lossy().into_owned();
        if name == "--help" || name == "-h" {
            return Ok(None);
        }
        if let Some(flag) = match name.as_str() {
            "--tree" => Some(&mut options.trees),
            "--pool" => Some(&mut options.pool),
            _ => None,
        } {
            *flag = true;
            continue;
        }
        if !["--prompt", "--tokens", "--mode", "--map"].contains(&name.as_str()) {
            return Err(format!("unknown argument '{name}'"));
        }
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--prompt" => options.prompt = prompt(&value)?,
            "--tokens" => options.tokens = tokens(&value)?,
            "--mode" => options.modes = modes(&value)?,
            _ => options.map = Some(map(value)?),
        }
    }
    if options.trees && options.pool {
        return Err("--tree is for a single chat: with --pool the drafts are trees anyway".into());
    }
    if let Some(file) = &options.map {
        // Better known now than after a long run. What is in the file stays until then.
        File::options().append(true).create(true).open(file).map_err(|error| not_written(file, &error))?;
    }
    Ok(Some(options))
}

pub(crate) fn not_written(file: &Path, error: &io::Error) -> String {
    format!("cannot write '{}': {error}", file.display())
}

fn prompt(value: &OsStr) -> Result<Vec<u8>, String> {
    let bytes = value.as_encoded_bytes();
    match bytes.len() {
        0 => Err("the prompt is empty: the model needs a byte to start from".into()),
        1..=MOST_PROMPT => Ok(bytes.to_vec()),
        len => Err(format!("the prompt has {len} bytes, {MOST_PROMPT} are the most")),
    }
}

fn tokens(value: &OsStr) -> Result<usize, String> {
    let text = value.to_string_lossy();
    match text.parse() {
        Ok(n @ 1..=MOST_TOKENS) => Ok(n),
        _ => Err(format!("--tokens {text}: a whole number from 1 to {MOST_TOKENS} is wanted")),
    }
}

fn modes(value: &OsStr) -> Result<Vec<Mode>, String> {
    let text = value.to_string_lossy();
    if text == "all" {
        return Ok(Mode::ALL.to_vec());
    }
    match Mode::ALL.into_iter().find(|mode| mode.name() == text) {
        Some(mode) => Ok(vec![mode]),
        None => Err(format!("--mode {text}: flat, ring, sinks, mixed or all is wanted")),
    }
}

fn map(value: OsString) -> Result<PathBuf, String> {
    if value.is_empty() || value.as_encoded_bytes().starts_with(b"--") {
        return Err("--map needs the name of a file".into());
    }
    Ok(value.into())
}
