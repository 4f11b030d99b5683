// SPDX-License-Identifier: MIT OR Apache-2.0
//! An example plugin without unsafe code. It shows typed messages, images in memory, a source of events, an answer from another thread, a
//! message to the host, and failures.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::time::Duration;

use clearway::{Content, Error, Host, Level, Reply, Request, Result, Stream};
use serde::{Deserialize, Serialize};

struct Safe {
    host: Host,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
struct Count {
    words: usize,
    letters: BTreeMap<char, u32>,
}

#[derive(Deserialize)]
struct Image {
    width: usize,
    height: usize,
}

#[derive(Deserialize)]
struct Ticks {
    count: u32,
    #[serde(default)]
    pause_ms: u64,
}

#[derive(Serialize)]
struct Tick {
    number: u32,
    last: bool,
}

#[clearway::plugin]
impl Safe {
    fn open(host: Host) -> Result<Self> {
        host.log(Level::Info, "the example plugin without unsafe code is open");
        Ok(Safe { host })
    }

    /// Counts the words and the letters of a text. Serde converts the message and the answer, which are maps.
    #[handler("text/count")]
    fn count(&self, Text { text }: Text) -> Count {
        let mut letters = BTreeMap::new();
        for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
            *letters.entry(letter).or_default() += 1;
        }
        Count { words: text.split_whitespace().count(), letters }
    }

    /// Answers with the message itself. The host does not copy a message that is in a memory.
    #[handler("echo", direct)]
    fn echo(&self, request: Request<'_>) -> Result<Content> {
        Ok(match request.memory()? {
            Some(memory) => Content::memory(memory),
            None if request.is_null() => Content::null(),
            None => Content::bytes(request.bytes()),
        })
    }

    /// Inverts the colours of the attached RGBA pixels. Copies the pixels out of the memory and back, because the sender may also use the
    /// memory.
    #[handler("image/negative")]
    fn negative(&self, request: Request<'_>) -> Result<()> {
        let Image { width, height } = request.decode()?;
        let memory = request.attachments()?.pop().ok_or_else(|| Error::invalid_argument("attach the pixels"))?;
        if Some(memory.size()) != width.checked_mul(height).and_then(|pixels| pixels.checked_mul(4)) {
            let size = memory.size();
            return Err(Error::invalid_argument(format!("{width} x {height} RGBA pixels expected: size={size}")));
        }
        let mut pixels = memory.to_vec();
        for pixel in pixels.chunks_exact_mut(4) {
            for channel in &mut pixel[..3] {
                *channel = 255 - *channel;
            }
        }
        memory.copy_from(0, &pixels)
    }

    /// Answers with a white image in new memory, which the host does not copy.
    #[handler("image/white")]
    fn white(&self, Image { width, height }: Image) -> Result<Content> {
        let size = width.checked_mul(height).and_then(|pixels| pixels.checked_mul(4));
        let mut pixels = self.host.allocate(size.ok_or_else(|| Error::invalid_argument("the image is too large"))?)?;
        pixels.fill(255);
        Ok(Content::encode(&[width, height])?.attach(pixels))
    }

    /// Answers later, from another thread.
    #[handler("later", serial = "later")]
    fn later(&self, Text { text }: Text, reply: Reply) {
        std::thread::spawn(move || reply.send(text.to_uppercase()));
    }

    /// Sends the text to the host's channel `host`, and answers with the host's answer.
    #[handler("ask")]
    fn ask(&self, Text { text }: Text, reply: Reply) {
        let asked = self.host.ask("host", text, |answer| {
            let _ = match answer.and_then(|answer| answer.decode::<String>()) {
                Ok(answer) => reply.send(answer),
                Err(error) => reply.fail(error),
            };
        });
        if let Err(error) = asked {
            self.host.log(Level::Warning, format!("the host was not asked: {error}"));
        }
    }

    /// Emits numbered events. Runs on a separate thread for each listener.
    #[source("ticks")]
    fn ticks(&self, Ticks { count, pause_ms }: Ticks, stream: Stream) -> Result<()> {
        for number in 0..count {
            if stream.is_cancelled_within(Duration::from_millis(pause_ms)) {
                break;
            }
            stream.send(Tick { number, last: number + 1 == count })?;
        }
        Ok(())
    }

    #[handler("panics")]
    fn panics(&self, Text { text }: Text) {
        panic!("{text}")
    }
}
