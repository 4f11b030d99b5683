// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program behind `conformance/run rust`. Reads one JSON case from each line of stdin, and writes one line of JSON to stdout for each
//! case: the answer.

mod answer;
mod notation;

use std::io::{BufRead, Write};

fn main() -> std::io::Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty() {
            let mut answer = answer::answer(line.trim_ascii_end());
            answer.push(b'\n');
            // A runner may wait for this answer before it sends the next case, so the answer must not stay in a buffer.
            output.write_all(&answer)?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}
