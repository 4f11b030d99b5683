// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that the Rust and the C codec decode the same value, or report the same error at the same byte.
#![no_main]

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

use clearway_codec::{Error, Limits, Value, json, standard};
use libfuzzer_sys::fuzz_target;

/// `clearway_values` of clearway_codec.h. An element of `at` is a `clearway_value`, which has three words.
#[repr(C)]
struct Values {
    at: *mut [u64; 3],
    capacity: usize,
    used: usize,
    text: *mut u8,
    text_capacity: usize,
    text_used: usize,
}

/// `clearway_message` of clearway_codec.h.
#[repr(C)]
struct Message {
    bytes: *mut u8,
    capacity: usize,
    size: usize,
}

/// `clearway_codec_result` of clearway_codec.h.
#[repr(C)]
struct Answer {
    code: u32,
    offset: usize,
}

type Read = unsafe extern "C" fn(*const u8, usize, *const c_void, *mut Values, *mut *const c_void) -> Answer;
type Write = unsafe extern "C" fn(*mut Message, *const c_void, *const c_void) -> Answer;

unsafe extern "C" {
    fn clearway_codec_code_name(code: u32) -> *const c_char;
    fn clearway_read_standard(b: *const u8, n: usize, l: *const c_void, v: *mut Values, to: *mut *const c_void) -> Answer;
    fn clearway_read_json(b: *const u8, n: usize, l: *const c_void, v: *mut Values, to: *mut *const c_void) -> Answer;
    fn clearway_write_standard(m: *mut Message, l: *const c_void, v: *const c_void) -> Answer;
    fn clearway_write_json(m: *mut Message, l: *const c_void, v: *const c_void) -> Answer;
}

/// Decodes a message with the C codec and encodes the value again. Returns the encoded message, or the name and the offset of the error.
fn in_c(bytes: &[u8], read: Read, write: Write) -> Result<Vec<u8>, (String, usize)> {
    // A message of n bytes has at most n values.
    let mut memory = vec![[0u64; 3]; bytes.len() + 1];
    let mut text = vec![0u8; bytes.len()];
    let mut values = Values {
        at: memory.as_mut_ptr(),
        capacity: memory.len(),
        used: 0,
        text: text.as_mut_ptr(),
        text_capacity: text.len(),
        text_used: 0,
    };
    let mut value = null();
    // SAFETY: all memory that the C functions receive is valid until they return, and has the stated size.
    unsafe {
        let answer = read(bytes.as_ptr(), bytes.len(), null(), &mut values, &mut value);
        if answer.code != 0 {
            let name = CStr::from_ptr(clearway_codec_code_name(answer.code)).to_string_lossy().into_owned();
            return Err((name, answer.offset));
        }
        let mut message = Message { bytes: null_mut(), capacity: 0, size: 0 };
        write(&mut message, null(), value);
        let mut written = vec![0; message.size];
        message = Message { bytes: written.as_mut_ptr(), capacity: written.len(), size: 0 };
        assert_eq!(write(&mut message, null(), value).code, 0, "what was measured fits");
        Ok(written)
    }
}

/// Asserts that the C codec and the Rust codec have the same result. `c` is the result of `in_c`.
fn compare(
    bytes: &[u8],
    c: Result<Vec<u8>, (String, usize)>,
    read: impl Fn(&[u8]) -> Result<Value, Error>,
    write: impl Fn(&Value, &mut Vec<u8>) -> Result<(), Error>,
) {
    let again = |bytes: &[u8]| {
        let value = read(bytes).map_err(|error| (error.code.name().to_string(), error.offset))?;
        let mut written = Vec::new();
        write(&value, &mut written).expect("what was read can be written");
        Ok(written)
    };
    let rust = again(bytes);
    // The C codec keeps all entries of a repeated key. Decoding its message with the Rust codec removes the repeated entries.
    let c = c.and_then(|written| if Ok(&written) == rust.as_ref() { Ok(written) } else { again(&written) });
    assert_eq!(c, rust);
}

fuzz_target!(|data: &[u8]| {
    const LIMITS: Limits = Limits::DEFAULT;
    let Some((kind, bytes)) = data.split_first() else { return };
    if kind % 2 == 0 {
        let c = in_c(bytes, clearway_read_standard, clearway_write_standard);
        compare(bytes, c, |bytes| standard::read_value(bytes, LIMITS), |value, to| standard::write_value(value, LIMITS, to));
    } else {
        let c = in_c(bytes, clearway_read_json, clearway_write_json);
        compare(bytes, c, |bytes| json::read_value(bytes, LIMITS), |value, to| json::write_value(value, LIMITS, to));
    }
});
