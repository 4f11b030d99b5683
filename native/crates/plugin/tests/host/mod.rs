// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host for tests. It reads the plugin's items until the expected item arrives.

use std::cell::RefCell;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clearway_codec::{Limits, Value, standard};
use clearway_core::{Failure, Given, Item, Kept, Memory, Options, Plugin, Sent, WhenFull, Window};
use clearway_sys::Content;

const LONG: Duration = Duration::from_secs(60);

/// The events of a stream as numbers, and the status and text of its end. `None` is a normal end.
pub type Events = (Vec<i64>, Option<(i32, String)>);

pub fn value(entries: &[(&str, i64)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect())
}

fn bytes(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    standard::write(value, Limits::DEFAULT, &mut bytes).unwrap();
    bytes
}

fn read(content: &Kept) -> Value {
    standard::read(&content.to_vec().unwrap_or_default(), Limits::DEFAULT).unwrap()
}

/// An opened plugin. Its drop closes and frees the plugin, and checks that no call, message or stream is open.
pub struct Opened {
    plugin: Arc<Plugin>,
    woken: Receiver<()>,
    items: RefCell<Vec<Item>>,
}

impl Opened {
    pub fn of<P: clearway_plugin::Plugin>() -> Opened {
        // SAFETY: `init` follows the ABI.
        let plugin = unsafe { Plugin::start(clearway_plugin::__private::init::<P>, Options::default()) }.unwrap();
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        plugin.set_wake(Some(Box::new(move || wake.lock().unwrap().send(()).unwrap_or(())))).unwrap();
        Opened { plugin, woken, items: RefCell::default() }
    }

    /// Opens a plugin that refuses to open, and returns the failure.
    pub fn refused<P: clearway_plugin::Plugin>() -> Failure {
        // SAFETY: `init` follows the ABI.
        let opened = unsafe { Plugin::start(clearway_plugin::__private::init::<P>, Options::default()) };
        opened.map(drop).unwrap_err()
    }

    /// Reads until an item is `wanted`, and returns what `take` makes of it. Keeps the other items for later.
    fn until<T>(&self, wanted: impl Fn(&Item) -> bool, take: impl FnOnce(Item) -> T) -> T {
        loop {
            let mut items = self.items.borrow_mut();
            while self.plugin.read(&mut items, 16) {}
            if let Some(at) = items.iter().position(&wanted) {
                return take(items.remove(at));
            }
            drop(items);
            self.woken.recv_timeout(LONG).expect("a wake");
        }
    }

    fn answer(&self, sent: Sent) -> Result<Kept, Failure> {
        match sent {
            Sent::Answered(outcome) => outcome,
            _ => self.until(
                |item| matches!(item, Item::Answer { .. }),
                |item| match item {
                    Item::Answer { outcome, .. } => outcome,
                    _ => unreachable!(),
                },
            ),
        }
    }

    fn send(&self, channel: &str, content: &Given<'_>) -> Result<Kept, Failure> {
        let channel = self.plugin.channel(channel).unwrap();
        self.answer(self.plugin.send(&channel, content, 1, true).unwrap())
    }

    pub fn send_without_waiting(&self, channel: &str) -> Sent {
        let channel = self.plugin.channel(channel).unwrap();
        self.plugin.send(&channel, &Given::null(), 1, true).unwrap()
    }

    pub fn answer_of(&self, sent: Sent) -> Result<Value, Failure> {
        self.answer(sent).map(|content| read(&content))
    }

    pub fn ask(&self, channel: &str, message: &Value) -> Result<Value, Failure> {
        self.send(channel, &Given::bytes(&bytes(message))).map(|content| read(&content))
    }

