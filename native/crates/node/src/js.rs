// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wraps the functions of Node-API that the addon uses. A wrapper returns `None` for a value of the wrong type. An exception that
//! Node-API has thrown stays pending, and JavaScript receives it when the native function returns. The wrappers themselves do not panic.
//! `guarded` catches the panics of all other code before they reach Node.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::rc::Rc;

use napi_sys as sys;

/// The environment of one JavaScript thread. Other threads must not use it.
#[derive(Clone, Copy)]
pub struct Env(pub sys::napi_env);

/// A JavaScript value. It is valid until the native function that received or made it returns to JavaScript.
pub type Value = sys::napi_value;

/// The address of a view's bytes, their number, and the view's buffer.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub data: *mut u8,
    pub size: usize,
    pub buffer: Value,
}

/// Marks the objects that this addon makes, to distinguish them from the objects of other addons.
const TAG: sys::napi_type_tag = sys::napi_type_tag { lower: 0x636c_6561_7277_6179, upper: 0x706f_7274_0000_0001 };

const OK: i32 = sys::Status::napi_ok;

/// Keeps a JavaScript object alive. It must be dropped on the object's own thread.
pub struct Reference(Env, sys::napi_ref);

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: `keep` made the reference, and only this drop deletes it. Node allows this call during garbage collection.
        unsafe { sys::napi_delete_reference(self.0.0, self.1) };
    }
}

/// The signature of a function that JavaScript calls.
pub type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> Value;

