// SPDX-License-Identifier: MIT OR Apache-2.0
//! The few functions of Node-API that the addon uses, each with its check. A failed call throws in JavaScript, as Node-API
//! asks, or gives `None`; nothing here panics, and what else does is caught where Node calls in.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::rc::Rc;

use napi_sys as sys;

/// One JavaScript thread. Not to be used on any other.
#[derive(Clone, Copy)]
pub struct Env(pub sys::napi_env);

/// A value of JavaScript, valid until the callback that has it returns.
pub type Value = sys::napi_value;

/// The bytes under a view, where they are and where in their buffer.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub data: *mut u8,
    pub size: usize,
    pub buffer: Value,
}

/// Tells this addon's objects from others'.
const TAG: sys::napi_type_tag = sys::napi_type_tag { lower: 0x636c_6561_7277_6179, upper: 0x706f_7274_0000_0001 };

const OK: i32 = sys::Status::napi_ok;

/// Keeps an object of JavaScript's. Dropped on its own thread.
pub struct Reference(Env, sys::napi_ref);

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: made by `keep`, deleted once; allowed while garbage is collected, too.
        unsafe { sys::napi_delete_reference(self.0.0, self.1) };
    }
}

/// The signature of a function that JavaScript calls.
pub type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> Value;

impl Env {
    /// Runs a function of ours; a panic is thrown as an error.
    #[inline]
    pub fn guarded(self, run: impl FnOnce() -> Value) -> Value {
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            // What was thrown may panic again when it is dropped.
            std::mem::forget(panic);
            self.throw("panicked", "the addon panicked: its message stands on stderr")
        })
    }

    /// The arguments, padded with `undefined`, and what was given with the function.
    #[inline]
    pub fn arguments<const N: usize>(self, info: sys::napi_callback_info) -> ([Value; N], *mut c_void) {
        let (values, _, data) = self.counted(info);
        (values, data)
    }

    /// The same, and how many there were.
    #[inline]
    pub fn counted<const N: usize>(self, info: sys::napi_callback_info) -> ([Value; N], usize, *mut c_void) {
        let (mut values, mut count, mut data) = ([null_mut(); N], N, null_mut());
        // SAFETY: `values` has room for `count` values; Node fills up with undefined what was not passed.
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

    /// A small whole number: no object is made for it.
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
        // SAFETY: the text is there for its length, and Node copies it.
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
        // SAFETY: the name is copied; `data` is only handed back to `callback`.
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

    /// `process.versions.modules`: which V8 this is, for who depends on that. 0 where there is none.
    pub fn module_version(self) -> u32 {
        let mut value = null_mut();
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_get_global(self.0, &mut value) };
        for name in [c"process", c"versions", c"modules"] {
            // SAFETY: names end with a zero; where a step fails, the next one does as well.
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

    /// A whole number from 0 on, as handles and sizes are.
    #[inline]
    pub fn as_u64(self, value: Value) -> Option<u64> {
        let number = self.as_f64(value)?;
        let whole = number as u64; // what is below 0, above or no number becomes one that is not the same
        (whole <= 9_007_199_254_740_991 && whole as f64 == number).then_some(whole)
    }

    /// A whole number that an array may have as its index; what is none becomes one that no array has.
    #[inline]
    pub fn as_index(self, value: Value) -> usize {
        let mut number = 0;
        // SAFETY: Node checks the type.
        let status = unsafe { sys::napi_get_value_uint32(self.0, value, &mut number) };
        if status == OK { number as usize } else { usize::MAX }
    }

    /// Keeps something for as long as this thread's instance of the addon lives.
    pub fn keep_instance<T>(self, data: Rc<T>) {
        unsafe extern "C" fn finalize<T>(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
            // SAFETY: from below, given back once.
            drop(unsafe { Rc::from_raw(data.cast::<T>()) });
        }
        let data = Rc::into_raw(data).cast_mut().cast();
        // SAFETY: what was set is not set again, and taken back by the finalizer.
        unsafe { sys::napi_set_instance_data(self.0, data, Some(finalize::<T>), null_mut()) };
    }

    /// What was kept; nothing after its end.
    ///
    /// # Safety
    /// `T` must be what `keep_instance` was given.
    pub unsafe fn instance<T>(self) -> Option<Rc<T>> {
        let mut data = null_mut();
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_get_instance_data(self.0, &mut data) };
        let data: *const T = data.cast();
        // SAFETY: one count is the instance's; the other is the result's.
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
        // SAFETY: without room, Node only measures.
        if unsafe { sys::napi_get_value_string_utf8(self.0, value, null_mut(), 0, &mut size) } != OK {
            return None;
        }
        let mut text = vec![0u8; size + 1];
        // SAFETY: there is room for `size` bytes and the zero that Node writes behind them.
        unsafe { sys::napi_get_value_string_utf8(self.0, value, text.as_mut_ptr().cast(), size + 1, &mut size) };
        text.truncate(size);
        String::from_utf8(text).ok()
    }

    /// The bytes of a `Uint8Array`, over shared memory or not. `None` for anything else.
    #[inline]
    pub fn as_bytes(self, value: Value) -> Option<Bytes> {
        let (mut kind, mut size, mut data, mut buffer) = (0, 0, null_mut(), null_mut());
        // SAFETY: Node checks the type. It gives the address also where the buffer is shared, which
        // `napi_get_arraybuffer_info` refuses before Node 22.
        let status = unsafe {
            sys::napi_get_typedarray_info(self.0, value, &mut kind, &mut size, &mut data, &mut buffer, null_mut())
        };
        (status == OK && kind == sys::TypedarrayType::uint8_array).then_some(Bytes { data: data.cast(), size, buffer })
    }

    /// Where the numbers of a `Float64Array` stand, and how many.
    pub fn as_doubles(self, value: Value) -> Option<(*mut f64, usize)> {
        let (mut kind, mut count, mut data) = (0, 0, null_mut());
        // SAFETY: Node checks the type.
        let status = unsafe {
            sys::napi_get_typedarray_info(self.0, value, &mut kind, &mut count, &mut data, null_mut(), null_mut())
        };
        (status == OK && kind == sys::TypedarrayType::float64_array).then_some((data.cast(), count))
    }

    /// An object that stands for `value` in JavaScript, and drops it when it is collected.
    pub fn external<T>(self, value: Box<T>) -> Value {
        unsafe extern "C" fn finalize<T>(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
            // SAFETY: the box of `external`, given back once.
            drop(unsafe { Box::from_raw(data.cast::<T>()) });
        }
        let mut object = null_mut();
        let data = Box::into_raw(value).cast();
        // SAFETY: the box is the object's now; the tag is looked at in `as_external`.
        unsafe {
            sys::napi_create_external(self.0, data, Some(finalize::<T>), null_mut(), &mut object);
            sys::napi_type_tag_object(self.0, object, &TAG);
        }
        object
    }

    /// What `external` made; `None` for any other value. All of them are of one type, `T`.
    ///
    /// # Safety
    /// `T` must be what this addon's externals are of; the reference may be used until the callback returns.
    pub unsafe fn as_external<'a, T>(self, value: Value) -> Option<&'a T> {
        let (mut kind, mut ours, mut data) = (0, false, null_mut());
        // SAFETY: Node checks the type, and the tag says that the pointer is ours.
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

    /// Keeps an object from being collected, until the reference is dropped.
    pub fn keep(self, object: Value) -> Reference {
        let mut reference = null_mut();
        // SAFETY: an object of this thread.
        unsafe { sys::napi_create_reference(self.0, object, 1, &mut reference) };
        Reference(self, reference)
    }

    pub fn is_array_buffer(self, value: Value) -> bool {
        let mut is = false;
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_is_arraybuffer(self.0, value, &mut is) };
        is
    }

    /// A `Uint8Array` over a whole buffer, plain or shared.
    pub fn copied_bytes(self, bytes: &[u8]) -> Value {
        let (mut buffer, mut data) = (null_mut(), null_mut());
        // SAFETY: Node allocates `bytes.len()` bytes and says where.
        unsafe {
            if sys::napi_create_arraybuffer(self.0, bytes.len(), &mut data, &mut buffer) == OK && !bytes.is_empty() {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len());
            }
        }
        buffer
    }

    /// Makes an ArrayBuffer empty, and every view of it.
    pub fn detach(self, buffer: Value) -> bool {
        // SAFETY: Node checks the type, and whether it may be detached.
        unsafe { sys::napi_detach_arraybuffer(self.0, buffer) == OK }
    }

    /// Tells the garbage collector of memory that it does not see.
    pub fn adjust_external(self, change: i64) {
        let mut now = 0;
        // SAFETY: the result is written to a local.
        unsafe { sys::napi_adjust_external_memory(self.0, change, &mut now) };
    }

    /// Throws an `Error` with a `code`; the caller returns at once.
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
