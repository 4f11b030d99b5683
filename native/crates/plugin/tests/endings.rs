// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests what happens to replies, hosts and streams that a plugin still has when it closes. Also tests panics while the plugin opens or is
//! dropped.

#[allow(dead_code, reason = "each test file uses a part")]
mod host;

use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use clearway_plugin::{EmitError, Error, Host, Reply, Result, Status, Stream, plugin};
use host::Opened;

const LONG: Duration = Duration::from_secs(60);

/// Sends a value from a plugin's function to the test, if a test waits for it.
fn told<T>(place: &Mutex<Option<Sender<T>>>, what: T) {
    if let Some(tell) = &*place.lock().unwrap() {
        tell.send(what).unwrap();
    }
}

/// Makes the receiver for the values that `told` sends.
fn hear<T>(place: &Mutex<Option<Sender<T>>>) -> Receiver<T> {
    let (tell, heard) = channel();
    *place.lock().unwrap() = Some(tell);
    heard
}

static KEPT: Mutex<Option<Sender<(Host, Reply)>>> = Mutex::new(None);
static ENDED: Mutex<Option<Sender<EmitError>>> = Mutex::new(None);
static ASKED: Mutex<Option<Sender<Status>>> = Mutex::new(None);

struct Keeps(Host);

#[plugin(crate = clearway_plugin, no_export)]
impl Keeps {
    fn open(host: Host) -> Result<Self> {
        Ok(Keeps(host))
    }

    #[handler("keep")]
    fn keep(&self, reply: Reply) {
        told(&KEPT, (self.0.clone(), reply));
    }

    #[source("floods")]
    fn floods(&self, stream: Stream) {
        loop {
            if let Err(error) = stream.send(1) {
                return told(&ENDED, error);
            }
        }
    }

    #[handler("asks")]
    fn asks(&self) -> Result<()> {
        self.0.ask("host", (), |answer| told(&ASKED, answer.map_or_else(|error| error.status(), |_| Status::Failed)))
    }
}

#[test]
fn a_reply_and_a_host_that_outlive_the_plugin_are_refused() {
    let kept = hear(&KEPT);
    let plugin = Opened::of::<Keeps>();
    let pending = plugin.send_without_waiting("keep");
    let (host, reply) = kept.recv_timeout(LONG).unwrap();
    assert!(reply.is_wanted());
    assert_eq!(host.allocate(8).unwrap().len(), 8);
    plugin.close();
    assert_eq!(plugin.answer_of(pending).unwrap_err().status, Status::Closed.number());
    assert!(!reply.is_wanted());
    assert_eq!(reply.send("late").unwrap_err().status(), Status::Stale);
    for closed in
        [host.allocate(8).map(drop), host.adopt(vec![1]).map(drop), host.send("x", 1), host.ask("x", 1, |_| {})]
    {
        assert_eq!(closed.unwrap_err().status(), Status::Closed);
    }
    drop(plugin);
    assert_eq!(host.allocate(8).map(drop).unwrap_err().status(), Status::Stale);
}

#[test]
fn closing_wakes_a_source_that_waits_for_room_and_answers_what_the_plugin_asked() {
    let (ended, asked) = (hear(&ENDED), hear(&ASKED));
    let plugin = Opened::of::<Keeps>();
    plugin.start("floods"); // the stream's queue has room for four events
    plugin.ask("asks", &clearway_codec::Value::Null).unwrap();
    plugin.close();
    assert_eq!(ended.recv_timeout(LONG), Ok(EmitError::Ended));
    assert_eq!(asked.recv_timeout(LONG), Ok(Status::Closed));
}

struct Panics;

static OPENINGS: OnceLock<()> = OnceLock::new();

#[plugin(crate = clearway_plugin, no_export)]
impl Panics {
    fn open(_host: Host) -> Result<Self> {
        OPENINGS.set(()).expect("the second opening panics");
        Ok(Panics)
    }

    #[handler("nothing")]
    fn nothing(&self) {}
}

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("in drop")
    }
}

#[test]
fn a_panic_while_the_plugin_opens_or_is_dropped_stays_inside() {
    let plugin = Opened::of::<Panics>();
    plugin.ask("nothing", &clearway_codec::Value::Null).unwrap();
    assert!(Opened::refused::<Panics>().text.starts_with("the second opening panics"));
    drop(plugin); // closes and frees the plugin, so `Panics` is dropped
}

thread_local! {
    /// The status with which `Fails` fails to open.
    static OPEN_STATUS: Cell<i32> = const { Cell::new(0) };
}

struct Fails;

#[plugin(crate = clearway_plugin, no_export)]
impl Fails {
    fn open(_host: Host) -> Result<Self> {
        Err(Error::new(Status::from(OPEN_STATUS.get()), "not today"))
    }

    #[handler("nothing")]
    fn nothing(&self) {}
}

#[test]
fn an_open_that_fails_with_a_status_that_is_no_failure_is_refused_with_init_failed() {
    for status in [clearway_sys::CLEARWAY_OK, clearway_sys::CLEARWAY_PENDING, clearway_sys::CLEARWAY_VERSION, 1001] {
        OPEN_STATUS.set(status);
        let failure = Opened::refused::<Fails>();
        assert_eq!((failure.status, failure.text.as_str()), (clearway_sys::CLEARWAY_INIT_FAILED, "not today"));
    }
}

#[test]
fn a_plugin_refuses_a_host_that_lacks_a_function_and_tells_its_own_version() {
    use clearway_sys::{CLEARWAY_ABI_MAJOR, CLEARWAY_VERSION, Host as Table, Plugin as About, PluginId};

    // The table of an older host: without the last function.
    let mut smaller = Box::<Table>::new_uninit();
    let size = std::mem::offset_of!(Table, log);
    // SAFETY: the host's table is readable, and both tables have at least `size` bytes. The first field is the size.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const clearway_core::HOST).cast::<u8>(),
            smaller.as_mut_ptr().cast::<u8>(),
            size,
        );
        smaller.as_mut_ptr().cast::<usize>().write(size);
    }
    let about = |size| About {
        size,
        id: PluginId::default(),
        abi_major: 0,
        abi_minor: 0,
        context: std::ptr::null_mut(),
        on_close: None,
    };
    let init = clearway_plugin::__private::init::<Keeps>;
    let mut plugin = about(size_of::<About>());
    // SAFETY: both structs are valid for the size in their first field.
    assert_eq!(unsafe { init(smaller.as_ptr(), &mut plugin) }, CLEARWAY_VERSION);
    assert_eq!(plugin.abi_major, CLEARWAY_ABI_MAJOR);
    let mut without_context = about(std::mem::offset_of!(About, context));
    // SAFETY: as above.
    assert_eq!(unsafe { init(&clearway_core::HOST, &mut without_context) }, CLEARWAY_VERSION);
    assert!(without_context.on_close.is_none());
}
