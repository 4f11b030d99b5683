// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native memory that JavaScript can view.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use clearway_core::Memory;
use clearway_sys::CLEARWAY_MEMORY_LENT;
use napi_sys as sys;

use crate::js::{Env, Value};
use crate::shared;

/// A memory that JavaScript holds.
pub struct Held {
    pub memory: Memory,
    /// The reference of an ArrayBuffer over the memory. `release` takes it out after detaching the buffer. Otherwise garbage collection
    /// of the buffer drops it.
    viewed: Option<Viewed>,
}

type Viewed = Arc<Mutex<Option<Memory>>>;

impl Held {
    /// Inserts a memory and returns its number. The number is the core's own handle: unique in the process, never reused, and exact in
    /// JavaScript.
    pub fn insert(memory: Memory, held: &mut HashMap<u64, Held>) -> u64 {
        let handle = memory.handle();
        held.insert(handle, Held { memory, viewed: None });
        handle
    }

    /// Returns whether V8 already has a buffer over this memory, on the thread that lent the memory. V8 does not allow a second buffer.
    fn is_lent(&self) -> bool {
        self.memory.flags() & CLEARWAY_MEMORY_LENT != 0
    }

    /// Makes a `SharedArrayBuffer`. The buffer keeps its own reference until the last thread has dropped the buffer.
    pub fn share(&self, env: Env) -> Option<Value> {
        if self.is_lent() {
            return None;
        }
        let reference = Box::into_raw(Box::new(self.memory.try_clone().ok()?));
        // SAFETY: the reference keeps the memory until the deleter drops the reference.
        let value = unsafe { shared::map(env, self.memory.data(), self.memory.size(), drop_box, reference.cast()) };
        if value.is_none() {
            // SAFETY: Node did not take the reference.
            drop(unsafe { Box::from_raw(reference) });
        }
        value
    }

    /// Makes an `ArrayBuffer` over the memory, which `release` can detach.
    pub fn expose(&mut self, env: Env) -> Option<Value> {
        if self.is_lent() {
            return None;
        }
        let viewed: Viewed = Arc::new(Mutex::new(Some(self.memory.try_clone().ok()?)));
        let hint = Arc::into_raw(viewed.clone()).cast_mut();
        let (data, size, mut value) = (self.memory.data().cast(), self.memory.size(), null_mut());
        // SAFETY: the reference behind `hint` keeps the memory until the buffer is detached or collected.
        let status = unsafe {
            sys::napi_create_external_arraybuffer(env.0, data, size, Some(drop_viewed), hint.cast(), &mut value)
        };
        if status != sys::Status::napi_ok {
            // SAFETY: Node did not take `hint`. Electron refuses external buffers: napi_no_external_buffers_allowed.
            drop(unsafe { Arc::from_raw(hint) });
            return None;
        }
        self.viewed = Some(viewed);
        Some(value)
    }

    /// Makes an `ArrayBuffer` with a copy of the memory.
    pub fn copy(&self, env: Env) -> Value {
        // SAFETY: the memory lives as long as its reference. A concurrent writer can only make the copy inconsistent.
        env.copied_bytes(unsafe { std::slice::from_raw_parts(self.memory.data(), self.memory.size()) })
    }

    /// Releases the reference. With `buffer`, also detaches the buffer, which empties it, and releases the buffer's reference.
    pub fn release(self, env: Env, buffer: Option<Value>) {
        let detached = buffer.is_some_and(|buffer| env.detach(buffer));
        if let (Some(viewed), true) = (self.viewed, detached) {
            // Dropped now, because a slab that waits for the garbage collector is missing in the pool.
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
