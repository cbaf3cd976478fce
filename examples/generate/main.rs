//! A decode loop with the K/V cache outside the model, and a proof that it is right.
//!
//! A small random model reads a prompt in chunks, replies, drafts tokens and takes them back, rewinds and
//! replies again, in four kinds of cache: flat, ring, ring with sinks, and mixed. Every logit vector that came
//! through the cache is compared with a recomputation from scratch.
//!
//! Where to look: `backend.rs` does what plans say, `chat.rs` is the application, `run` below joins them.

// Positions, rows and sizes are small here: they all fit 32 bits, and 24 where they become floats.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]

mod args;
mod backend;
mod cells;
mod chat;
mod check;
mod exercise;
mod labels;
mod legend;
mod map;
mod model;
mod modes;
mod reference;
mod report;
mod sample;
mod svg;
mod trace;

use std::env;
use std::fs;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

use kvcore::{Error, Registry, SequenceStorage, Session};

use args::Options;
use backend::Backend;
use chat::Chat;
use check::Checker;
use model::{LAYERS, Model};
use modes::Mode;
use report::Report;

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
fn run_all(options: &Options, out: &mut impl Write) -> Outcome<bool> {
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
        fs::write(file, map::draw(report)).map_err(|error| args::not_written(file, &error))?;
        writeln!(out, "\nwrote {}", file.display())?;
    }
    Ok(reports.iter().all(Report::all_well))
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
    let mut chat = Chat::new(model, &session, &mut backend, checker)?;
    chat.run(&options.prompt, options.tokens)?;
    let record = chat.finish()?;
    let report = Report::new(mode, record, &backend)?;

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
