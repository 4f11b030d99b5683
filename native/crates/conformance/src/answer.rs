// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers one conformance case. A case is a line of JSON that asks to encode a value or to decode bytes. conformance/README.md defines
//! the format.

use clearway_codec::{Call, Code, Error, Limits, Reply, Value, binary, json, standard, string};

use crate::notation::{self, form};

const LIMITS: Limits = Limits::DEFAULT;
/// The limits for a case's own JSON, which may be nested deeper than a message.
const CASES: Limits = Limits { depth_max: 1000, items_max: usize::MAX };

/// The reason why a case has no message or value as its answer.
enum Refused {
    /// The codec refused the message or the value.
    ByTheCodec(Error),
    /// The case itself is invalid, for example because it has an odd number of hex digits. It did not reach a codec.
    Invalid,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::ByTheCodec(error)
    }
}

type Answer<T> = Result<T, Refused>;

/// Returns the answer to a case. Neither `line` nor the answer has a line end.
pub fn answer(line: &[u8]) -> Vec<u8> {
    let asked = json::read_value(line, CASES).unwrap_or_default();
    let id = asked.get("id").cloned().unwrap_or_default();
    let answer = match asked.get("op") {
        Some(Value::Text(op)) if op == "encode" => encode(&asked).map(|bytes| ("hex", Value::Text(to_hex(&bytes)))),
        Some(Value::Text(op)) if op == "decode" => decode(&asked).map(|value| ("value", value)),
        _ => Err(Refused::Invalid),
    };
    let (name, value) = answer.unwrap_or_else(|refused| {
        let (code, offset) = match refused {
            Refused::ByTheCodec(error) => (error.code.name(), error.offset as i64),
            Refused::Invalid => ("invalid-argument", 0),
        };
        ("error", Value::Map(vec![("code".into(), code.into()), ("offset".into(), offset.into())]))
    });
    let mut line = Vec::new();
    let answer = Value::Map(vec![("id".into(), id), (name.into(), value)]);
    json::write_value(&answer, CASES, &mut line).expect("an answer is not as deep as a case may be");
    line
}

fn text<'a>(value: &'a Value, key: &str) -> Answer<&'a str> {
    if let Some(Value::Text(text)) = value.get(key) { Ok(text) } else { Err(Refused::Invalid) }
}

fn encode(asked: &Value) -> Answer<Vec<u8>> {
    let value = asked.get("value").ok_or(Refused::Invalid)?;
    let codec = text(asked, "codec")?;
    let plain = codec.starts_with("json");
    let read = |notation: Option<&Value>| {
        notation.map_or(Some(Value::Null), |notation| notation::read(notation, plain)).ok_or(Refused::Invalid)
    };
    let mut to = Vec::new();
    match codec {
        "standard" => standard::write_value(&read(Some(value))?, LIMITS, &mut to)?,
        "json" => json::write(&read(Some(value))?, LIMITS, &mut to)?,
        "string" | "binary" => match (read(Some(value))?, codec) {
            (Value::Null, _) => {}
            (Value::Text(text), "string") => string::write(Some(&text), &mut to),
            (Value::Bytes(bytes), "binary") => binary::write(Some(&bytes), &mut to),
            _ => return Err(Error { code: Code::NotEncodable, offset: 0 }.into()),
        },
        "standard-method" | "json-method" => {
            if let Some(call) = value.get("call") {
                let args = read(call.get("args"))?;
                let write = if plain { json::write_call } else { standard::write_call };
                write(text(call, "method")?, &args, LIMITS, &mut to)?;
            } else {
                let write = if plain { json::write_reply } else { standard::write_reply };
                write(&reply_of(value, read)?, LIMITS, &mut to)?;
            }
        }
        _ => return Err(Refused::Invalid),
    }
    Ok(to)
}

fn reply_of(value: &Value, read: impl Fn(Option<&Value>) -> Answer<Value>) -> Answer<Reply> {
    let Some(error) = value.get("error") else { return Ok(Reply::Success(read(value.get("success"))?)) };
    let text_or_null = |value: Option<&Value>| match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        _ => Err(Refused::Invalid),
    };
    Ok(Reply::Error {
        code: text(error, "code")?.to_owned(),
        message: text_or_null(error.get("message"))?,
        details: read(error.get("details"))?,
        stack: error.get("stacktrace").map(|stack| text_or_null(Some(stack))).transpose()?,
    })
}

fn decode(asked: &Value) -> Answer<Value> {
    let bytes = from_hex(text(asked, "hex")?).ok_or(Refused::Invalid)?;
    let as_call = matches!(asked.get("as"), Some(Value::Text(call)) if call == "call");
    Ok(match text(asked, "codec")? {
        "standard" => notation::write(&standard::read_value(&bytes, LIMITS)?),
        "json" => notation::write(&json::read(&bytes, LIMITS)?),
        "string" => string::read(&bytes)?.into(),
        "binary" => notation::write(&Value::Bytes(binary::read(&bytes).to_vec())),
        "standard-method" if as_call => write_call(standard::read_call(&bytes, LIMITS)?),
        "json-method" if as_call => write_call(json::read_call(&bytes, LIMITS)?),
        "standard-method" => write_reply(standard::read_reply(&bytes, LIMITS)?)?,
        "json-method" => write_reply(json::read_reply(&bytes, LIMITS)?)?,
        _ => return Err(Refused::Invalid),
    })
}

fn write_call(Call { method, args }: Call) -> Value {
    form("call", Value::Map(vec![("method".into(), method.into()), ("args".into(), notation::write(&args))]))
}

fn write_reply(reply: Reply) -> Answer<Value> {
    Ok(match reply {
        // A channel reads an empty reply as "no reply". In the conformance cases, an empty reply is a truncated envelope.
        Reply::None => return Err(Error { code: Code::Truncated, offset: 0 }.into()),
        Reply::Success(value) => form("success", notation::write(&value)),
        Reply::Error { code, message, details, stack } => {
            let text_or_null = |text: Option<String>| text.map_or(Value::Null, Value::from);
            let mut parts = vec![
                ("code".into(), code.into()),
                ("message".into(), text_or_null(message)),
                ("details".into(), notation::write(&details)),
            ];
            parts.extend(stack.map(|stack| ("stacktrace".into(), text_or_null(stack))));
            form("error", Value::Map(parts))
        }
    })
}

fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from_digit(digit.into(), 16).unwrap_or('?'))
        .collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    pairs.collect()
}
