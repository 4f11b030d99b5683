// SPDX-License-Identifier: MIT OR Apache-2.0
//! The addon's functions for memory. JavaScript names a memory by the core's handle of its reference, and reads and writes it through a view.
//!
//! Also lends JavaScript's memory to native code. V8's reference count keeps that memory alive until native code drops its last reference, on
//! any thread. JavaScript then receives the loan's number in a `LoanReturned` record.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard};

use clearway_core::{BYTES_MAX, Memory};
use clearway_sys::{CLEARWAY_MEMORY_LENT, CLEARWAY_MEMORY_SEALED, CLEARWAY_MEMORY_SHARED, CLEARWAY_STALE};
use napi_sys as sys;

use crate::drain::Wake;
use crate::js::{Bytes, Env, Value};
use crate::shared::KeptBuffer;
use crate::{port, shared};

/// `allocate(port, size)`: allocates `size` bytes. Returns a handle, or on failure the negated status.
pub unsafe fn allocate(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, size], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let Some(size) = env.as_u64(size) else { return env.throw("invalid-argument", "size must be a whole number") };
    match Memory::allocate(size as usize, 0) {
        Ok(memory) => env.number(Held::insert(memory, &mut port.state.borrow_mut().held) as f64),
        Err(status) => env.number(-f64::from(status)),
    }
}

/// `lend(port, bytes, id)`: lends the memory of a `Uint8Array` to native code. Returns a handle, or on failure the negated status. Returns 0
/// if this Node cannot keep JavaScript's memory, or if JavaScript can shrink the buffer.
pub unsafe fn lend(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, bytes, id], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let (Some(bytes), Some(id)) = (env.as_bytes(bytes), env.as_u64(id)) else {
        return env.throw("invalid-argument", "bytes must be a Uint8Array, and id a whole number");
    };
    match port.loans.lend(env, bytes, id) {
        Some(Ok(memory)) => env.number(Held::insert(memory, &mut port.state.borrow_mut().held) as f64),
        Some(Err(status)) => env.number(-f64::from(status)),
        None => env.number(0.0),
    }
}

/// `size(port, handle)`: returns the size in bytes, or -1 if the memory was released.
pub unsafe fn size(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, handle], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let handle = env.as_u64(handle).unwrap_or(0);
    let size = port.state.borrow_mut().held.get(&handle).map_or(-1.0, |held| held.memory.size() as f64);
    env.number(size)
}

/// `isSealed(port, handle)`: returns whether a holder has sealed the memory. Returns false if the memory was released.
pub unsafe fn is_sealed(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, handle], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let handle = env.as_u64(handle).unwrap_or(0);
    let sealed = |held: &Held| held.memory.flags() & CLEARWAY_MEMORY_SEALED != 0;
    env.boolean(port.state.borrow().held.get(&handle).is_some_and(sealed))
}

/// `view(port, handle, kind)`: returns a buffer over the memory, or a copy if `kind` is neither `shared` nor `detachable`. Returns undefined
/// if the runtime has no buffers of that kind, if JavaScript itself has lent the memory, or if the memory was released.
pub unsafe fn view(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, handle, kind], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let (Some(handle), Some(kind)) = (env.as_u64(handle), env.as_text(kind)) else { return env.undefined() };
    let mut state = port.state.borrow_mut();
    let Some(held) = state.held.get_mut(&handle) else { return env.undefined() };
    let buffer = match kind.as_str() {
        "shared" => held.share(env),
        "detachable" => held.expose(env),
        _ => Some(held.copy(env)),
    };
    buffer.unwrap_or_else(|| env.undefined())
}

/// `release(port, handle, buffer?)`: releases JavaScript's reference. Detaches `buffer` if it is an ArrayBuffer. Returns a status.
pub unsafe fn release(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, handle, buffer], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let taken = env.as_u64(handle).and_then(|handle| port.state.borrow_mut().held.remove(&handle));
    let status = match taken {
        Some(held) => {
            held.release(env, env.is_array_buffer(buffer).then_some(buffer));
            0
        }
        None => CLEARWAY_STALE,
    };
    env.number(status.into())
}

/// `adjust(port, bytes)`: reports to the garbage collector that memory outside of its heap has grown or shrunk by `bytes`.
pub unsafe fn adjust(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([_, bytes], _) = env.arguments(info);
    let bytes = env.as_f64(bytes).unwrap_or(f64::NAN);
    if bytes.is_nan() || bytes.abs() > BYTES_MAX as f64 {
        return env.throw("invalid-argument", "bytes must be a number, and of one memory"); // V8 ends the process if the change is larger
    }
    env.adjust_external(bytes as i64);
    env.undefined()
}

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
        // An empty view may have a null address. Each gets an address of its own, at which nothing is read.
        let data = if bytes.data.is_null() { std::ptr::without_provenance_mut(id as usize + 1) } else { bytes.data };
        // Called only if the lend succeeds. JavaScript must not read the return of a loan that it does not have.
        let loan = || {
            lock(&self.returned).unread_returns += 1;
            let address = data as usize;
            lock(&self.by_address).entry(address).or_default().push((id, bytes.size));
            Box::new(Loan { _kept: kept, id, address, loans: self.clone() }) as Box<dyn Send + Sync>
        };
        // SAFETY: V8 keeps the memory until the loan is dropped. JavaScript may still write to the memory; the flag `SHARED` says so.
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

