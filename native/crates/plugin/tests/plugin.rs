// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a plugin without unsafe code in a host that uses the core. Covers every form of function, every type and every kind of failure.

#[allow(dead_code, reason = "each test file uses a part")]
mod host;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clearway_plugin::{
    Buffer, Content, EmitError, Error, Host, Level, Memory, Reply, Request, Result, Status, Stream, plugin,
};
use host::{Opened, value};
use serde::{Deserialize, Serialize};

struct Example {
    host: Host,
    calls: AtomicU32,
    kept: Mutex<Vec<Stream>>,
}

#[derive(Deserialize)]
struct Sum {
    left: i64,
    right: i64,
}

#[derive(Serialize)]
struct Told {
    sum: i64,
    calls: u32,
}

/// Panics when it is converted to content.
struct Bomb;

impl Serialize for Bomb {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("no value")
    }
}

#[plugin(crate = clearway_plugin, no_export)]
impl Example {
    fn open(host: Host) -> Result<Self> {
        host.log(Level::Info, "opened");
        Ok(Example { host, calls: AtomicU32::new(0), kept: Mutex::default() })
    }

    #[handler("sum")]
    fn sum(&self, Sum { left, right }: Sum) -> Result<Told> {
        let sum = left.checked_add(right).ok_or_else(|| Error::invalid_argument("the sum is too large"))?;
        Ok(Told { sum, calls: self.calls.fetch_add(1, Ordering::Relaxed) + 1 })
    }

    #[handler("nothing", direct)]
    fn nothing(&self) {}

    #[handler("echo", direct)]
    fn echo(&self, request: Request<'_>) -> Result<Content> {
        let content = match request.memory()? {
            Some(memory) => Content::memory(memory),
            None if request.is_null() => Content::null(),
            None => Content::bytes(request.bytes()),
        };
        Ok(request.attachments()?.into_iter().fold(content, Content::attach))
    }

    #[handler("later", serial = "later")]
    fn later(&self, text: String, reply: Reply) {
        assert!(reply.is_wanted());
        std::thread::spawn(move || reply.send(text.to_uppercase()));
    }

    #[handler("dropped")]
    fn dropped(&self, reply: Reply) {
        drop(reply);
    }

    #[handler("panics")]
    fn panics(&self, how: String) -> Bomb {
        if how == "now" { panic!("it was {how}") } else { Bomb }
    }

    #[handler("panics/holding", direct)]
    fn panics_holding(&self, _request: Request<'_>, _reply: Reply) {
        panic!("with the reply")
    }

    #[handler("parse")]
    fn parse(&self, text: String) -> Result<u32, std::num::ParseIntError> {
        text.parse()
    }

    #[handler("fails")]
    fn fails(&self, status: i32) -> Result<()> {
        Err(Error::new(status.into(), "as asked"))
    }

    #[handler("fill")]
    fn fill(&self, request: Request<'_>) -> Result<()> {
        for memory in request.attachments()? {
            memory.copy_from(1, &[7; 2])?;
            let mut read = [0; 3];
            memory.copy_to(0, &mut read)?;
            assert_eq!(read, [0, 7, 7]);
            assert_eq!(memory.to_vec(), [0, 7, 7, 0, 0, 0, 0, 0, 0, 0]);
            assert!(memory.bytes().is_none(), "it is not sealed");
            assert_eq!(memory.copy_to(usize::MAX, &mut read).unwrap_err().status(), Status::InvalidArgument);
            assert_eq!(memory.copy_from(9, &[0; 2]).unwrap_err().status(), Status::InvalidArgument);
        }
        Ok(())
    }

    #[handler("make")]
    fn make(&self, size: usize) -> Result<Buffer> {
        let mut buffer = self.host.allocate(size)?;
        assert!(buffer.iter().all(|byte| *byte == 0));
        buffer.fill(3);
        Ok(buffer)
    }

