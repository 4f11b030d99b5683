// SPDX-License-Identifier: MIT OR Apache-2.0

/** The text of the Rust code that every generated module contains. The code converts values of the codec to Rust values. */
export const rustSupport = `/// A value that is not of its type: where it stands, and what must stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Such as \`args.places[3].city\`.
    pub path: String,
    /// In words.
    pub expected: &'static str,
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{} must be {}", self.path, self.expected)
    }
}

impl std::error::Error for Misfit {}

/// What a method fails with; the caller has all three.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodError {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// Whatever else there is to say.
    pub details: Value,
}

#[allow(dead_code)]
mod read {
    use super::{Misfit, Value};

    pub type Read<T> = Result<T, Misfit>;

    pub fn misfit<T>(expected: &'static str) -> Read<T> {
        Err(Misfit { path: String::new(), expected })
    }

    pub fn inside<T>(read: Read<T>, step: impl FnOnce() -> String) -> Read<T> {
        read.map_err(|inner| Misfit { path: step() + &inner.path, ..inner })
    }

    pub fn nothing(value: &Value) -> Read<()> {
        if *value == Value::Null { Ok(()) } else { misfit("null") }
    }

    pub fn any(value: &Value) -> Read<Value> {
        Ok(value.clone())
    }

    pub fn bool(value: &Value) -> Read<bool> {
        if let Value::Bool(bool) = value { Ok(*bool) } else { misfit("true or false") }
    }

    pub fn i32(value: &Value) -> Read<i32> {
        const EXPECTED: &str = "a whole number of 32 bits";
        let Value::Int(int) = value else { return misfit(EXPECTED) };
        i32::try_from(*int).or_else(|_| misfit(EXPECTED))
    }

    pub fn int(value: &Value) -> Read<i64> {
        const MAX: i64 = (1 << 53) - 1;
        match value {
            Value::Int(int) if (-MAX..=MAX).contains(int) => Ok(*int),
            _ => misfit("a whole number up to 2^53"),
        }
    }

    pub fn i64(value: &Value) -> Read<i64> {
        if let Value::Int(int) = value { Ok(*int) } else { misfit("a whole number of 64 bits") }
    }

    pub fn f64(value: &Value) -> Read<f64> {
        match value {
            Value::Float(float) => Ok(*float),
            // An end that does not keep the two apart.
            Value::Int(int) => Ok(*int as f64),
            _ => misfit("a number"),
        }
    }

    pub fn text(value: &Value) -> Read<String> {
        if let Value::Text(text) = value { Ok(text.clone()) } else { misfit("a text") }
    }

    pub fn bytes(value: &Value) -> Read<Vec<u8>> {
        if let Value::Bytes(bytes) = value { Ok(bytes.clone()) } else { misfit("bytes") }
    }

    pub fn i32s(value: &Value) -> Read<Vec<i32>> {
        if let Value::Int32s(items) = value { Ok(items.clone()) } else { misfit("a list of 32-bit integers") }
    }

    pub fn i64s(value: &Value) -> Read<Vec<i64>> {
        if let Value::Int64s(items) = value { Ok(items.clone()) } else { misfit("a list of 64-bit integers") }
    }

    pub fn f32s(value: &Value) -> Read<Vec<f32>> {
        if let Value::Float32s(items) = value { Ok(items.clone()) } else { misfit("a list of 32-bit floats") }
    }

    pub fn f64s(value: &Value) -> Read<Vec<f64>> {
        if let Value::Float64s(items) = value { Ok(items.clone()) } else { misfit("a list of 64-bit floats") }
    }

    pub fn list<T>(value: &Value, item: impl Fn(&Value) -> Read<T>) -> Read<Vec<T>> {
        let Value::List(items) = value else { return misfit("a list") };
        items.iter().enumerate().map(|(at, each)| inside(item(each), || format!("[{at}]"))).collect()
    }

    pub fn map<T>(value: &Value, item: impl Fn(&Value) -> Read<T>) -> Read<Vec<(String, T)>> {
        const EXPECTED: &str = "a map with texts as keys";
        let Value::Map(entries) = value else { return misfit(EXPECTED) };
        let entry = |(key, each): &(Value, Value)| {
            let Value::Text(key) = key else { return misfit(EXPECTED) };
            Ok((key.clone(), inside(item(each), || format!("[{key:?}]"))?))
        };
        entries.iter().map(entry).collect()
    }

    pub fn nullable<T>(value: &Value, some: impl Fn(&Value) -> Read<T>) -> Read<Option<T>> {
        if *value == Value::Null { Ok(None) } else { some(value).map(Some) }
    }

    pub fn object(value: &Value) -> Read<&Value> {
        if matches!(value, Value::Map(_)) { Ok(value) } else { misfit("an object") }
    }

    pub fn field<T>(object: &Value, name: &str, read: impl Fn(&Value) -> Read<T>) -> Read<T> {
        inside(read(object.get(name).unwrap_or(&Value::Null)), || format!(".{name}"))
    }
}

/// The envelope of what a method gave.
fn reply(given: Result<Value, MethodError>) -> Result<Vec<u8>, Error> {
    let reply = match given {
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