/// A memory to which JavaScript has a reference.
pub struct Held {
    pub memory: Memory,
    /// The second reference, which belongs to an ArrayBuffer over the memory. `release` drops this reference after it has detached the
    /// buffer. Otherwise the reference is dropped when the garbage collector frees the buffer, or the one that JavaScript moved it to.
    viewed: Option<Viewed>,
}

type Viewed = Arc<Mutex<Option<Memory>>>;

impl Held {
    /// Inserts a memory and returns the core's handle of the reference. The handle is a number that is unique in the process, is
    /// never reused, and fits exactly into a JavaScript number.
    pub fn insert(memory: Memory, held: &mut HashMap<u64, Held>) -> u64 {
        let handle = memory.handle();
        held.insert(handle, Held { memory, viewed: None });
        handle
    }

    /// Returns whether the memory was lent by a host. The lending thread then already has a buffer over it, and V8 does not allow a
    /// second buffer over the same memory.
    fn is_lent(&self) -> bool {
        self.memory.flags() & CLEARWAY_MEMORY_LENT != 0
    }

    /// Makes a `SharedArrayBuffer` over the memory. The buffer has its own reference, which is dropped after the last thread has dropped
    /// the buffer. Returns `None` for lent memory, or if Node cannot map the memory.
    pub fn share(&self, env: Env) -> Option<Value> {
        if self.is_lent() {
            return None;
        }
        let reference = Box::into_raw(Box::new(self.memory.try_clone().ok()?));
        // SAFETY: `reference` keeps the memory valid until the deleter `drop_box` drops the reference.
        let value = unsafe { shared::map(env, self.memory.data(), self.memory.size(), drop_box, reference.cast()) };
        if value.is_none() {
            // SAFETY: `map` failed, so the deleter is not called and this function still owns the box.
            drop(unsafe { Box::from_raw(reference) });
        }
        value
    }

    /// Makes an `ArrayBuffer` over the memory, which `release` can detach. Returns `None` for lent memory, or if Node refuses.
    pub fn expose(&mut self, env: Env) -> Option<Value> {
        if self.is_lent() {
            return None;
        }
        let viewed: Viewed = Arc::new(Mutex::new(Some(self.memory.try_clone().ok()?)));
        let hint = Arc::into_raw(viewed.clone()).cast_mut();
        let (data, size, mut value) = (self.memory.data().cast(), self.memory.size(), null_mut());
        // SAFETY: the reference behind `hint` keeps the memory valid until the buffer is detached or collected.
        let status = unsafe {
            sys::napi_create_external_arraybuffer(env.0, data, size, Some(drop_viewed), hint.cast(), &mut value)
        };
        if status != sys::Status::napi_ok {
            // Electron refuses external buffers with the status napi_no_external_buffers_allowed.
            // SAFETY: the call failed, so Node does not call the finalizer and this function still owns `hint`.
            drop(unsafe { Arc::from_raw(hint) });
            return None;
        }
        self.viewed = Some(viewed);
        Some(value)
    }

    /// Makes an `ArrayBuffer` with a copy of the memory.
    pub fn copy(&self, env: Env) -> Value {
        // SAFETY: `self.memory` keeps the memory valid. A thread that writes at the same time can only make the copy inconsistent.
        env.copied_bytes(unsafe { std::slice::from_raw_parts(self.memory.data(), self.memory.size()) })
    }

    /// Releases JavaScript's reference. If there is a `buffer`, also detaches it and releases the buffer's own reference.
    pub fn release(self, env: Env, buffer: Option<Value>) {
        let detached = buffer.is_some_and(|buffer| env.detach(buffer));
        if let (Some(viewed), true) = (self.viewed, detached) {
            // Drops the reference of the buffer now. The garbage collector would drop it later. Until then, the pool could not reuse the
            // slab.
            drop(viewed.lock().unwrap_or_else(|broken| broken.into_inner()).take());
        }
    }
}

unsafe extern "C" fn drop_box(_: *mut c_void, hint: *mut c_void) {
    // SAFETY: `share` made the box, and this is its only drop.
    drop(unsafe { Box::from_raw(hint.cast::<Memory>()) });
}

unsafe extern "C" fn drop_viewed(_: sys::napi_env, _: *mut c_void, hint: *mut c_void) {
    // SAFETY: `expose` made the pointer, and this is its only drop.
    drop(unsafe { Arc::from_raw(hint.cast::<Mutex<Option<Memory>>>()) });
}
