// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of Node-API that the addon uses, each with its check. A failed call returns `None`, or leaves an exception for
//! JavaScript, as Node-API demands. None of these functions panics. `guarded` catches panics of other code at the entry from Node.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::rc::Rc;

use napi_sys as sys;

/// The environment of one JavaScript thread. Other threads must not use it.
#[derive(Clone, Copy)]
pub struct Env(pub sys::napi_env);

/// A JavaScript value, valid until the callback that received it returns.
pub type Value = sys::napi_value;

/// The address and size of a view's bytes, and the view's buffer.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub data: *mut u8,
    pub size: usize,
    pub buffer: Value,
}

/// Distinguishes this addon's objects from objects of other addons.
const TAG: sys::napi_type_tag = sys::napi_type_tag { lower: 0x636c_6561_7277_6179, upper: 0x706f_7274_0000_0001 };

const OK: i32 = sys::Status::napi_ok;

/// Keeps a JavaScript object alive. It must be dropped on the object's own thread.
pub struct Reference(Env, sys::napi_ref);

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: `keep` made the reference, and it is deleted once. Node allows this during garbage collection, too.
        unsafe { sys::napi_delete_reference(self.0.0, self.1) };
    }
}

/// The signature of a function that JavaScript calls.
pub type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> Value;

