// SPDX-License-Identifier: MIT OR Apache-2.0
//! Converts between values and their notation. conformance/README.md defines the notation. A notation is JSON that has been parsed into a
//! `Value`.

use clearway_codec::Value;

/// The maximum number of zero bytes that the form `uint8len` may request. Every test vector needs fewer, and an invalid case cannot fill
/// the memory.
const ZEROS_MAX: i64 = 1 << 26;
/// The largest integer that a float64 represents exactly together with all smaller ones: 2^53 - 1.
const EXACT_MAX: i64 = (1 << 53) - 1;

/// Returns the value of a notation, or `None` if the notation is invalid. `plain` is true for the JSON codecs: integers of 2^53 and more,
/// and of -2^53 and less, then become floats.
pub fn read(notation: &Value, plain: bool) -> Option<Value> {
    match notation {
        Value::List(values) => values.iter().map(|each| read(each, plain)).collect::<Option<_>>().map(Value::List),
        Value::Map(entries) => match &entries[..] {
            [(Value::Text(form), parts)] => match read_form(form, parts, plain) {
                Some(value) => value,
                None => read_object(entries, plain),
            },
            _ => read_object(entries, plain),
        },
        scalar => Some(scalar.clone()),
    }
}

fn read_object(entries: &[(Value, Value)], plain: bool) -> Option<Value> {
    let read_entry = |(key, each): &(Value, Value)| Some((key.clone(), read(each, plain)?));
    entries.iter().map(read_entry).collect::<Option<_>>().map(Value::Map)
}

/// Reads a form: an object whose one key names a type, such as `int64`. Returns `None` for an unknown form, and `Some(None)` for a known
/// form with invalid parts.
fn read_form(form: &str, parts: &Value, plain: bool) -> Option<Option<Value>> {
    let floats = || elements(parts)?.iter().map(read_float).collect::<Option<Vec<f64>>>();
    Some(match form {
        "int64" | "bigint" => read_integer(parts).map(|integer| if plain { as_json(integer) } else { integer }),
        "float64" => read_float(parts).map(Value::Float),
        "uint8len" => match parts {
            Value::Int(count @ 0..=ZEROS_MAX) => Some(Value::Bytes(vec![0; *count as usize])),
            _ => None,
        },
        "uint8" => floats().map(|list| Value::Bytes(list.iter().map(|each| *each as i64 as u8).collect())),
        "int32" => floats().map(|list| Value::Int32s(list.iter().map(|each| *each as i64 as i32).collect())),
        "float32" => floats().map(|list| Value::Float32s(list.iter().map(|each| *each as f32).collect())),
        "float64list" => floats().map(Value::Float64s),
        "int64list" => {
            elements(parts).and_then(|list| list.iter().map(read_bits).collect::<Option<_>>()).map(Value::Int64s)
        }
        "map" => elements(parts).and_then(|list| read_entries(list, plain)),
        _ => return None,
    })
}

fn elements(parts: &Value) -> Option<&[Value]> {
    if let Value::List(list) = parts { Some(list) } else { None }
}

fn read_entries(list: &[Value], plain: bool) -> Option<Value> {
    let entry = |each: &Value| match elements(each)? {
        [key, value] => Some((read(key, plain)?, read(value, plain)?)),
        _ => None,
    };
    list.iter().map(entry).collect::<Option<_>>().map(Value::Map)
}

fn read_float(notation: &Value) -> Option<f64> {
    match notation {
        Value::Int(int) => Some(*int as f64),
        Value::Float(float) => Some(*float),
        Value::Text(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            "-0" => Some(-0.0),
            _ => None,
        },
        _ => None,
    }
}

fn read_integer(notation: &Value) -> Option<Value> {
    let text = match notation {
        Value::Int(int) => return Some(Value::Int(*int)),
        Value::Text(text) => text,
        _ => return None,
    };
    let (negative, magnitude) = text.strip_prefix('-').map_or((false, &**text), |rest| (true, rest));
    match magnitude.strip_prefix("0x") {
        Some(digits) => Value::integer(negative, digits),
        None => Value::integer(negative, &hex_of(magnitude)?),
    }
}

/// Converts a decimal number of any size to hex digits. Returns `None` if there is no digit, or another character.
fn hex_of(decimals: &str) -> Option<String> {
    let mut limbs: Vec<u32> = vec![0]; // the number in base 2^32, least significant limb first
    for digit in decimals.chars() {
        let mut carry = u64::from(digit.to_digit(10)?);
        for limb in &mut limbs {
            carry += u64::from(*limb) * 10;
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    (!decimals.is_empty()).then(|| limbs.iter().rev().map(|limb| format!("{limb:08x}")).collect())
}

/// Reads an integer of any size, and returns the lower 64 bits of its two's complement.
fn read_bits(notation: &Value) -> Option<i64> {
    match read_integer(notation)? {
        Value::Int(int) => Some(int),
        Value::Big(big) => {
            let digits = big.digits();
            let low = u64::from_str_radix(&digits[digits.len().saturating_sub(16)..], 16).ok()?;
            Some(if big.is_negative() { low.wrapping_neg() } else { low } as i64)
        }
        _ => None,
    }
}

/// Converts an integer that JSON cannot represent exactly to a float.
fn as_json(integer: Value) -> Value {
    match integer {
        Value::Int(int) if !(-EXACT_MAX..=EXACT_MAX).contains(&int) => Value::Float(int as f64),
        other => other,
    }
}

/// Returns the notation of a value.
pub fn write(value: &Value) -> Value {
    match value {
        Value::Int(int) if (-EXACT_MAX..=EXACT_MAX).contains(int) => Value::Int(*int),
        Value::Int(int) => form("int64", Value::Text(int.to_string())),
        Value::Big(big) => {
            let sign = if big.is_negative() { "-" } else { "" };
            form("bigint", Value::Text(format!("{sign}0x{}", big.digits())))
        }
        Value::Float(float) => form("float64", write_float(*float)),
        Value::Bytes(list) => form("uint8", Value::List(list.iter().map(|each| Value::Int((*each).into())).collect())),
        Value::Int32s(list) => form("int32", Value::List(list.iter().map(|each| Value::Int((*each).into())).collect())),
        Value::Int64s(list) => {
            form("int64list", Value::List(list.iter().map(|each| Value::Text(each.to_string())).collect()))
        }
        Value::Float32s(list) => {
            form("float32", Value::List(list.iter().map(|each| write_float((*each).into())).collect()))
        }
        Value::Float64s(list) => form("float64list", Value::List(list.iter().map(|each| write_float(*each)).collect())),
        Value::List(values) => Value::List(values.iter().map(write).collect()),
        Value::Map(entries) => {
            let pairs = entries.iter().map(|(key, each)| Value::List(vec![write(key), write(each)]));
            form("map", Value::List(pairs.collect()))
        }
        scalar => scalar.clone(),
    }
}

fn write_float(float: f64) -> Value {
    if float.is_nan() {
        "NaN".into()
    } else if float.is_infinite() {
        if float > 0.0 { "Infinity" } else { "-Infinity" }.into()
    } else if float == 0.0 && float.is_sign_negative() {
        "-0".into()
    } else {
        Value::Float(float)
    }
}

/// Makes a form: an object with one property.
pub fn form(name: &str, value: Value) -> Value {
    Value::Map(vec![(name.into(), value)])
}