impl Env {
    /// Runs a function. Turns a panic of the function into a JavaScript error.
    #[inline]
    pub fn guarded(self, run: impl FnOnce() -> Value) -> Value {
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            // Dropping the panic's payload could panic again, so the payload is leaked.
            std::mem::forget(panic);
            self.throw("panicked", "the addon panicked: its message stands on stderr")
        })
    }

    /// Returns the arguments of the JavaScript call, and the function's data pointer. Missing arguments are `undefined`.
    #[inline]
    pub fn arguments<const N: usize>(self, info: sys::napi_callback_info) -> ([Value; N], *mut c_void) {
        let (values, _, data) = self.counted(info);
        (values, data)
    }

    /// Returns the arguments as `arguments` does, and the number of arguments that JavaScript passed.
    #[inline]
    pub fn counted<const N: usize>(self, info: sys::napi_callback_info) -> ([Value; N], usize, *mut c_void) {
        let (mut values, mut count, mut data) = ([null_mut(); N], N, null_mut());
        // SAFETY: `values` has room for `count` values. Node writes `undefined` for each missing argument.
        unsafe { sys::napi_get_cb_info(self.0, info, &mut count, values.as_mut_ptr(), null_mut(), &mut data) };
        (values, count, data)
    }

    #[inline]
    pub fn undefined(self) -> Value {
        let mut value = null_mut();
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_get_undefined(self.0, &mut value) };
        value
    }

    pub fn number(self, number: f64) -> Value {
        let mut value = null_mut();
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_create_double(self.0, number, &mut value) };
        value
    }

    /// Makes a number from an integer. V8 allocates no object for a small integer.
    #[inline]
    pub fn small(self, number: i32) -> Value {
        let mut value = null_mut();
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_create_int32(self.0, number, &mut value) };
        value
    }

    pub fn boolean(self, flag: bool) -> Value {
        let mut value = null_mut();
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_get_boolean(self.0, flag, &mut value) };
        value
    }

    pub fn text(self, text: &str) -> Value {
        let mut value = null_mut();
        // SAFETY: the pointer and the length are those of `text`, and Node copies the text.
        unsafe { sys::napi_create_string_utf8(self.0, text.as_ptr().cast(), text.len() as isize, &mut value) };
        value
    }

    pub fn object(self, fields: &[(&str, Value)]) -> Value {
        let mut object = null_mut();
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_create_object(self.0, &mut object) };
        for (name, value) in fields {
            self.set(object, name, *value);
        }
        object
    }

    pub fn set(self, object: Value, name: &str, value: Value) {
        let key = self.text(name);
        // SAFETY: the object, the key and the value belong to this thread, and their scope is open.
        unsafe { sys::napi_set_property(self.0, object, key, value) };
    }

    pub fn function(self, name: &str, callback: Callback, data: *mut c_void) -> Value {
        let mut value = null_mut();
        // SAFETY: Node copies the name. Node does not read through `data`; it passes the pointer to `callback`.
        unsafe {
            sys::napi_create_function(
                self.0,
                name.as_ptr().cast(),
                name.len() as isize,
                Some(callback),
                data,
                &mut value,
            )
        };
        value
    }

    #[inline]
    pub fn is_undefined(self, value: Value) -> bool {
        let mut kind = 0;
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_typeof(self.0, value, &mut kind) == OK && kind == sys::ValueType::napi_undefined }
    }

    /// Returns `process.versions.modules`, the version of Node's binary interface for addons. Returns 0 if the property is missing.
    pub fn module_version(self) -> u32 {
        let mut value = null_mut();
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_get_global(self.0, &mut value) };
        for name in [c"process", c"versions", c"modules"] {
            // SAFETY: each name ends with a zero byte. If one step fails, the following steps fail as well.
            unsafe { sys::napi_get_named_property(self.0, value, name.as_ptr(), &mut value) };
        }
        self.as_text(value).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    #[inline]
    pub fn as_f64(self, value: Value) -> Option<f64> {
        let mut number = 0.0;
        // SAFETY: Node checks the type of `value`, and writes to a local variable.
        (unsafe { sys::napi_get_value_double(self.0, value, &mut number) } == OK).then_some(number)
    }

    /// Returns a whole number from 0 to 2^53 - 1, such as a handle or a size. Returns `None` for any other value.
    #[inline]
    pub fn as_u64(self, value: Value) -> Option<u64> {
        let number = self.as_f64(value)?;
        // A fraction, a negative number or NaN changes in this conversion, so the comparison below rejects it.
        let whole = number as u64;
        (whole <= 9_007_199_254_740_991 && whole as f64 == number).then_some(whole)
    }

    /// Returns an array index. Returns `usize::MAX`, an index beyond the end of every array, if the value is not a number.
    #[inline]
    pub fn as_index(self, value: Value) -> usize {
        let mut number = 0;
        // SAFETY: Node checks the type of `value`, and writes to a local variable.
        let status = unsafe { sys::napi_get_value_uint32(self.0, value, &mut number) };
        if status == OK { number as usize } else { usize::MAX }
    }

    /// Keeps a value until Node ends this thread's instance of the addon.
    pub fn keep_instance<T>(self, data: Rc<T>) {
        unsafe extern "C" fn finalize<T>(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
            // SAFETY: `data` is the pointer from `Rc::into_raw` below. Node runs the finalizer once.
            drop(unsafe { Rc::from_raw(data.cast::<T>()) });
        }
        let data = Rc::into_raw(data).cast_mut().cast();
        // SAFETY: the addon sets the instance data once. The finalizer drops it.
        unsafe { sys::napi_set_instance_data(self.0, data, Some(finalize::<T>), null_mut()) };
    }

    /// Returns the value that `keep_instance` keeps. Returns `None` after the instance has ended.
    ///
    /// # Safety
    /// `T` must be the type of the value that `keep_instance` received.
    pub unsafe fn instance<T>(self) -> Option<Rc<T>> {
        let mut data = null_mut();
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_get_instance_data(self.0, &mut data) };
        let data: *const T = data.cast();
        // SAFETY: the instance keeps its own reference count. This adds a count for the result.
        (!data.is_null()).then(|| unsafe {
            Rc::increment_strong_count(data);
            Rc::from_raw(data)
        })
    }

    pub fn as_bool(self, value: Value) -> bool {
        let mut flag = false;
        // SAFETY: Node checks the type of `value`, and writes to a local variable.
        unsafe { sys::napi_get_value_bool(self.0, value, &mut flag) };
        flag
    }

    pub fn as_text(self, value: Value) -> Option<String> {
        let mut size = 0;
        // SAFETY: without a buffer, Node writes only the text's size.
        if unsafe { sys::napi_get_value_string_utf8(self.0, value, null_mut(), 0, &mut size) } != OK {
            return None;
        }
        let mut text = vec![0u8; size + 1];
        // SAFETY: the buffer has room for `size` bytes and for the zero byte that Node writes after them.
        unsafe { sys::napi_get_value_string_utf8(self.0, value, text.as_mut_ptr().cast(), size + 1, &mut size) };
        text.truncate(size);
        String::from_utf8(text).ok()
    }

    /// Returns the bytes of a `Uint8Array`, which may view shared memory. Returns `None` for any other value.
    #[inline]
    pub fn as_bytes(self, value: Value) -> Option<Bytes> {
        let (mut kind, mut size, mut data, mut buffer) = (0, 0, null_mut(), null_mut());
        // SAFETY: Node checks the type of `value`, and writes to local variables. This function also accepts views of shared buffers.
        // `napi_get_arraybuffer_info` refuses shared buffers before Node 22.
        let status = unsafe {
            sys::napi_get_typedarray_info(self.0, value, &mut kind, &mut size, &mut data, &mut buffer, null_mut())
        };
        (status == OK && kind == sys::TypedarrayType::uint8_array).then_some(Bytes { data: data.cast(), size, buffer })
    }

    /// Returns the address of a `Float64Array`'s elements, and their number. Returns `None` for any other value.
    pub fn as_doubles(self, value: Value) -> Option<(*mut f64, usize)> {
        let (mut kind, mut count, mut data) = (0, 0, null_mut());
        // SAFETY: Node checks the type of `value`, and writes to local variables.
        let status = unsafe {
            sys::napi_get_typedarray_info(self.0, value, &mut kind, &mut count, &mut data, null_mut(), null_mut())
        };
        (status == OK && kind == sys::TypedarrayType::float64_array).then_some((data.cast(), count))
    }

    /// Makes a JavaScript object that owns `value`. When the garbage collector frees the object, `value` is dropped.
    pub fn external<T>(self, value: Box<T>) -> Value {
        unsafe extern "C" fn finalize<T>(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
            // SAFETY: `data` is the pointer from `Box::into_raw` below. Node runs the finalizer once.
            drop(unsafe { Box::from_raw(data.cast::<T>()) });
        }
        let mut object = null_mut();
        let data = Box::into_raw(value).cast();
        // SAFETY: the object owns the box from now on. `as_external` checks the tag before it uses the pointer.
        unsafe {
            sys::napi_create_external(self.0, data, Some(finalize::<T>), null_mut(), &mut object);
            sys::napi_type_tag_object(self.0, object, &TAG);
        }
        object
    }

    /// Returns the value of an object that `external` made. Returns `None` for any other JavaScript value.
    ///
    /// # Safety
    /// All externals of this addon must have been made with the type `T`. The caller must not use the reference after the native function
    /// has returned to JavaScript.
    pub unsafe fn as_external<'a, T>(self, value: Value) -> Option<&'a T> {
        let (mut kind, mut ours, mut data) = (0, false, null_mut());
        // SAFETY: Node checks the type of `value`. The tag proves that this addon made the pointer.
        unsafe {
            if sys::napi_typeof(self.0, value, &mut kind) != OK || kind != sys::ValueType::napi_external {
                return None;
            }
            sys::napi_check_object_type_tag(self.0, value, &TAG, &mut ours);
            if !ours || sys::napi_get_value_external(self.0, value, &mut data) != OK {
                return None;
            }
            data.cast::<T>().as_ref()
        }
    }

    /// Protects an object from garbage collection until the returned reference is dropped.
    pub fn keep(self, object: Value) -> Reference {
        let mut reference = null_mut();
        // SAFETY: `object` is an object of this thread.
        unsafe { sys::napi_create_reference(self.0, object, 1, &mut reference) };
        Reference(self, reference)
    }

    pub fn is_array_buffer(self, value: Value) -> bool {
        let mut is = false;
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_is_arraybuffer(self.0, value, &mut is) };
        is
    }

    /// Makes an `ArrayBuffer` with a copy of the bytes.
    pub fn copied_bytes(self, bytes: &[u8]) -> Value {
        let (mut buffer, mut data) = (null_mut(), null_mut());
        // SAFETY: Node allocates `bytes.len()` bytes at `data`.
        unsafe {
            if sys::napi_create_arraybuffer(self.0, bytes.len(), &mut data, &mut buffer) == OK && !bytes.is_empty() {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len());
            }
        }
        buffer
    }

    /// Detaches an `ArrayBuffer`: the buffer and all its views then have the length 0. Returns whether this call has detached it. If
    /// JavaScript has detached the buffer before, for example by `transfer()`, another buffer may have its memory.
    pub fn detach(self, buffer: Value) -> bool {
        let mut was_detached = true;
        // SAFETY: Node checks the type of `buffer`, and whether the buffer may be detached, and writes to a local variable.
        unsafe {
            sys::napi_is_detached_arraybuffer(self.0, buffer, &mut was_detached);
            !was_detached && sys::napi_detach_arraybuffer(self.0, buffer) == OK
        }
    }

    /// Reports to the garbage collector that memory outside of its heap has grown or shrunk by `change` bytes.
    pub fn adjust_external(self, change: i64) {
        let mut now = 0;
        // SAFETY: Node writes the result to a local variable.
        unsafe { sys::napi_adjust_external_memory(self.0, change, &mut now) };
    }

    /// Throws an `Error` with a `code`. The native function must then return to JavaScript at once, with the value that this returns.
    pub fn throw(self, code: &str, message: &str) -> Value {
        let (code, message) = (self.text(code), self.text(message));
        let mut error = null_mut();
        // SAFETY: `code` and `message` are strings of this thread.
        unsafe {
            sys::napi_create_error(self.0, code, message, &mut error);
            sys::napi_throw(self.0, error);
        }
        null_mut()
    }
}
