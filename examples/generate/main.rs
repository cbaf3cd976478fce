//! A decode loop with the K/V cache outside the model, and a proof that it is right.
//!
//! A small random model reads a prompt in chunks, replies, drafts tokens and takes them back, rewinds and
//! replies again, in four kinds of cache: flat, ring, ring with sinks, and mixed. With `--pool` several
//! conversations do so in one pool of cells. Every logit vector that came through a cache is compared with a
//! recomputation from scratch.
//!
//! Where to look: `backend.rs` does what plans say, `chat.rs` is the application, `run` below joins them. For
//! the pool of cells these are `cell_backend.rs`, `talks.rs` and `run_pool`.

// Positions, rows and sizes are small here: they all fit 32 bits, and 24 where they become floats.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]

mod args;
mod backend;
mod bytes;
mod cell_backend;
mod cells;
mod chat;
mod check;
mod drafts;
mod exercise;
#[cfg(test)]
mod faults;
mod frame;
mod labels;
mod legend;
mod log;
mod map;
mod model;
mod modes;
mod owner_map;
mod owners;
mod pool_record;
mod reference;
mod report;
mod sample;
mod svg;
mod talks;
mod trace;

use std::env;
use std::fs;
use std::io::{self, Write, stderr, stdout};
use std::path::Path;
use std::process::ExitCode;

use kvcore::{CellCache, Error, Registry, SequenceStorage, Session, cell_words};

use args::Options;
use backend::Backend;
use chat::Chat;
use check::Checker;
use model::{LAYERS, Model};
use modes::Mode;
use pool_record::PoolReport;
use report::Report;
use talks::Talks;

pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let options = match args::parse(env::args_os().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            return ended(stdout().write_all(args::USAGE.as_bytes()).map(|()| true).map_err(Into::into));
        }
        Err(message) => {
            let _ = writeln!(stderr(), "error: {message} (--help tells more)");
            return ExitCode::from(2);
        }
    };
    let run_all = if options.pool { run_pools } else { run_all };
    ended(run_all(&options, &mut stdout()))
}

/// 0 if all is well, 1 if not.
fn ended(outcome: Outcome<bool>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nobody is left to tell if this fails too.
            let _ = writeln!(stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the modes one after the other; answers whether every difference is within the bound, and everything
/// was exercised.
fn run_all(options: &Options, out: &mut io::Stdout) -> Outcome<bool> {
    let model = Model::new();
    let mut reports = Vec::new();
    for &mode in &options.modes {
        let report = run(mode, &model, options).map_err(|error| format!("{}: {error}", mode.name()))?;
        report.write_tokens(out)?;
        reports.push(report);
    }
    report::write_table(out, &reports)?;
    // Of all modes the mixed one is the last, and shows the most.
    if let (Some(file), Some(report)) = (&options.map, reports.last()) {
        write_map(out, file, &map::draw(report))?;
    }
    Ok(reports.iter().all(Report::all_well))
}

fn write_map(out: &mut io::Stdout, file: &Path, picture: &str) -> Outcome<()> {
    fs::write(file, picture).map_err(|error| args::not_written(file, &error))?;
    Ok(writeln!(out, "\nwrote {}", file.display())?)
}

/// One chat with one kind of cache. The cache has three owners, as in a real runtime: the registry's entry,
/// the application's session and the backend.
fn run(mode: Mode, model: &Model, options: &Options) -> Outcome<Report> {
    let storage = SequenceStorage::<LAYERS>::new();
    let registry = Registry::new();
    let layers = mode.layers();

    let cache = storage.init(&Mode::config(&layers))?;
    let session = Session::open(&registry, None, &cache)?;
    drop(cache); // the session has a reference of its own
    let key = session.key().as_str().ok_or("the key is no text")?;
    let mut backend = Backend::attach(&registry, key, model)?;

    let checker = Checker::new(mode.name(), model, &layers);
    let mut chat = Chat::new(model, options.trees, &session, &mut backend, checker)?;
    chat.run(&options.prompt, options.tokens)?;
    let record = chat.finish()?;
    let report = Report::new(mode, options.trees, record, &backend)?;

    part(&storage, &registry, session, backend)?;
    Ok(report)
}

/// The owners go one by one, the application first. The cache must stay until the last of them went, and no
/// longer.
fn part<'a>(
    storage: &'a SequenceStorage<LAYERS>,
    registry: &Registry<'a>,
    mut session: Session<'_, 'a>,
    backend: Backend<'a, '_>,
) -> Outcome<()> {
    let key = *session.key();
    session.close()?;
    drop(session);
    let layers = Mode::Flat.layers();
    let config = Mode::config(&layers);
    let gone = registry.get(key.as_str().unwrap_or_default()).err() == Some(Error::NotFound);
    let kept = storage.init(&config).err() == Some(Error::AlreadyExists);
    drop(backend);
    let ended = storage.init(&config).is_ok();
    if gone && kept && ended { Ok(()) } else { Err("the cache did not live as long as its owners".into()) }
}

/// The conversations in a pool, with one model after the other; the mixed one also with a pool for each layer group.
fn run_pools(options: &Options, out: &mut io::Stdout) -> Outcome<bool> {
    let model = Model::new();
    let mut reports = Vec::new();
    for &mode in &options.modes {
        for split in [false, true] {
            if split && mode != Mode::Mixed {
                continue;
            }
            let name = if split { "mixed split" } else { mode.name() };
            let report =
                run_pool(name, mode, split, &model, options).map_err(|error| format!("{name}: {error}"))?;
            report.write_tokens(out)?;
            reports.push(report);
        }
    }
    pool_record::write_table(out, &reports)?;
    if let (Some(file), Some(report)) = (&options.map, reports.last()) {
        write_map(out, file, &owner_map::draw(report))?;
    }
    Ok(reports.iter().all(PoolReport::all_well))
}

fn run_pool(
    name: &'static str,
    mode: Mode,
    split: bool,
    model: &Model,
    options: &Options,
) -> Outcome<PoolReport> {
    let layers = mode.layers();
    let config = Mode::pool_config(&layers, split);
    let mut words = vec![0; cell_words(&config)?];
    let mut cache = CellCache::new(&mut words, &config)?;
    let checker = Checker::new(name, model, &layers);
    let mut talks = Talks::new(model, &mut cache, checker)?;
    talks.run(&options.prompt, options.tokens)?;
    Ok(PoolReport::new(name, mode, config.capacity, talks.finish()))
}
