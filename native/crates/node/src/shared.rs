// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps native memory as a `SharedArrayBuffer`, and keeps an `ArrayBuffer`'s memory alive for native code. Some versions of Node cannot do
//! this. `Features` describes the running Node.
//! The decision: spec/decisions/native-memory-is-mapped-as-shared-where-node-can.md

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use napi_sys as sys;

use crate::js::{Env, Value};

/// Releases the memory behind a `SharedArrayBuffer`. V8 calls this once, on any thread, when no thread can access the memory any more.
pub type Deleter = unsafe extern "C" fn(data: *mut c_void, hint: *mut c_void);

type CreateExternalShared = unsafe extern "C" fn(
    sys::napi_env,
    *mut c_void,
    usize,
    Option<Deleter>,
    *mut c_void,
    *mut Value,
) -> sys::napi_status;

/// The way in which this Node maps native memory as shared.
#[derive(Clone, Copy)]
pub enum Mapping {
    /// Uses Node-API's `node_api_create_external_sharedarraybuffer`. Node 22.23 and 24.21 have this function.
    NodeApi(CreateExternalShared),
    /// Uses V8's own functions, through `shared_map.cc`.
    V8,
    /// This Node cannot map native memory.
    None,
}

#[cfg(shared_map)]
unsafe extern "C" {
    fn clearway_shared_map_can() -> i32;
    fn clearway_shared_map(
        data: *mut c_void,
        length: usize,
        deleter: unsafe extern "C" fn(*mut c_void, usize, *mut c_void),
        hint: *mut c_void,
    ) -> Value;
    fn clearway_keep(buffer: Value, shared: i32) -> *mut c_void;
    fn clearway_drop(kept: *mut c_void);
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const std::ffi::c_char) -> *mut c_void;
}

/// The features of the Node that runs this process.
#[derive(Clone, Copy)]
pub struct Features {
    /// The way to map native memory as a `SharedArrayBuffer`.
    pub mapping: Mapping,
    /// Whether native code can keep an ArrayBuffer's memory alive after the native function has returned to JavaScript.
    pub keeps: bool,
}

/// The `NODE_MODULE_VERSION` of Node 20, 22 and 24, with which `shared_map.cc` was tested. V8's functions are not a stable interface, so
/// other versions do not use `shared_map.cc`. Electron has other numbers than Node.
const TESTED_MODULE_VERSIONS: [u32; 3] = [115, 127, 137];

static FEATURES: OnceLock<Features> = OnceLock::new();

/// Detects the features and returns them. Only the first call in a process detects them. `module_version` is `process.versions.modules`.
pub fn detect(module_version: u32) -> Features {
    *FEATURES.get_or_init(|| {
        // SAFETY: the name ends with a zero byte, and the handle is the platform's RTLD_DEFAULT.
        let found = unsafe { dlsym(default_handle(), c"node_api_create_external_sharedarraybuffer".as_ptr()) };
        let can = if TESTED_MODULE_VERSIONS.contains(&module_version) { v8_can() } else { 0 };
        let mapping = if !found.is_null() {
            // SAFETY: the function has had this signature in every version of Node that has it (node_api.h, experimental).
            Mapping::NodeApi(unsafe { std::mem::transmute::<*mut c_void, CreateExternalShared>(found) })
        } else if can & 1 != 0 {
            Mapping::V8
        } else {
            Mapping::None
        };
        Features { mapping, keeps: can & 2 != 0 }
    })
}

/// Returns the features that `detect` has found. Before `detect`, returns the features of a Node that supports neither.
pub fn features() -> Features {
    FEATURES.get().copied().unwrap_or(Features { mapping: Mapping::None, keeps: false })
}

/// Returns `RTLD_DEFAULT`, with which `dlsym` searches the whole process: -2 on macOS, null on Linux.
fn default_handle() -> *mut c_void {
    if cfg!(target_os = "macos") { (-2isize) as *mut c_void } else { null_mut() }
}

fn v8_can() -> i32 {
    #[cfg(shared_map)]
    // SAFETY: the function only looks up symbols by name.
    return unsafe { clearway_shared_map_can() };
    #[cfg(not(shared_map))]
    return 0;
}

/// Maps `size` bytes as a `SharedArrayBuffer`. Returns `None` if Node cannot map them. In that case, `deleter` is not called.
///
/// # Safety
/// The memory must stay valid until `deleter(data, hint)` is called.
pub unsafe fn map(env: Env, data: *mut u8, size: usize, deleter: Deleter, hint: *mut c_void) -> Option<Value> {
    match features().mapping {
        Mapping::NodeApi(create) => {
            let mut value = null_mut();
            // SAFETY: the caller guarantees that the memory stays valid until `deleter` is called.
            let status = unsafe { create(env.0, data.cast(), size, Some(deleter), hint, &mut value) };
            (status == sys::Status::napi_ok).then_some(value)
        }
        #[cfg(shared_map)]
        Mapping::V8 => {
            // V8's deleters have a further parameter, the length. `forward` has that signature and calls `deleter`.
            let both = Box::into_raw(Box::new((deleter, hint)));
            // SAFETY: the caller guarantees that the memory stays valid until `deleter` is called. `forward` frees `both`.
            Some(unsafe { clearway_shared_map(data.cast(), size, forward, both.cast()) })
        }
        _ => None,
    }
}

/// Calls the deleter that `map` has put into `both`.
#[cfg(shared_map)]
unsafe extern "C" fn forward(data: *mut c_void, _size: usize, both: *mut c_void) {
    // SAFETY: `map` made the box, and V8 calls this function once.
    let (deleter, hint) = unsafe { *Box::from_raw(both.cast::<(Deleter, *mut c_void)>()) };
    // SAFETY: `data` and `hint` are the values that the caller of `map` passed for this deleter.
    unsafe { deleter(data, hint) };
}

/// Keeps the memory of an ArrayBuffer alive until this value is dropped. Any thread may drop it. Until then, JavaScript may transfer the
/// buffer to another thread or detach it.
pub struct KeptBuffer(#[allow(dead_code, reason = "without a C++ compiler nothing is kept")] *mut c_void);

// SAFETY: the pointer owns one count of an atomic reference count of V8. V8 itself drops such counts on several threads.
unsafe impl Send for KeptBuffer {}
// SAFETY: no method takes `&self`.
unsafe impl Sync for KeptBuffer {}

impl KeptBuffer {
    /// Keeps the memory of a view's buffer, which is an `ArrayBuffer` or a `SharedArrayBuffer`. Returns `None` if this Node cannot keep
    /// memory, or if JavaScript can shrink the buffer.
    pub fn of(env: Env, buffer: Value) -> Option<KeptBuffer> {
        #[cfg(shared_map)]
        if features().keeps {
            // SAFETY: the buffer of a view is an ArrayBuffer or a SharedArrayBuffer. The second argument says which of the two.
            let kept = unsafe { clearway_keep(buffer, i32::from(!env.is_array_buffer(buffer))) };
            return (!kept.is_null()).then_some(KeptBuffer(kept));
        }
        let _ = (env, buffer);
        None
    }
}

impl Drop for KeptBuffer {
    fn drop(&mut self) {
        #[cfg(shared_map)]
        // SAFETY: `clearway_keep` made the pointer, and only this drop releases it.
        unsafe {
            clearway_drop(self.0);
        }
    }
}
