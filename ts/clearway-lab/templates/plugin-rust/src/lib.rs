// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plugin with two handlers and a source of events. Node and the JVM load the same file.

#![forbid(unsafe_code)]

// #region plugin
use clearway::{Error, Result, Stream};
use serde::{Deserialize, Serialize};

#[derive(Default)]
struct MyPlugin;

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
struct Count {
    words: usize,
    letters: usize,
}

#[derive(Deserialize)]
struct Ticks {
    count: u32,
}

#[clearway::plugin]
impl MyPlugin {
    /// Runs on the calling thread, which waits. Use `direct` only for work of microseconds.
    #[handler("uppercase", direct)]
    fn uppercase(&self, text: String) -> String {
        text.to_uppercase()
    }

    /// Runs on the plugin's pool of threads.
    #[handler("count")]
    fn count(&self, Text { text }: Text) -> Result<Count> {
        if text.is_empty() {
            return Err(Error::invalid_argument("text must not be empty"));
        }
        let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
        Ok(Count {
            words: text.split_whitespace().count(),
            letters,
        })
    }

    /// Runs on a thread of its own for each listener.
    #[source("ticks")]
    fn ticks(&self, Ticks { count }: Ticks, stream: Stream) -> Result<()> {
        for number in 1..=count {
            stream.send(number)?; // waits until the listener has read enough
        }
        Ok(())
    }
}
// #endregion plugin
