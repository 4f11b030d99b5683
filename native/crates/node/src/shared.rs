// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps native memory as a `SharedArrayBuffer`, and keeps an `ArrayBuffer`'s memory for native code, if Node can.
//! spec/decisions/native-memory-is-mapped-as-shared-where-node-can.md

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use napi_sys as sys;

use crate::js::{Env, Value};

/// Called once, on any thread, when no thread can access the memory any more.
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
    /// Node-API's `node_api_create_external_sharedarraybuffer`: Node 22.23 and 24.21 have it.
    NodeApi(CreateExternalShared),
    /// V8's own function, through `shared_map.cc`.
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

/// The features of this process.
#[derive(Clone, Copy)]
pub struct Features {
    pub mapping: Mapping,
    /// Whether native code can keep an ArrayBuffer's memory while JavaScript goes on.
    pub keeps: bool,
}

/// `NODE_MODULE_VERSION` of Node 20, 22 and 24: the versions with which `shared_map.cc` was tested. V8's functions are not a stable
/// interface, so untested versions do not use `shared_map.cc`. Electron has other numbers.
const TRIED: [u32; 3] = [115, 127, 137];

static FEATURES: OnceLock<Features> = OnceLock::new();

/// Detects the features, once in each process. `module_version` is `process.versions.modules`.
pub fn learn(module_version: u32) -> Features {
    *FEATURES.get_or_init(|| {
        // SAFETY: the name ends with a zero. RTLD_DEFAULT is null on Linux, and -2 on macOS.
        let found = unsafe { dlsym(default_handle(), c"node_api_create_external_sharedarraybuffer".as_ptr()) };
        let can = if TRIED.contains(&module_version) { v8_can() } else { 0 };
        let mapping = if !found.is_null() {
            // SAFETY: the function of this name has had this signature since it was added (node_api.h, experimental).
            Mapping::NodeApi(unsafe { std::mem::transmute::<*mut c_void, CreateExternalShared>(found) })
        } else if can & 1 != 0 {
            Mapping::V8
        } else {
            Mapping::None
        };
        Features { mapping, keeps: can & 2 != 0 }
    })
}

/// Returns the features that `learn` detected.
pub fn features() -> Features {
    FEATURES.get().copied().unwrap_or(Features { mapping: Mapping::None, keeps: false })
}

fn default_handle() -> *mut c_void {
    if cfg!(target_os = "macos") { (-2isize) as *mut c_void } else { null_mut() }
}

fn v8_can() -> i32 {
    #[cfg(shared_map)]
    // SAFETY: the function only looks symbols up.
    return unsafe { clearway_shared_map_can() };
    #[cfg(not(shared_map))]
    return 0;
}

/// Maps `size` bytes as a `SharedArrayBuffer`. Returns `None` if Node cannot map them; then `deleter` is not called.
///
/// # Safety
/// The memory must stay valid until `deleter(data, hint)` is called.
pub unsafe fn map(env: Env, data: *mut u8, size: usize, deleter: Deleter, hint: *mut c_void) -> Option<Value> {
    match features().mapping {
        Mapping::NodeApi(create) => {
            let mut value = null_mut();
            // SAFETY: the caller guarantees this.
            let status = unsafe { create(env.0, data.cast(), size, Some(deleter), hint, &mut value) };
            (status == sys::Status::napi_ok).then_some(value)
        }
        #[cfg(shared_map)]
        Mapping::V8 => {
            // V8 passes the length to the deleter as well.
            let both = Box::into_raw(Box::new((deleter, hint)));
            // SAFETY: the caller guarantees this; `forward` takes `both` back.
            Some(unsafe { clearway_shared_map(data.cast(), size, forward, both.cast()) })
        }
        _ => None,
    }
}

#[cfg(shared_map)]
unsafe extern "C" fn forward(data: *mut c_void, _size: usize, both: *mut c_void) {
    // SAFETY: the box of `map`, taken back once.
    let (deleter, hint) = unsafe { *Box::from_raw(both.cast::<(Deleter, *mut c_void)>()) };
    // SAFETY: the caller of `map` guarantees this.
    unsafe { deleter(data, hint) };
}

/// Keeps the memory of an ArrayBuffer alive until this value is dropped, on any thread. Meanwhile, JavaScript may transfer the buffer to
/// another thread or detach it.
pub struct Kept(#[allow(dead_code, reason = "without a C++ compiler nothing is kept")] *mut c_void);

// SAFETY: the pointer owns an atomic reference count of V8. V8 itself frees buffers on its own threads.
unsafe impl Send for Kept {}
// SAFETY: no method takes this type by reference.
unsafe impl Sync for Kept {}

impl Kept {
    /// Keeps the memory of `buffer`, a plain or shared buffer of a view. Returns `None` if this Node cannot keep it, or if JavaScript can
    /// shrink the buffer.
    pub fn of(env: Env, buffer: Value) -> Option<Kept> {
        #[cfg(shared_map)]
        if features().keeps {
            // SAFETY: a view's buffer is an ArrayBuffer or a SharedArrayBuffer.
            let kept = unsafe { clearway_keep(buffer, i32::from(!env.is_array_buffer(buffer))) };
            return (!kept.is_null()).then_some(Kept(kept));
        }
        let _ = (env, buffer);
        None
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        #[cfg(shared_map)]
        // SAFETY: `clearway_keep` made the pointer, and it is dropped once.
        unsafe {
            clearway_drop(self.0);
        }
    }
}