    #[handler("adopt")]
    fn adopt(&self, size: usize) -> Result<Memory> {
        let memory = self.host.adopt(vec![4; size])?.seal();
        assert_eq!(memory.bytes().map(<[u8]>::len), Some(size));
        assert_eq!(memory.to_vec(), vec![4; size]);
        let mut read = vec![0; size / 2];
        memory.copy_to(size - size / 2, &mut read)?;
        assert_eq!(read, vec![4; size / 2]);
        assert_eq!(memory.copy_to(size, &mut [0]).unwrap_err().status(), Status::InvalidArgument);
        assert!(memory.clone().cells().is_err() && memory.copy_from(0, &[]).is_err(), "it is sealed");
        Ok(memory)
    }

    #[handler("ask")]
    fn ask(&self, text: String, reply: Reply) {
        let answered = move |answer: Result<Request<'_>>| {
            let _ = match answer.and_then(|answer| answer.decode::<String>()) {
                Ok(answer) => reply.send(answer),
                Err(error) => reply.fail(error),
            };
        };
        self.host.ask("host", text, answered).unwrap();
    }

    #[source("count")]
    fn count(&self, to: u32, stream: Stream) -> Result<()> {
        for number in 0..to {
            stream.send(number)?;
        }
        if to == 3 { Err(Error::new(Status::Other(1003), "three")) } else { Ok(()) }
    }

    #[source("panics")]
    fn source_panics(&self, _stream: Stream) -> Result<()> {
        panic!("in a source")
    }

    #[source("waits")]
    fn waits(&self, stream: Stream) {
        while !stream.is_cancelled_within(Duration::from_secs(60)) {}
        assert!(stream.is_cancelled() && stream.emit(1) == Err(EmitError::Ended));
        self.host.log(Level::Info, "cancelled");
    }

    #[source("kept", direct)]
    fn kept(&self, stream: Stream) {
        self.kept.lock().unwrap().push(stream);
    }

    #[handler("kept/emit")]
    fn kept_emit(&self, number: u32) -> usize {
        let kept = self.kept.lock().unwrap();
        kept.iter().filter(|stream| stream.emit(number).is_ok()).count()
    }

    #[handler("kept/end")]
    fn kept_end(&self) {
        for (at, stream) in self.kept.lock().unwrap().drain(..).enumerate() {
            if at == 0 { stream.end() } else { stream.fail(Error::failed("the end")) }
        }
    }

    #[handler("log")]
    fn log(&self, text: String) {
        self.host.log(Level::Warning, text);
        self.host.send("host", ()).unwrap();
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        self.host.log(Level::Info, "dropped");
    }
}

#[test]
fn a_typed_handler_reads_its_message_and_answers() {
    let plugin = Opened::of::<Example>();
    let sum = |left: i64| plugin.ask("sum", &value(&[("left", left), ("right", 2)]));
    assert_eq!(sum(1).unwrap().get("sum"), Some(&3.into()));
    assert_eq!(sum(1).unwrap().get("calls"), Some(&2.into()));
    let error = sum(i64::MAX).unwrap_err();
    assert_eq!((error.status, &*error.text), (Status::InvalidArgument.number(), "the sum is too large"));
    let error = plugin.ask("sum", &value(&[("left", 1)])).unwrap_err();
    assert_eq!((error.status, &*error.text), (Status::InvalidArgument.number(), "missing field `right`"));
    assert_eq!(plugin.ask("nothing", &value(&[])).unwrap(), clearway_codec::Value::Null);
    assert_eq!(plugin.ask("later", &"text".into()).unwrap(), "TEXT".into());
    assert_eq!(plugin.ask("parse", &"12".into()).unwrap(), 12.into());
}

#[test]
fn every_failure_answers_with_a_status_and_a_text() {
    let plugin = Opened::of::<Example>();
    for (channel, message, status, text) in [
        ("panics", "now", Status::Panicked, "it was now"),
        ("panics", "then", Status::Panicked, "no value"),
        ("panics/holding", "", Status::Panicked, "the plugin panicked before it answered"),
        ("dropped", "", Status::Failed, "the plugin dropped the reply without an answer"),
        ("parse", "ten", Status::Failed, "invalid digit found in string"),
    ] {
        let error = plugin.ask(channel, &message.into()).unwrap_err();
        assert_eq!((error.status, &*error.text), (status.number(), text), "{channel}");
    }
    for status in [1000, 77, -5, Status::Timeout.number()] {
        assert_eq!(plugin.ask("fails", &status.into()).unwrap_err().status, status);
    }
    let error = plugin.ask("make", &(-1).into()).unwrap_err();
    assert_eq!(error.status, Status::InvalidArgument.number());
    let error = plugin.ask("make", &(1i64 << 40).into()).unwrap_err();
    assert_eq!(error.status, Status::TooLarge.number());
    assert_eq!(plugin.ask("later", &"still".into()).unwrap(), "STILL".into());
}

