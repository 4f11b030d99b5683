// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads and writes numbers as JavaScript does.

use crate::error::Error;
use crate::json::read::{MALFORMED, Reader};
use crate::value::{Big, Value};

/// JavaScript's largest safe integer, 2^53 - 1. Up to it, no two integers have the same float64.
pub(super) const EXACT_MAX: i64 = (1 << 53) - 1;

/// Reads a number from its first byte.
pub(super) fn number(reader: &mut Reader<'_>) -> Result<Value, Error> {
    let from = reader.at;
    passes(reader, b"-");
    // A digit must not follow a leading zero.
    let mut whole = passes(reader, b"0") || digits(reader);
    if whole && passes(reader, b".") {
        whole = digits(reader);
    }
    if whole && passes(reader, b"eE") {
        passes(reader, b"+-");
        whole = digits(reader);
    }
    if !whole {
        return Err(MALFORMED);
    }
    let text = std::str::from_utf8(&reader.bytes[from..reader.at]).expect("digits are ASCII");
    let value: f64 = text.parse().expect("JSON's numbers are numbers of Rust");
    let exact =
        value.abs() <= EXACT_MAX as f64 && value.trunc() == value && !(value == 0.0 && value.is_sign_negative());
    Ok(if exact { Value::Int(value as i64) } else { Value::Float(value) })
}

fn passes(reader: &mut Reader<'_>, bytes: &[u8]) -> bool {
    let there = reader.peek().is_some_and(|byte| bytes.contains(&byte));
    reader.at += usize::from(there);
    there
}

fn digits(reader: &mut Reader<'_>) -> bool {
    let from = reader.at;
    while matches!(reader.peek(), Some(b'0'..=b'9')) {
        reader.at += 1;
    }
    reader.at > from
}

/// Writes a number as `JSON.stringify` does: with the fewest digits that are read as the same number. Writes null for NaN and infinities.
pub(super) fn put_float(value: f64, to: &mut Vec<u8>) {
    if !value.is_finite() {
        return to.extend_from_slice(b"null");
    }
    if value == 0.0 {
        return to.push(b'0'); // also for minus zero
    }
    // Rust's `{:e}` finds the same digits. It writes the sign, the first digit, the other digits, and the exponent, as in "-1.25e-7".
    let text = to_even(value, format!("{value:e}"));
    let (mantissa, exponent) = text.split_once('e').expect("this format has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    let count = digits.len() as i32;
    let point = exponent + 1; // the number of digits before the point
    let zeros = |count: i32| "0".repeat(count as usize);
    let written = if count <= point && point <= 21 {
        digits.clone() + &zeros(point - count)
    } else if 0 < point && point <= 21 {
        let (before, after) = digits.split_at(point as usize);
        format!("{before}.{after}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{first}{point}{rest}e{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    };
    to.extend_from_slice(sign.as_bytes());
    to.extend_from_slice(written.as_bytes());
}

/// Returns the text that JavaScript writes. Differs from Rust's `text` only if the value is half-way between two texts of this length: Rust
/// picks the larger one, and JavaScript the one whose last digit is even.
fn to_even(value: f64, text: String) -> String {
    let end = text.find('e').unwrap_or(text.len());
    let last = text.as_bytes()[end - 1];
    // Only a long text can be half-way, because a float64 has 53 bits.
    if last % 2 == 0 || end < 16 {
        return text;
    }
    // 800 digits are more than any float64 has.
    let exact = format!("{value:.800e}");
    let digits = exact[..exact.find('e').unwrap_or(0)].trim_end_matches('0');
    let even = format!("{}{}{}", &text[..end - 1], char::from(last - 1), &text[end..]);
    let half = digits.len() == end + 1 && digits.ends_with('5') && digits[..end] == even[..end];
    if half && even.parse() == Ok(value) { even } else { text }
}

/// Writes an integer: exactly within ±(2^53 - 1), otherwise as the nearest float64.
pub(super) fn put_int(value: i64, to: &mut Vec<u8>) {
    if (-EXACT_MAX..=EXACT_MAX).contains(&value) {
        to.extend_from_slice(value.to_string().as_bytes());
    } else {
        put_float(value as f64, to);
    }
}

/// Returns the float64 that is nearest to a big integer.
pub(super) fn nearest(big: &Big) -> f64 {
    let digits = big.digits();
    // The first 16 digits have at least 61 bits, and a float64 keeps 53 of them. The rounding only depends on whether any other digit is
    // not 0.
    let (first, rest) = digits.split_at(digits.len().min(16));
    let sticky = rest.bytes().any(|digit| digit != b'0');
    let bits = u64::from_str_radix(first, 16).unwrap_or(0) | u64::from(sticky);
    let magnitude = bits as f64 * power_of_two(4 * rest.len());
    if big.is_negative() { -magnitude } else { magnitude }
}

/// Returns two to the power `exponent`. Makes the float from its bits, because `powi` may be inexact.
fn power_of_two(exponent: usize) -> f64 {
    if exponent > 1023 { f64::INFINITY } else { f64::from_bits((exponent as u64 + 1023) << 52) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_javascript_writes_them() {
        let cases: [(f64, &str); 15] = [
            (30.573013305664062, "30.573013305664062"),
            (0.1, "0.1"),
            (-0.0, "0"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (123456789012345680000.0, "123456789012345680000"),
            (1.5e300, "1.5e+300"),
            (5e-324, "5e-324"),
            (-1.25e-7, "-1.25e-7"),
            (0.000001, "0.000001"),
            (0.0000012, "0.0000012"),
            (123.456, "123.456"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
            (f64::MAX, "1.7976931348623157e+308"),
        ];
        for (value, text) in cases {
            let mut written = Vec::new();
            put_float(value, &mut written);
            assert_eq!(String::from_utf8(written).unwrap(), text);
        }
    }

    #[test]
    fn a_big_integer_is_rounded_once() {
        let float = |negative, digits: &str| match Value::integer(negative, digits) {
            Some(Value::Big(big)) => nearest(&big),
            other => panic!("not big: {other:?}"),
        };
        assert_eq!(float(false, "10000000000000000"), power_of_two(64));
        // A value half-way between two floats rounds to the even float. A value one larger rounds up.
        assert_eq!(float(false, "10000000000000800"), power_of_two(64));
        assert_eq!(float(false, "10000000000000801"), power_of_two(64) + 4096.0);
        assert_eq!(float(true, "1000000000000080000000001"), -(power_of_two(96) + power_of_two(44)));
        assert_eq!(float(false, &"f".repeat(300)), f64::INFINITY);
    }
}
