// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the plugin's items from the core, and writes them into records for JavaScript.

use std::ptr::null_mut;

use clearway_core::{Failure, Incoming, Item, SMALL_MAX};
use napi_sys as sys;

use crate::calls::put_outcome;
use crate::js::{Env, Value};
use crate::port::{self, Port, State};
use crate::scratch::{Head, Kind, MemoryOwners, Scratch};

/// The maximum number of items that `drain` takes from the core at a time.
const BATCH_MAX: usize = 256;

/// `drain(port)`: writes as many records as fit and returns their number. Returns 0 if no item is left. After that, the next item wakes
/// JavaScript.
pub unsafe fn drain(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let state = &mut *port.state.borrow_mut();
    state.records.clear();
    port.wake.clear();
    // Checks this before reading the items. If the plugin has closed by now, the loop below reads all of its items. The `Closed` record
    // then comes last.
    let close_pending = port.is_close_pending();
    let mut more = true;
    loop {
        while let Some(item) = state.items.pop_front() {
            if !fits(&item, &state.records) {
                state.items.push_front(item);
                return env.number(state.records.written() as f64);
            }
            put(port, state, item);
        }
        if !more {
            break;
        }
        let mut batch = std::mem::take(&mut state.batch);
        more = port.plugin.read(&mut batch, BATCH_MAX);
        state.items.extend(batch.drain(..));
        state.items.extend(port.answered.borrow_mut().drain(..).map(|(tag, outcome)| Item::Answer { tag, outcome }));
        state.batch = batch;
    }
    for id in port.loans.returned(state.records.room().saturating_sub(1)) {
        state.records.plain(Head { kind: Kind::LoanReturned, id, status: 0.0 }, 0.0);
    }
    if close_pending && state.records.room() > 0 {
        port.deliver_close();
        state.records.plain(Head { kind: Kind::Closed, id: 0, status: 0.0 }, 0.0);
    }
    if port.is_close_delivered() && port.loans.are_all_read() {
        // No further item can come. Ending the wake lets JavaScript collect the port: Node keeps the wake's function, which keeps the port.
        port.wake.end(true);
    }
    env.number(state.records.written() as f64)
}

/// Returns whether an item's records and text fit. Always returns true for the first item of a drain.
fn fits(item: &Item, records: &Scratch) -> bool {
    let (attached, text) = match item {
        Item::Answer { outcome: Ok(kept), .. } => (kept.attachments.len(), 0),
        Item::Answer { outcome: Err(failure), .. } => (0, failure.text.len()),
        Item::Event { content, .. } => (content.attachments.len(), 0),
        Item::End { failure, .. } => (0, failure.as_ref().map_or(0, |failure| failure.text.len())),
        Item::Message(incoming) => (incoming.content.attachments.len(), incoming.channel.len()),
        Item::Log { text, .. } => (0, text.len()),
    };
    // An item may need two records: a `Dropped` record and the item's own. The first item passes without a check, so that a text that is
    // longer than the whole body does not block the queue. `Scratch` cuts such a text.
    records.written() == 0 || (records.room() >= 2 + attached && records.left() >= SMALL_MAX + text)
}

fn put(port: &Port, state: &mut State, item: Item) {
    let State { records, held, .. } = state;
    let owners = MemoryOwners { held, loans: &port.loans };
    match item {
        Item::Answer { tag, outcome } => {
            port.calls.borrow_mut().remove(&tag);
            put_outcome(records, tag, outcome, owners);
        }
        Item::Event { tag, dropped, content, .. } => {
            put_dropped(records, tag, dropped);
            records.content(Head { kind: Kind::Event, id: tag, status: 0.0 }, "", content, owners);
        }
        Item::End { tag, dropped, failure, .. } => {
            port.streams.borrow_mut().remove(&tag);
            put_dropped(records, tag, dropped);
            let Failure { status, text } = failure.unwrap_or(Failure { status: 0, text: String::new() });
            records.text(Head { kind: Kind::End, id: tag, status: status.into() }, &text);
        }
        Item::Message(Incoming { channel, content, reply }) => {
            records.content(Head { kind: Kind::Message, id: reply, status: 0.0 }, &channel, content, owners);
        }
        Item::Log { level, text } => records.text(Head { kind: Kind::Log, id: 0, status: level.into() }, &text),
    }
}

fn put_dropped(records: &mut Scratch, tag: u64, count: u64) {
    if count > 0 {
        records.plain(Head { kind: Kind::Dropped, id: tag, status: 0.0 }, count as f64);
    }
}