impl Env {
    /// Runs a function. A panic throws an error in JavaScript.
    #[inline]
    pub fn guarded(self, run: impl FnOnce() -> Value) -> Value {
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            // The payload's drop may panic again, so the payload is leaked.
            std::mem::forget(panic);
            self.throw("panicked", "the addon panicked: its message stands on stderr")
        })
    }

    /// Returns the arguments, padded with `undefined`, and the function's data pointer.
    #[inline]
    pub fn arguments<const N: usize>(self, info: sys::napi_callback_info) -> ([Value; N], *mut c_void) {
        let (values, _, data) = self.counted(info);
        (values, data)
    }

    /// Returns the arguments as `arguments` does, and also their number.
    #[inline]
    pub fn counted<const N: usize>(self, info: sys::napi_callback_info) -> ([Value; N], usize, *mut c_void) {
        let (mut values, mut count, mut data) = ([null_mut(); N], N, null_mut());
        // SAFETY: `values` has room for `count` values. Node fills missing ones with undefined.
        unsafe { sys::napi_get_cb_info(self.0, info, &mut count, values.as_mut_ptr(), null_mut(), &mut data) };
        (values, count, data)
    }

    #[inline]
    pub fn undefined(self) -> Value {
        let mut value = null_mut();
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_get_undefined(self.0, &mut value) };
        value
    }

    pub fn number(self, number: f64) -> Value {
        let mut value = null_mut();
        // SAFETY: as above.
        unsafe { sys::napi_create_double(self.0, number, &mut value) };
        value
    }

    /// Makes a small integer. V8 allocates no object for it.
    #[inline]
    pub fn small(self, number: i32) -> Value {
        let mut value = null_mut();
        // SAFETY: as above.
        unsafe { sys::napi_create_int32(self.0, number, &mut value) };
        value
    }

    pub fn boolean(self, flag: bool) -> Value {
        let mut value = null_mut();
        // SAFETY: as above.
        unsafe { sys::napi_get_boolean(self.0, flag, &mut value) };
        value
    }

    pub fn text(self, text: &str) -> Value {
        let mut value = null_mut();
        // SAFETY: the text is readable for its length, and Node copies it.
        unsafe { sys::napi_create_string_utf8(self.0, text.as_ptr().cast(), text.len() as isize, &mut value) };
        value
    }

    pub fn object(self, fields: &[(&str, Value)]) -> Value {
        let mut object = null_mut();
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_create_object(self.0, &mut object) };
        for (name, value) in fields {
            self.set(object, name, *value);
        }
        object
    }

    pub fn set(self, object: Value, name: &str, value: Value) {
        let key = self.text(name);
        // SAFETY: all three are values of this thread in an open scope.
        unsafe { sys::napi_set_property(self.0, object, key, value) };
    }

    pub fn function(self, name: &str, callback: Callback, data: *mut c_void) -> Value {
        let mut value = null_mut();
        // SAFETY: Node copies the name, and only passes `data` back to `callback`.
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
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_typeof(self.0, value, &mut kind) == OK && kind == sys::ValueType::napi_undefined }
    }

    /// Returns `process.versions.modules`, the version of V8's binary interface, or 0 if it is missing.
    pub fn module_version(self) -> u32 {
        let mut value = null_mut();
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_get_global(self.0, &mut value) };
        for name in [c"process", c"versions", c"modules"] {
            // SAFETY: the names end with a zero. If a step fails, the next step fails as well.
            unsafe { sys::napi_get_named_property(self.0, value, name.as_ptr(), &mut value) };
        }
        self.as_text(value).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    #[inline]
    pub fn as_f64(self, value: Value) -> Option<f64> {
        let mut number = 0.0;
        // SAFETY: Node checks the type.
        (unsafe { sys::napi_get_value_double(self.0, value, &mut number) } == OK).then_some(number)
    }

    /// Returns a whole number from 0 to 2^53 - 1, such as a handle or a size.
    #[inline]
    pub fn as_u64(self, value: Value) -> Option<u64> {
        let number = self.as_f64(value)?;
        let whole = number as u64; // negative numbers, too large ones and NaN do not convert back to the same number
        (whole <= 9_007_199_254_740_991 && whole as f64 == number).then_some(whole)
    }

    /// Returns an array index. For any other value, returns an index that is too large for every array.
    #[inline]
    pub fn as_index(self, value: Value) -> usize {
        let mut number = 0;
        // SAFETY: Node checks the type.
        let status = unsafe { sys::napi_get_value_uint32(self.0, value, &mut number) };
        if status == OK { number as usize } else { usize::MAX }
    }

    /// Keeps a value until this thread's instance of the addon ends.
    pub fn keep_instance<T>(self, data: Rc<T>) {
        unsafe extern "C" fn finalize<T>(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
            // SAFETY: the pointer from below, taken back once.
            drop(unsafe { Rc::from_raw(data.cast::<T>()) });
        }
        let data = Rc::into_raw(data).cast_mut().cast();
        // SAFETY: the data is set once, and the finalizer takes it back.
        unsafe { sys::napi_set_instance_data(self.0, data, Some(finalize::<T>), null_mut()) };
    }

    /// Returns the kept value, or `None` after the instance's end.
    ///
    /// # Safety
    /// `T` must be the type of the value that `keep_instance` received.
    pub unsafe fn instance<T>(self) -> Option<Rc<T>> {
        let mut data = null_mut();
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_get_instance_data(self.0, &mut data) };
        let data: *const T = data.cast();
        // SAFETY: one count belongs to the instance, and the other count to the result.
        (!data.is_null()).then(|| unsafe {
            Rc::increment_strong_count(data);
            Rc::from_raw(data)
        })
    }

    pub fn as_bool(self, value: Value) -> bool {
        let mut flag = false;
        // SAFETY: Node checks the type.
        unsafe { sys::napi_get_value_bool(self.0, value, &mut flag) };
        flag
    }

    pub fn as_text(self, value: Value) -> Option<String> {
        let mut size = 0;
        // SAFETY: without a buffer, Node only measures.
        if unsafe { sys::napi_get_value_string_utf8(self.0, value, null_mut(), 0, &mut size) } != OK {
            return None;
        }
        let mut text = vec![0u8; size + 1];
        // SAFETY: the buffer has room for `size` bytes and the zero that Node writes after them.
        unsafe { sys::napi_get_value_string_utf8(self.0, value, text.as_mut_ptr().cast(), size + 1, &mut size) };
        text.truncate(size);
        String::from_utf8(text).ok()
    }

    /// Returns the bytes of a `Uint8Array`, over shared memory or not. Returns `None` for anything else.
    #[inline]
    pub fn as_bytes(self, value: Value) -> Option<Bytes> {
        let (mut kind, mut size, mut data, mut buffer) = (0, 0, null_mut(), null_mut());
        // SAFETY: Node checks the type. It returns the address for a shared buffer too, which `napi_get_arraybuffer_info`
        // refuses before Node 22.
        let status = unsafe {
            sys::napi_get_typedarray_info(self.0, value, &mut kind, &mut size, &mut data, &mut buffer, null_mut())
        };
        (status == OK && kind == sys::TypedarrayType::uint8_array).then_some(Bytes { data: data.cast(), size, buffer })
    }

    /// Returns the address and the number of the elements of a `Float64Array`.
    pub fn as_doubles(self, value: Value) -> Option<(*mut f64, usize)> {
        let (mut kind, mut count, mut data) = (0, 0, null_mut());
        // SAFETY: Node checks the type.
        let status = unsafe {
            sys::napi_get_typedarray_info(self.0, value, &mut kind, &mut count, &mut data, null_mut(), null_mut())
        };
        (status == OK && kind == sys::TypedarrayType::float64_array).then_some((data.cast(), count))
    }

    /// Makes a JavaScript object that owns `value`. Garbage collection of the object drops `value`.
    pub fn external<T>(self, value: Box<T>) -> Value {
        unsafe extern "C" fn finalize<T>(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
            // SAFETY: the box of `external`, taken back once.
            drop(unsafe { Box::from_raw(data.cast::<T>()) });
        }
        let mut object = null_mut();
        let data = Box::into_raw(value).cast();
        // SAFETY: the object owns the box from here on. `as_external` checks the tag.
        unsafe {
            sys::napi_create_external(self.0, data, Some(finalize::<T>), null_mut(), &mut object);
            sys::napi_type_tag_object(self.0, object, &TAG);
        }
        object
    }

    /// Returns the value of an object that `external` made, or `None` for any other object. All such objects of this addon have the type
    /// `T`.
    ///
    /// # Safety
    /// `T` must be the type of this addon's externals. The reference is valid until the callback returns.
    pub unsafe fn as_external<'a, T>(self, value: Value) -> Option<&'a T> {
        let (mut kind, mut ours, mut data) = (0, false, null_mut());
        // SAFETY: Node checks the type. The tag proves that this addon made the pointer.
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

    /// Protects an object from collection until the reference is dropped.
    pub fn keep(self, object: Value) -> Reference {
        let mut reference = null_mut();
        // SAFETY: `object` is an object of this thread.
        unsafe { sys::napi_create_reference(self.0, object, 1, &mut reference) };
        Reference(self, reference)
    }

    pub fn is_array_buffer(self, value: Value) -> bool {
        let mut is = false;
        // SAFETY: the result is written to a local.
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

    /// Detaches an `ArrayBuffer`, which empties the buffer and all its views.
    pub fn detach(self, buffer: Value) -> bool {
        // SAFETY: Node checks the type, and whether the buffer may be detached.
        unsafe { sys::napi_detach_arraybuffer(self.0, buffer) == OK }
    }

    /// Reports to the garbage collector a change of memory outside of its heap.
    pub fn adjust_external(self, change: i64) {
        let mut now = 0;
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_adjust_external_memory(self.0, change, &mut now) };
    }

    /// Throws an `Error` with a `code`. The caller must return at once.
    pub fn throw(self, code: &str, message: &str) -> Value {
        let (code, message) = (self.text(code), self.text(message));
        let mut error = null_mut();
        // SAFETY: both are strings of this thread.
        unsafe {
            sys::napi_create_error(self.0, code, message, &mut error);
            sys::napi_throw(self.0, error);
        }
        null_mut()
    }
}
