// SPDX-License-Identifier: MIT OR Apache-2.0

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::serde::Error;
use crate::value::{Big, Value};

/// Converts a value to a Rust type. Moves texts and bytes, and does not copy them.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    T::deserialize(FromValue(value))
}

struct FromValue(Value);

impl IntoDeserializer<'_, Error> for FromValue {
    type Deserializer = FromValue;

    fn into_deserializer(self) -> FromValue {
        self
    }
}

fn list<'de, V: Visitor<'de>, T: Into<Value>>(list: Vec<T>, visitor: V) -> Result<V::Value, Error> {
    let mut values = SeqDeserializer::new(list.into_iter().map(|value| FromValue(value.into())));
    let read = visitor.visit_seq(&mut values)?;
    values.end()?;
    Ok(read)
}

fn big<'de, V: Visitor<'de>>(big: &Big, visitor: V) -> Result<V::Value, Error> {
    let magnitude = u128::from_str_radix(big.digits(), 16);
    let signed = |magnitude: u128| {
        if big.is_negative() { 0i128.checked_sub_unsigned(magnitude) } else { i128::try_from(magnitude).ok() }
    };
    match magnitude {
        Ok(magnitude) if !big.is_negative() && u64::try_from(magnitude).is_ok() => visitor.visit_u64(magnitude as u64),
        Ok(magnitude) => match signed(magnitude) {
            Some(value) => visitor.visit_i128(value),
            None if !big.is_negative() => visitor.visit_u128(magnitude),
            None => Err(Error::custom("an integer has more than 128 bits")),
        },
        Err(_) => Err(Error::custom("an integer has more than 128 bits")),
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Int(value) => Unexpected::Signed(*value),
        Value::Big(_) => Unexpected::Other("big integer"),
        Value::Float(value) => Unexpected::Float(*value),
        Value::Text(text) => Unexpected::Str(text),
        Value::Bytes(bytes) => Unexpected::Bytes(bytes),
        Value::Map(_) => Unexpected::Map,
        _ => Unexpected::Seq,
    }
}

/// The largest integer up to which each integer has its own float of 64 bits.
const EXACT_MAX: f64 = ((1u64 << 53) - 1) as f64;

/// Returns the integer that a value is. A float beyond 2^53 is none, because it stands for several integers.
fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(int) => Some((*int).into()),
        Value::Big(big) => {
            let magnitude = i128::from_str_radix(big.digits(), 16).ok()?;
            Some(if big.is_negative() { -magnitude } else { magnitude })
        }
        Value::Float(float) if float.abs() <= EXACT_MAX && float.trunc() == *float => Some(*float as i128),
        _ => None,
    }
}

// Only a fraction that becomes a float of 32 bits may be rounded, as on the JVM and in Swift. serde itself would round every number.
impl FromValue {
    fn fits_f64(&self) -> bool {
        whole(&self.0).is_none_or(|whole| (whole as f64) as i128 == whole)
    }

    fn fits_f32(&self) -> bool {
        match (whole(&self.0), &self.0) {
            (Some(whole), _) => (whole as f32) as i128 == whole,
            (None, Value::Float(wide)) => {
                let narrow = *wide as f32;
                narrow.is_finite() == wide.is_finite() && (narrow == 0.0) == (*wide == 0.0)
            }
            (None, _) => true,
        }
    }

    fn inexact(&self) -> Error {
        Error::invalid_value(unexpected(&self.0), &"a number that the type holds exactly")
    }
}

impl<'de> Deserializer<'de> for FromValue {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Int(value) => visitor.visit_i64(value),
            Value::Big(value) => big(&value, visitor),
            Value::Float(value) => visitor.visit_f64(value),
            Value::Text(text) => visitor.visit_string(text),
            Value::Bytes(bytes) => visitor.visit_byte_buf(bytes),
            Value::Int32s(values) => list(values, visitor),
            Value::Int64s(values) => list(values, visitor),
            Value::Float32s(values) => list(values.into_iter().map(f64::from).collect(), visitor),
            Value::Float64s(values) => list(values, visitor),
            Value::List(values) => list(values, visitor),
            Value::Map(entries) => {
                let mut map =
                    MapDeserializer::new(entries.into_iter().map(|(key, value)| (FromValue(key), FromValue(value))));
                let read = visitor.visit_map(&mut map)?;
                map.end()?;
                Ok(read)
            }
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.fits_f64() { self.deserialize_any(visitor) } else { Err(self.inexact()) }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.fits_f32() { self.deserialize_any(visitor) } else { Err(self.inexact()) }
    }

    /// Accepts bytes, too: reads them as a list of small integers.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Bytes(bytes) => list(bytes.into_iter().map(i32::from).collect(), visitor),
            other => FromValue(other).deserialize_any(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            value => visitor.visit_some(FromValue(value)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Text(_) => visitor.visit_enum(Variant { name: self.0, content: None }),
            Value::Map(entries) if entries.len() == 1 => {
                let (name, content) = entries.into_iter().next().expect("there is one");
                visitor.visit_enum(Variant { name, content: Some(content) })
            }
            other => Err(Error::invalid_type(
                unexpected(&other),
                &"a variant: its name, or a map of its name to its content",
            )),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit unit_struct map struct
        identifier ignored_any
    }
}

struct Variant {
    name: Value,
    content: Option<Value>,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Content;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Content), Error> {
        Ok((seed.deserialize(FromValue(self.name))?, Content(self.content)))
    }
}

/// A variant's content.
struct Content(Option<Value>);

impl Content {
    fn value(self) -> Result<FromValue, Error> {
        self.0.map(FromValue).ok_or_else(|| Error::invalid_type(Unexpected::UnitVariant, &"a variant with content"))
    }
}

impl<'de> VariantAccess<'de> for Content {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.0 {
            None | Some(Value::Null) => Ok(()),
            Some(value) => Err(Error::invalid_type(unexpected(&value), &"a variant without content")),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Error> {
        self.value()?.deserialize_tuple(count, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.value()?.deserialize_struct("", fields, visitor)
    }
}
