// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes records into JavaScript's arrays. ts/clearway-native/src/record.ts documents the layout of a record.

use std::collections::HashMap;

use clearway_core::{Bytes, Kept, Memory};

use crate::js::{Env, Reference, Value};
use crate::memories::{Held, Loans};

/// The number of float64 values in a record.
const STRIDE: usize = 10;

/// The kind of a record. The numbers are the same in ts/clearway-native/src/record.ts.
#[derive(Clone, Copy)]
pub enum Kind {
    Reply = 1,
    Event = 2,
    End = 3,
    Message = 4,
    Log = 5,
    LoanReturned = 6,
    Attached = 7,
    Dropped = 8,
    Closed = 9,
}

/// The first fields of a record. The writing functions fill in the remaining fields.
pub struct Head {
    pub kind: Kind,
    pub id: u64,
    pub status: f64,
}

/// Two arrays of JavaScript into which the addon writes: a `Float64Array` for records and a `Uint8Array` for bytes. JavaScript never
/// detaches the arrays.
pub struct Scratch {
    _kept: [Reference; 2],
    heads: *mut f64,
    /// The number of records that `heads` has room for.
    records: usize,
    body: *mut u8,
    /// The size of `body`, in bytes.
    body_size: usize,
    /// The number of records written.
    written: usize,
    /// The number of bytes written to `body`.
    used: usize,
}

/// The owners of memory whose bytes are not copied into the body. A record has only the number of such memory.
pub struct MemoryOwners<'a> {
    pub held: &'a mut HashMap<u64, Held>,
    pub loans: &'a Loans,
}

impl Scratch {
    /// Wraps the two arrays. Returns `None` for an array of the wrong type, for fewer than 64 records, or for less than 64 KiB of body.
    pub fn of(env: Env, heads_array: Value, body_array: Value) -> Option<Scratch> {
        let (heads, count) = env.as_doubles(heads_array)?;
        let body = env.as_bytes(body_array)?;
        let records = count / STRIDE;
        (records >= 64 && body.size >= 1 << 16).then(|| Scratch {
            _kept: [env.keep(heads_array), env.keep(body_array)],
            heads,
            records,
            body: body.data,
            body_size: body.size,
            written: 0,
            used: 0,
        })
    }

    /// Discards all records and bytes.
    pub fn clear(&mut self) {
        self.written = 0;
        self.used = 0;
    }

    /// Returns the number of records written since `clear`.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Returns the number of records that still fit.
    pub fn room(&self) -> usize {
        self.records - self.written
    }

    /// Returns the number of bytes that still fit into the body.
    pub fn left(&self) -> usize {
        self.body_size - self.used
    }

    /// Writes a record without bytes. `number` goes into the field `size`.
    pub fn plain(&mut self, head: Head, number: f64) {
        self.put(head, [0.0, number, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    /// Writes a record with a text for people. Cuts the text to the bytes that still fit.
    pub fn text(&mut self, head: Head, text: &str) {
        let (at, size) = self.copy(&text.as_bytes()[..text.len().min(self.left())]);
        self.put(head, [0.0, -1.0, 0.0, at as f64, size as f64, 0.0, 0.0]);
    }

    /// Writes a record of content, followed by one record for each attachment. `name` is the channel of a message, and empty otherwise.
    /// Copies small content into the body. Keeps content in memory in `owners`, and writes the handle or the number of the loan.
    pub fn content(&mut self, head: Head, name: &str, kept: Kept, owners: MemoryOwners<'_>) {
        let Kept { bytes, attachments, copied } = kept;
        let attached = attachments.len().min(self.records - self.written - 1);
        let (name_at, name_size) = self.copy(name.as_bytes());
        let (at, size, handle) = match bytes {
            Bytes::Null => (0.0, -1.0, 0.0),
            Bytes::Small { size, bytes } => {
                let (at, size) = self.copy(&bytes[..size.into()]);
                (at as f64, size as f64, 0.0)
            }
            Bytes::Memory { memory, range } => {
                let (at, size) = (range.start as f64, range.len() as f64);
                match owners.loans.find(&memory) {
                    Some(id) => (at, size, -(id as f64)),
                    None => (at, size, Held::insert(memory, owners.held) as f64),
                }
            }
        };
        self.put(head, [at, size, handle, name_at as f64, name_size as f64, attached as f64, copied as f64]);
        for memory in attachments.into_iter().take(attached) {
            self.attached(memory, owners.loans, owners.held);
        }
    }

    fn attached(&mut self, memory: Memory, loans: &Loans, held: &mut HashMap<u64, Held>) {
        let size = memory.size() as f64;
        let handle = match loans.find(&memory) {
            Some(id) => -(id as f64),
            None => Held::insert(memory, held) as f64,
        };
        self.put(Head { kind: Kind::Attached, id: 0, status: 0.0 }, [0.0, size, handle, 0.0, 0.0, 0.0, 0.0]);
    }

    fn put(&mut self, Head { kind, id, status }: Head, rest: [f64; 7]) {
        if self.written == self.records {
            return; // does not happen: the callers check `room` first
        }
        let [at, size, handle, text_at, text_size, attached, copied] = rest;
        let record = [kind as u8 as f64, id as f64, status, at, size, handle, text_at, text_size, attached, copied];
        // SAFETY: the array has at least `records * STRIDE` numbers, and `written` is less than `records`.
        unsafe { self.heads.add(self.written * STRIDE).cast::<[f64; STRIDE]>().write_unaligned(record) };
        self.written += 1;
    }

    /// Copies as many bytes as fit into the body. Returns their position in the body and their number.
    fn copy(&mut self, bytes: &[u8]) -> (usize, usize) {
        let (at, size) = (self.used, bytes.len().min(self.left()));
        // SAFETY: the body has at least `size` free bytes from the position `used` on.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.body.add(at), size) };
        self.used += size;
        (at, size)
    }
}
