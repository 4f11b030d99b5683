// SPDX-License-Identifier: MIT OR Apache-2.0
//! `conformance/run rust`: reads one JSON case from each line of stdin, writes one JSON answer to each line of stdout.

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
            // Flushed, because a runner that sends one case at a time waits for this answer.
            output.write_all(&answer)?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}
