// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lends JavaScript's memory to native code. V8's reference count keeps the memory alive until native code drops its last reference. Any
//! thread may drop that reference. JavaScript then receives the loan's number in a `LoanReturned` record.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use clearway_core::Memory;
use clearway_sys::{CLEARWAY_MEMORY_LENT, CLEARWAY_MEMORY_SHARED};

use crate::js::{Bytes, Env};
use crate::shared::KeptBuffer;
use crate::wake::Wake;

/// The loans of one port: the memory that JavaScript has lent to native code.
pub struct Loans {
    // For each address, the number and the size in bytes of each loan. `find` recognises lent memory by address and size. The same memory
    // may be lent several times.
    by_address: Mutex<HashMap<usize, Vec<(u64, usize)>>>,
    returned: Mutex<Returned>,
    wake: Arc<Wake>,
}

#[derive(Default)]
struct Returned {
    /// The numbers of loans that native code has returned. JavaScript has not read them yet.
    ids: Vec<u64>,
    /// The number of loans whose return JavaScript has not read yet. Includes the loans that native code still uses.
    unread_returns: usize,
}

/// Owns the lent memory. The core drops the loan with the last reference to the memory.
struct Loan {
    _kept: KeptBuffer,
    id: u64,
    address: usize,
    loans: Arc<Loans>,
}

impl Loans {
    pub fn new(wake: Arc<Wake>) -> Arc<Loans> {
        Arc::new(Loans { by_address: Mutex::default(), returned: Mutex::default(), wake })
    }

    /// Lends bytes to native code. JavaScript chooses the loan's number `id`. The error of the result is a status of clearway.h. Returns
    /// `None` if the bytes cannot be kept: see [`KeptBuffer::of`].
    pub fn lend(self: &Arc<Loans>, env: Env, bytes: Bytes, id: u64) -> Option<Result<Memory, i32>> {
        let kept = KeptBuffer::of(env, bytes.buffer)?;
        lock(&self.returned).unread_returns += 1;
        let address = bytes.data as usize;
        lock(&self.by_address).entry(address).or_default().push((id, bytes.size));
        let loan = Box::new(Loan { _kept: kept, id, address, loans: self.clone() });
        // An empty view may have a null address.
        let data = if bytes.data.is_null() { std::ptr::NonNull::dangling().as_ptr() } else { bytes.data };
        // SAFETY: V8 keeps the memory until `loan` is dropped. JavaScript may still write to the memory; the flag `SHARED` says so.
        Some(unsafe { Memory::owned(data, bytes.size, CLEARWAY_MEMORY_LENT | CLEARWAY_MEMORY_SHARED, loan) })
    }

    /// Returns the number of the loan that has the memory's address and size. Returns `None` if this port has no such loan.
    pub fn find(&self, memory: &Memory) -> Option<u64> {
        if memory.flags() & CLEARWAY_MEMORY_LENT == 0 {
            return None;
        }
        let by_address = lock(&self.by_address);
        by_address.get(&(memory.data() as usize))?.iter().find(|(_, size)| *size == memory.size()).map(|(id, _)| *id)
    }

    /// Takes the numbers of up to `most` loans that native code has returned.
    pub fn returned(&self, most: usize) -> Vec<u64> {
        let mut returned = lock(&self.returned);
        let count = returned.ids.len().min(most);
        returned.unread_returns -= count;
        returned.ids.drain(..count).collect()
    }

    /// Returns whether all loans were returned and JavaScript has read all returns.
    pub fn are_all_read(&self) -> bool {
        lock(&self.returned).unread_returns == 0
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let mut by_address = lock(&self.loans.by_address);
        if let Some(same) = by_address.get_mut(&self.address) {
            same.retain(|(id, _)| *id != self.id);
            if same.is_empty() {
                by_address.remove(&self.address);
            }
        }
        drop(by_address);
        lock(&self.loans.returned).ids.push(self.id);
        self.loans.wake.wake();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}
