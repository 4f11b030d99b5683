// SPDX-License-Identifier: MIT OR Apache-2.0

use std::collections::HashMap;

/// A value of a message. Values compare by content. NaN equals no value.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// Null.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// An integer of 64 bits. The standard codec writes it with 32 bits if it fits.
    Int(i64),
    /// An integer beyond 64 bits.
    Big(Big),
    /// A float of 64 bits.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list of 32-bit integers.
    Int32s(Vec<i32>),
    /// A list of 64-bit integers.
    Int64s(Vec<i64>),
    /// A list of 32-bit floats.
    Float32s(Vec<f32>),
    /// A list of 64-bit floats.
    Float64s(Vec<f64>),
    /// A list.
    List(Vec<Value>),
    /// A map that keeps the order of its entries. In a decoded map, each scalar key occurs once.
    Map(Vec<(Value, Value)>),
}

/// An integer beyond 64 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Big {
    negative: bool,
    digits: String,
}

impl Big {
    /// Returns whether the integer is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns the hex digits in lower case, without leading zeros.
    pub fn digits(&self) -> &str {
        &self.digits
    }
}

impl Value {
    /// Makes an integer from a sign and hex digits: `Int` if it fits, otherwise `Big`. Returns `None` if `digits` is empty or has other
    /// characters.
    pub fn integer(negative: bool, digits: &str) -> Option<Value> {
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        if digits.len() <= 16 {
            let magnitude = i128::from_str_radix(if digits.is_empty() { "0" } else { digits }, 16).ok()?;
            if let Ok(small) = i64::try_from(if negative { -magnitude } else { magnitude }) {
                return Some(Value::Int(small));
            }
        }
        Some(Value::Big(Big { negative, digits: digits.to_ascii_lowercase() }))
    }

    /// Returns the value of a text key. Returns `None` if the value is not a map or has no such key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(entries) = self else { return None };
        entries.iter().find(|(each, _)| matches!(each, Value::Text(text) if text == key)).map(|(_, value)| value)
    }
}

/// The identity of a map's key. Null, booleans, integers and texts compare by value. Floats compare by their bits. A key of another type
/// equals no other key.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Big(&'a Big),
    Float(u64),
    Text(&'a str),
}

fn key(value: &Value) -> Option<Key<'_>> {
    match value {
        Value::Null => Some(Key::Null),
        Value::Bool(bool) => Some(Key::Bool(*bool)),
        Value::Int(int) => Some(Key::Int(*int)),
        Value::Big(big) => Some(Key::Big(big)),
        Value::Float(float) => Some(Key::Float(float.to_bits())),
        Value::Text(text) => Some(Key::Text(text)),
        _ => None,
    }
}

/// Removes duplicate keys. The last value of a key counts, and stands at the place of the first one.
pub(crate) fn without_duplicate_keys(entries: Vec<(Value, Value)>) -> Vec<(Value, Value)> {
    let mut places = HashMap::with_capacity(entries.len());
    let mut value_of = Vec::with_capacity(entries.len());
    let mut first = Vec::with_capacity(entries.len());
    for (at, (each, _)) in entries.iter().enumerate() {
        value_of.push(at);
        let place = key(each).map_or(at, |key| *places.entry(key).or_insert(at));
        value_of[place] = at;
        first.push(place == at);
    }
    if first.iter().all(|first| *first) {
        return entries;
    }
    drop(places);
    let (keys, values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    let mut values: Vec<_> = values.into_iter().map(Some).collect();
    let kept = keys.into_iter().enumerate().filter(|(at, _)| first[*at]);
    kept.map(|(at, key)| (key, values[value_of[at]].take().unwrap_or_default())).collect()
}

macro_rules! from {
    ($($from:ty => $form:ident),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Value {
                Value::$form(value.into())
            }
        })*
    };
}

from! {
    bool => Bool,
    i32 => Int,
    i64 => Int,
    f64 => Float,
    &str => Text,
    String => Text,
    Vec<u8> => Bytes,
    Vec<Value> => List,
}

/// A method call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The method's name.
    pub method: String,
    /// The method's arguments.
    pub args: Value,
}

/// The reply to a method call.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// No reply. The method is not implemented, or the channel has no handler. The message has no bytes.
    None,
    /// A value.
    Success(Value),
    /// An error.
    Error {
        /// The error code, for programs.
        code: String,
        /// The error message, for people.
        message: Option<String>,
        /// Further details, in any form.
        details: Value,
        /// The stack trace: missing, null, or a text. It is the optional fourth part of the reply, and some implementations do not read it.
        stack: Option<Option<String>>,
    },
}