    /// Sends a message, answers the message that the plugin then sends to the host, and returns the plugin's answer.
    pub fn ask_with_host(&self, channel: &str, message: &Value, says: Result<&str, i32>) -> Result<Value, Failure> {
        let channel = self.plugin.channel(channel).unwrap();
        let sent = self.plugin.send(&channel, &Given::bytes(&bytes(message)), 1, true).unwrap();
        let asked = self.until(
            |item| matches!(item, Item::Message(_)),
            |item| match item {
                Item::Message(asked) => asked,
                _ => unreachable!(),
            },
        );
        assert_eq!(read(&asked.content), *message);
        let said = bytes(&says.unwrap_or_default().into());
        let given = Given::bytes(&said);
        let answer = says.map(|_| &given).map_err(|status| Failure { status, text: String::new() });
        clearway_core::reply(asked.reply, answer).unwrap();
        self.answer(sent).map(|content| read(&content))
    }

    pub fn bytes_of(&self, channel: &str, size: usize) -> Vec<u8> {
        let answer = self.send(channel, &Given::bytes(&bytes(&(size as i64).into()))).unwrap();
        assert_eq!(answer.copied, 0);
        answer.to_vec().unwrap()
    }

    pub fn memory_is_filled_and_echoed(&self, fill: &str, echo: &str) {
        let memory = Memory::allocate(10, clearway_sys::CLEARWAY_MEMORY_ZEROED).unwrap();
        self.send(fill, &Given::null().with(&[memory.handle()])).unwrap();
        let part = Content { data: memory.data().wrapping_add(1), size: 3, ..Content::of_memory(memory.handle()) };
        // SAFETY: the part lies in the memory, which lives longer than the message.
        let again = self.send(echo, &unsafe { Given::raw(part) }.with(&[memory.handle()])).unwrap();
        assert_eq!((again.copied, again.attachments.len()), (0, 1));
        assert_eq!(again.to_vec().unwrap(), [0, 7, 7, 0, 0, 0, 0, 0, 0, 0]);
        drop(again);
        assert_eq!(self.send(echo, &Given::null()).unwrap().to_vec(), None);
        self.close(); // after that, the pool's thread has released the message
        assert_eq!(memory.references(), 1);
    }

    pub fn start(&self, channel: &str) -> u64 {
        self.start_with(channel, &Value::Null)
    }

    fn start_with(&self, channel: &str, arguments: &Value) -> u64 {
        let window = Window { items: 4, bytes: 1 << 20, when_full: WhenFull::Wait, credit: u64::MAX };
        let channel = self.plugin.channel(channel).unwrap();
        self.plugin.listen(&channel, &Given::bytes(&bytes(arguments)), window, 2).unwrap()
    }

    pub fn listen(&self, channel: &str, arguments: &Value) -> Events {
        self.rest(self.start_with(channel, arguments))
    }

    /// Reads until the stream ends. Returns its events and its end.
    pub fn rest(&self, listened: u64) -> Events {
        let mut events = Vec::new();
        let mine =
            |item: &Item| matches!(item, Item::Event { stream, .. } | Item::End { stream, .. } if *stream == listened);
        loop {
            match self.until(mine, |item| item) {
                Item::Event { content, .. } => match read(&content) {
                    Value::Int(number) => events.push(number),
                    other => panic!("expected a number: {other:?}"),
                },
                Item::End { failure, .. } => return (events, failure.map(|failure| (failure.status, failure.text))),
                _ => unreachable!(),
            }
        }
    }

    pub fn cancel(&self, stream: u64) {
        self.plugin.cancel(stream).unwrap();
    }

    /// Returns the log lines since the last call.
    pub fn said(&self) -> Vec<String> {
        let mut items = self.items.borrow_mut();
        while self.plugin.read(&mut items, 16) {}
        let (said, others): (Vec<_>, Vec<_>) = items.drain(..).partition(|item| matches!(item, Item::Log { .. }));
        *items = others;
        let text = |item| match item {
            Item::Log { text, .. } => text,
            _ => unreachable!(),
        };
        said.into_iter().map(text).collect()
    }

    pub fn close(&self) {
        self.plugin.close(LONG).unwrap();
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.close();
            self.said();
            assert_eq!(self.plugin.in_flight(), (0, 0, 0));
            self.plugin.free().unwrap();
        }
    }
}
