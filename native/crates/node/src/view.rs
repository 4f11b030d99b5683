// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes buffers through which JavaScript reads and writes native memory.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use clearway_core::Memory;
use clearway_sys::CLEARWAY_MEMORY_LENT;
use napi_sys as sys;

use crate::js::{Env, Value};
use crate::shared;

/// A memory to which JavaScript has a reference.
pub struct Held {
    pub memory: Memory,
    /// The second reference, which belongs to an ArrayBuffer over the memory. `release` drops this reference after it has detached the
    /// buffer. Otherwise the reference is dropped when the garbage collector frees the buffer.
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
