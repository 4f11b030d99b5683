// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native memory as a `SharedArrayBuffer`, and an `ArrayBuffer`'s memory kept for native code: where Node can.
//! spec/decisions/native-memory-is-mapped-as-shared-where-node-can.md

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use napi_sys as sys;

use crate::js::{Env, Value};

/// Called once, on any thread, when no thread sees the memory any more.
pub type Deleter = unsafe extern "C" fn(data: *mut c_void, hint: *mut c_void);

type CreateExternalShared = unsafe extern "C" fn(
    sys::napi_env,
    *mut c_void,
    usize,
    Option<Deleter>,
    *mut c_void,
    *mut Value,
) -> sys::napi_status;

/// How this Node maps native memory as shared.
#[derive(Clone, Copy)]
pub enum Mapping {
    /// `node_api_create_external_sharedarraybuffer`: Node 22.23 and 24.21 have it.
    NodeApi(CreateExternalShared),
    /// V8's own function, through `shared_map.cc`.
    V8,
    /// Not at all.
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

/// What this process can do.
#[derive(Clone, Copy)]
pub struct Features {
    pub mapping: Mapping,
    /// An ArrayBuffer's memory can be kept while JavaScript goes on.
    pub keeps: bool,
}

/// `NODE_MODULE_VERSION` of 20, 22 and 24: those that `shared_map.cc` was tried with. V8's functions are no stable
/// interface, so that a version nobody tried does without them. Electron has numbers of its own.
const TRIED: [u32; 3] = [115, 127, 137];

static FEATURES: OnceLock<Features> = OnceLock::new();

/// Looked up once a process. `module_version` is `process.versions.modules`.
pub fn learn(module_version: u32) -> Features {
    *FEATURES.get_or_init(|| {
        // SAFETY: the name ends with a zero; RTLD_DEFAULT is null where this crate is built for (Linux), and -2 on macOS.
        let found = unsafe { dlsym(default_handle(), c"node_api_create_external_sharedarraybuffer".as_ptr()) };
        let can = if TRIED.contains(&module_version) { v8_can() } else { 0 };
        let mapping = if !found.is_null() {
            // SAFETY: the function of this name has this signature since it came (node_api.h, experimental).
            Mapping::NodeApi(unsafe { std::mem::transmute::<*mut c_void, CreateExternalShared>(found) })
        } else if can & 1 != 0 {
            Mapping::V8
        } else {
            Mapping::None
        };
        Features { mapping, keeps: can & 2 != 0 }
    })
}

/// What `learn` found.
pub fn features() -> Features {
    FEATURES.get().copied().unwrap_or(Features { mapping: Mapping::None, keeps: false })
}

fn default_handle() -> *mut c_void {
    if cfg!(target_os = "macos") { (-2isize) as *mut c_void } else { null_mut() }
}

fn v8_can() -> i32 {
    #[cfg(shared_map)]
    // SAFETY: only looks at addresses.
    return unsafe { clearway_shared_map_can() };
    #[cfg(not(shared_map))]
    return 0;
}

/// A `SharedArrayBuffer` over `size` bytes, or `None` where Node cannot; then `deleter` is not called.
///
/// # Safety
/// The memory stays until `deleter(data, hint)` was called.
pub unsafe fn map(env: Env, data: *mut u8, size: usize, deleter: Deleter, hint: *mut c_void) -> Option<Value> {
    match features().mapping {
        Mapping::NodeApi(create) => {
            let mut value = null_mut();
            // SAFETY: as the caller promises.
            let status = unsafe { create(env.0, data.cast(), size, Some(deleter), hint, &mut value) };
            (status == sys::Status::napi_ok).then_some(value)
        }
        #[cfg(shared_map)]
        Mapping::V8 => {
            // V8 gives the deleter the length as well.
            let both = Box::into_raw(Box::new((deleter, hint)));
            // SAFETY: as the caller promises; `forward` takes `both` back.
            Some(unsafe { clearway_shared_map(data.cast(), size, forward, both.cast()) })
        }
        _ => None,
    }
}

#[cfg(shared_map)]
unsafe extern "C" fn forward(data: *mut c_void, _size: usize, both: *mut c_void) {
    // SAFETY: the box of `map`, given back once.
    let (deleter, hint) = unsafe { *Box::from_raw(both.cast::<(Deleter, *mut c_void)>()) };
    // SAFETY: as `map`'s caller promised.
    unsafe { deleter(data, hint) };
}

/// The memory of an ArrayBuffer, kept alive until this is dropped, on whichever thread: also when JavaScript moves the
/// buffer to another thread meanwhile, or detaches it.
pub struct Kept(#[allow(dead_code, reason = "without a C++ compiler nothing is kept")] *mut c_void);

// SAFETY: it is a reference count of V8's, which is atomic, and V8 frees buffers on threads of its own as well.
unsafe impl Send for Kept {}
// SAFETY: it has no method that takes it by reference.
unsafe impl Sync for Kept {}

impl Kept {
    /// `buffer` must be a view's, plain or shared. `None` where this Node cannot, or JavaScript can shrink the buffer.
    pub fn of(env: Env, buffer: Value) -> Option<Kept> {
        #[cfg(shared_map)]
        if features().keeps {
            // SAFETY: a view's buffer is of one of the two kinds.
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
        // SAFETY: made by `clearway_keep`, dropped once.
        unsafe {
            clearway_drop(self.0);
        }
    }
}