#[test]
fn memory_crosses_in_both_directions_without_a_copy() {
    let plugin = Opened::of::<Example>();
    for (channel, byte) in [("make", 3), ("adopt", 4)] {
        for size in [0, 1, 5000] {
            assert_eq!(plugin.bytes_of(channel, size), vec![byte; size], "{channel}");
        }
    }
    plugin.memory_is_filled_and_echoed("fill", "echo");
}

#[test]
fn a_plugin_asks_its_host_and_logs_a_line() {
    let plugin = Opened::of::<Example>();
    assert_eq!(plugin.ask_with_host("ask", &"question".into(), Ok("answer")).unwrap(), "answer".into());
    assert_eq!(plugin.ask_with_host("ask", &"question".into(), Err(1007)).unwrap_err().status, 1007);
    plugin.ask("log", &"a line".into()).unwrap();
    assert_eq!(plugin.said(), ["opened", "a line"]);
}

#[test]
fn a_source_waits_for_room_and_its_result_ends_the_stream() {
    let plugin = Opened::of::<Example>();
    assert_eq!(plugin.listen("count", &100.into()), ((0..100).collect(), None));
    let three = Some((1003, "three".into()));
    assert_eq!(plugin.listen("count", &3.into()), ((0..3).collect(), three));
    let panicked = Some((Status::Panicked.number(), "in a source".into()));
    assert_eq!(plugin.listen("panics", &0.into()), (vec![], panicked));
    let (events, end) = plugin.listen("count", &"many".into());
    assert_eq!((events, end.map(|end| end.0)), (vec![], Some(Status::InvalidArgument.number())));
}

#[test]
fn a_direct_source_keeps_its_streams_and_ends_them_later() {
    let plugin = Opened::of::<Example>();
    let (one, other, gone) = (plugin.start("kept"), plugin.start("kept"), plugin.start("kept"));
    plugin.cancel(gone);
    assert_eq!(plugin.ask("kept/emit", &5.into()).unwrap(), 2.into());
    plugin.ask("kept/end", &0.into()).unwrap();
    assert_eq!(plugin.rest(one), (vec![5], None));
    assert_eq!(plugin.rest(other), (vec![5], Some((Status::Failed.number(), "the end".into()))));
}

#[test]
fn closing_cancels_streams_and_drops_the_plugin_once() {
    let plugin = Opened::of::<Example>();
    plugin.start("waits");
    plugin.start("kept");
    plugin.close();
    // The thread of the source `waits` ends last and drops the plugin. `close` may return before that.
    let mut said = plugin.said();
    while said.len() < 3 {
        said.extend(plugin.said());
        std::thread::yield_now();
    }
    assert_eq!(said, ["opened", "cancelled", "dropped"]);
}

struct Refuses;

#[plugin(crate = clearway_plugin, no_export)]
impl Refuses {
    fn open(_host: Host) -> Result<Self, std::io::Error> {
        Err(std::io::Error::other("no camera"))
    }

    #[handler("never")]
    fn never(&self) {}
}

#[derive(Default)]
struct Twice;

#[plugin(crate = clearway_plugin, no_export)]
impl Twice {
    #[handler("same")]
    fn one(&self) {}

    #[handler("same")]
    fn other(&self) {}
}

#[test]
fn an_opening_that_fails_says_why() {
    assert_eq!(Opened::refused::<Refuses>().text, "no camera");
    assert_eq!(Opened::refused::<Twice>().text, "channel \"same\": refused as AlreadyExists");
}
