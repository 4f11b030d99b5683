// SPDX-License-Identifier: MIT OR Apache-2.0
//! Method calls and replies in JSON. A call is `{"method": …, "args": …}`. A reply is `[value]` or `[code, message, details]`, optionally
//! with a stack trace as the fourth element. The envelope does not count as a nesting level.

use super::read::{MALFORMED, read_to};
use super::write::write_or_truncate;
use crate::error::{Error, Limits};
use crate::value::{Call, Reply, Value};

/// Reads a call.
pub fn read_call(message: &[u8], limits: Limits) -> Result<Call, Error> {
    let Value::Map(entries) = read_to(message, limits.depth() + 1)? else { return Err(MALFORMED) };
    let mut method = None;
    let mut args = Value::Null;
    for (key, value) in entries {
        match key {
            Value::Text(key) if key == "method" => method = Some(value),
            Value::Text(key) if key == "args" => args = value,
            _ => {}
        }
    }
    let Some(Value::Text(method)) = method else { return Err(MALFORMED) };
    Ok(Call { method, args })
}

/// Reads a reply. A message without bytes is `Reply::None`.
pub fn read_reply(message: &[u8], limits: Limits) -> Result<Reply, Error> {
    if message.is_empty() {
        return Ok(Reply::None);
    }
    let Value::List(parts) = read_to(message, limits.depth() + 1)? else { return Err(MALFORMED) };
    let count = parts.len();
    let mut parts = parts.into_iter();
    let mut part = || parts.next().unwrap_or_default();
    if count == 1 {
        return Ok(Reply::Success(part()));
    }
    if count != 3 && count != 4 {
        return Err(MALFORMED);
    }
    let Value::Text(code) = part() else { return Err(MALFORMED) };
    let message = text_or_null(part())?;
    let details = part();
    let stack = if count == 4 { Some(text_or_null(part())?) } else { None };
    Ok(Reply::Error { code, message, details, stack })
}

fn text_or_null(value: Value) -> Result<Option<String>, Error> {
    match value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        _ => Err(MALFORMED),
    }
}

/// Appends a call. Removes the appended bytes on failure.
pub fn write_call(method: &str, args: &Value, limits: Limits, to: &mut Vec<u8>) -> Result<(), Error> {
    write_or_truncate(to, |writer| {
        writer.raw("{\"method\":");
        writer.text(method);
        writer.raw(",\"args\":");
        writer.put(args, 1, limits.depth() + 1)?;
        writer.raw("}");
        Ok(())
    })
}

/// Appends a reply. `Reply::None` has no bytes. Removes the appended bytes on failure.
pub fn write_reply(reply: &Reply, limits: Limits, to: &mut Vec<u8>) -> Result<(), Error> {
    let depth_max = limits.depth() + 1;
    write_or_truncate(to, |writer| {
        match reply {
            Reply::None => return Ok(()),
            Reply::Success(value) => {
                writer.raw("[");
                writer.put(value, 1, depth_max)?;
            }
            Reply::Error { code, message, details, stack } => {
                writer.raw("[");
                writer.text(code);
                writer.raw(",");
                writer.text_or_null(message.as_deref());
                writer.raw(",");
                writer.put(details, 1, depth_max)?;
                if let Some(stack) = stack {
                    writer.raw(",");
                    writer.text_or_null(stack.as_deref());
                }
            }
        }
        writer.raw("]");
        Ok(())
    })
}
