// SPDX-License-Identifier: MIT OR Apache-2.0
//! JavaScript memory that is lent to native code. V8's reference count keeps the memory alive until native code drops its last reference,
//! on any thread. JavaScript then receives the loan's number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use clearway_core::Memory;
use clearway_sys::{CLEARWAY_MEMORY_LENT, CLEARWAY_MEMORY_SHARED};

use crate::js::{Bytes, Env};
use crate::shared::Kept;
use crate::wake::Wake;

/// The memory that one JavaScript thread has lent, by address.
pub struct Loans {
    // A plugin's returned memory is recognised by its address. One address may be lent more than once.
    by_address: Mutex<HashMap<usize, Vec<(u64, usize)>>>,
    returned: Mutex<Returned>,
    wake: Arc<Wake>,
}

#[derive(Default)]
struct Returned {
    ids: Vec<u64>,
    /// The number of loans whose return JavaScript has not read.
    untold: usize,
}

struct Loan {
    _kept: Kept,
    id: u64,
    address: usize,
    loans: Arc<Loans>,
}

impl Loans {
    pub fn new(wake: Arc<Wake>) -> Arc<Loans> {
        Arc::new(Loans { by_address: Mutex::default(), returned: Mutex::default(), wake })
    }

    /// Lends bytes under a number from JavaScript. An error is a status. Returns `None` if the bytes cannot be kept: see [`Kept::of`].
    pub fn lend(self: &Arc<Loans>, env: Env, bytes: Bytes, id: u64) -> Option<Result<Memory, i32>> {
        let kept = Kept::of(env, bytes.buffer)?;
        lock(&self.returned).untold += 1;
        let address = bytes.data as usize;
        lock(&self.by_address).entry(address).or_default().push((id, bytes.size));
        let loan = Box::new(Loan { _kept: kept, id, address, loans: self.clone() });
        // An empty view may have no address.
        let data = if bytes.data.is_null() { std::ptr::NonNull::dangling().as_ptr() } else { bytes.data };
        // SAFETY: V8 keeps the memory until `loan` is dropped. The JavaScript side shares the memory on purpose.
        Some(unsafe { Memory::owned(data, bytes.size, CLEARWAY_MEMORY_LENT | CLEARWAY_MEMORY_SHARED, loan) })
    }

    /// Returns the number of this thread's loan of the memory. Returns `None` for memory that this thread has not lent.
    pub fn find(&self, memory: &Memory) -> Option<u64> {
        if memory.flags() & CLEARWAY_MEMORY_LENT == 0 {
            return None;
        }
        let by_address = lock(&self.by_address);
        by_address.get(&(memory.data() as usize))?.iter().find(|(_, size)| *size == memory.size()).map(|(id, _)| *id)
    }

    /// Takes the numbers of at most `most` returned loans.
    pub fn returned(&self, most: usize) -> Vec<u64> {
        let mut returned = lock(&self.returned);
        let count = returned.ids.len().min(most);
        returned.untold -= count;
        returned.ids.drain(..count).collect()
    }

    /// Returns whether JavaScript has read the returns of all loans.
    pub fn are_over(&self) -> bool {
        lock(&self.returned).untold == 0
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
