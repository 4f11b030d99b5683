// SPDX-License-Identifier: MIT OR Apache-2.0

/** The Rust code that every generated module contains. It decodes values of the codec to Rust values, and encodes replies. */
export const rustSupport = `/// The error for a value that does not match the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationIssue {
    /// The path of the value, such as \`args.places[3].city\`.
    pub path: String,
    /// The type that the schema expects at the path, in words.
    pub expected: &'static str,
}

impl std::fmt::Display for ValidationIssue {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{} must be {}", self.path, self.expected)
    }
}

impl std::error::Error for ValidationIssue {}

/// The error of a failed method. The caller receives all fields.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodError {
    /// The code, for programs.
    pub code: String,
    /// The text, for people.
    pub message: String,
    /// Further data for the caller. \`Value::Null\` if there is none.
    pub details: Value,
}

/// Decodes values of the codec. A function returns a \`ValidationIssue\` if the value has another type.
#[allow(dead_code)] // a schema may not use every type
mod read {
    use super::{ValidationIssue, Value};

    pub type ReadResult<T> = Result<T, ValidationIssue>;

    pub fn reject<T>(expected: &'static str) -> ReadResult<T> {
        Err(ValidationIssue { path: String::new(), expected })
    }

    /// Adds a step, such as \`.city\`, to the front of an issue's path.
    pub fn prefix_path<T>(result: ReadResult<T>, step: impl FnOnce() -> String) -> ReadResult<T> {
        result.map_err(|inner| ValidationIssue { path: step() + &inner.path, ..inner })
    }

    pub fn nothing(value: &Value) -> ReadResult<()> {
        if *value == Value::Null { Ok(()) } else { reject("null") }
    }

    pub fn any(value: &Value) -> ReadResult<Value> {
        Ok(value.clone())
    }

    pub fn bool(value: &Value) -> ReadResult<bool> {
        if let Value::Bool(bool) = value { Ok(*bool) } else { reject("true or false") }
    }

    pub fn i32(value: &Value) -> ReadResult<i32> {
        const EXPECTED: &str = "a whole number of 32 bits";
        let Value::Int(int) = value else { return reject(EXPECTED) };
        i32::try_from(*int).or_else(|_| reject(EXPECTED))
    }

    pub fn int(value: &Value) -> ReadResult<i64> {
        const MAX: i64 = (1 << 53) - 1;
        match value {
            Value::Int(int) if (-MAX..=MAX).contains(int) => Ok(*int),
            _ => reject("a whole number up to 2^53"),
        }
    }

    pub fn i64(value: &Value) -> ReadResult<i64> {
        if let Value::Int(int) = value { Ok(*int) } else { reject("a whole number of 64 bits") }
    }

    pub fn f64(value: &Value) -> ReadResult<f64> {
        match value {
            Value::Float(float) => Ok(*float),
            // JavaScript, for example, sends the number 1.0 as an integer.
            Value::Int(int) if (*int as f64) as i128 == i128::from(*int) => Ok(*int as f64),
            _ => reject("a number"),
        }
    }

    pub fn text(value: &Value) -> ReadResult<String> {
        if let Value::Text(text) = value { Ok(text.clone()) } else { reject("a text") }
    }

    pub fn bytes(value: &Value) -> ReadResult<Vec<u8>> {
        if let Value::Bytes(bytes) = value { Ok(bytes.clone()) } else { reject("bytes") }
    }

    pub fn i32s(value: &Value) -> ReadResult<Vec<i32>> {
        if let Value::Int32s(items) = value { Ok(items.clone()) } else { reject("a list of 32-bit integers") }
    }

    pub fn i64s(value: &Value) -> ReadResult<Vec<i64>> {
        if let Value::Int64s(items) = value { Ok(items.clone()) } else { reject("a list of 64-bit integers") }
    }

    pub fn f32s(value: &Value) -> ReadResult<Vec<f32>> {
        if let Value::Float32s(items) = value { Ok(items.clone()) } else { reject("a list of 32-bit floats") }
    }

    pub fn f64s(value: &Value) -> ReadResult<Vec<f64>> {
        if let Value::Float64s(items) = value { Ok(items.clone()) } else { reject("a list of 64-bit floats") }
    }

    pub fn list<T>(value: &Value, item: impl Fn(&Value) -> ReadResult<T>) -> ReadResult<Vec<T>> {
        let Value::List(items) = value else { return reject("a list") };
        items.iter().enumerate().map(|(at, each)| prefix_path(item(each), || format!("[{at}]"))).collect()
    }

    pub fn map<T>(value: &Value, item: impl Fn(&Value) -> ReadResult<T>) -> ReadResult<Vec<(String, T)>> {
        const EXPECTED: &str = "a map with texts as keys";
        let Value::Map(entries) = value else { return reject(EXPECTED) };
        let entry = |(key, each): &(Value, Value)| {
            let Value::Text(key) = key else { return reject(EXPECTED) };
            Ok((key.clone(), prefix_path(item(each), || format!("[{key:?}]"))?))
        };
        entries.iter().map(entry).collect()
    }

    pub fn nullable<T>(value: &Value, some: impl Fn(&Value) -> ReadResult<T>) -> ReadResult<Option<T>> {
        if *value == Value::Null { Ok(None) } else { some(value).map(Some) }
    }

    pub fn object(value: &Value) -> ReadResult<&Value> {
        if matches!(value, Value::Map(_)) { Ok(value) } else { reject("an object") }
    }

    pub fn field<T>(object: &Value, name: &str, read: impl Fn(&Value) -> ReadResult<T>) -> ReadResult<T> {
        prefix_path(read(object.get(name).unwrap_or(&Value::Null)), || format!(".{name}"))
    }
}

/// Encodes the reply to a call.
fn reply(result: Result<Value, MethodError>) -> Result<Vec<u8>, Error> {
    let reply = match result {
        Ok(value) => Reply::Success(value),
        Err(MethodError { code, message, details }) => {
            Reply::Error { code, message: Some(message), details, stack: None }
        }
    };
    let mut message = Vec::new();
    standard::write_reply(&reply, Limits::DEFAULT, &mut message)?;
    Ok(message)
}
`;
