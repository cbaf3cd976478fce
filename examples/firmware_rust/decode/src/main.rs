//! Reads defmt frames from a file and prints a line for each: the level and the message.

use std::error::Error;
use std::{env, fs};

use defmt_decoder::{DecodeError, Table};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [firmware, frames] = arguments.as_slice() else { return Err("usage: decode FIRMWARE FRAMES".into()) };
    let table = Table::parse(&fs::read(firmware)?)?.ok_or("the firmware has no defmt section")?;
    let mut decoder = table.new_stream_decoder();
    decoder.received(&fs::read(frames)?);
    loop {
        match decoder.decode() {
            Ok(frame) => {
                let level = frame.level().map_or("print", |level| level.as_str());
                println!("{level} {}", frame.display_message());
            }
            Err(DecodeError::UnexpectedEof) => return Ok(()),
            Err(DecodeError::Malformed) => return Err("the frames are malformed".into()),
        }
    }
}
