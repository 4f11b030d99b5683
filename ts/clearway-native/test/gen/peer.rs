// SPDX-License-Identifier: MIT OR Apache-2.0
// The same program as peer.c, in Rust.
#[allow(dead_code)] // this program does not use the whole module
mod thermometer;

use std::io::{self, BufRead};

use clearway_codec::Value;
use thermometer::*;

struct Lab;

impl Thermometer for Lab {
    fn level(&self, args: LevelArgs) -> Result<Reading, MethodError> {
        Ok(Reading { level: args.samples.map_or(20.0, f64::from), unit: args.unit, note: None, at: i64::MAX })
    }

    fn history(&self, args: HistoryArgs) -> Result<Vec<Option<Reading>>, MethodError> {
        let city = args.places.last().map(|place| place[0].1.city.clone());
        Ok(vec![None, Some(Reading { level: 0.0, unit: Unit::F, note: city, at: args.from })])
    }

    fn image(&self, args: Vec<u8>) -> Result<Vec<u8>, MethodError> {
        if !args.is_empty() {
            return Ok(args);
        }
        Err(MethodError { code: "EMPTY".into(), message: "no pixels".into(), details: Value::Null })
    }

    fn everything(&self, args: EverythingArgs) -> Result<EverythingResult, MethodError> {
        EverythingResult::read(&args.write()).map_err(|issue| panic!("{issue}"))
    }

    fn reset(&self) -> Result<(), MethodError> {
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn main() {
    for line in io::stdin().lock().lines().map(Result::unwrap) {
        let bytes: Vec<u8> = (0..line.len() / 2).map(|at| u8::from_str_radix(&line[2 * at..2 * at + 2], 16).unwrap()).collect();
        match dispatch(&Lab, &bytes) {
            Ok(reply) if reply.is_empty() => println!("status: not implemented"),
            Ok(reply) => println!("{}", hex(&reply)),
            Err(_) => println!("status: invalid argument"),
        }
    }
    let every = read_changed_args(b"\x07\x06listen\x03\x07\0\0\0").unwrap().unwrap();
    let reading = Reading { level: f64::from(every), unit: Unit::Kelvin, note: None, at: 0 };
    println!("{}", hex(&write_changed(&reading).unwrap()));
}
