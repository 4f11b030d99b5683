// SPDX-License-Identifier: MIT OR Apache-2.0

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::serde::Error;
use crate::value::{Value, without_duplicate_keys};

/// Converts a Rust value to a value of the codecs. Copies texts and bytes.
pub fn to_value<T: Serialize + ?Sized>(from: &T) -> Result<Value, Error> {
    from.serialize(ToValue)
}

struct ToValue;

fn integer(negative: bool, magnitude: u128) -> Value {
    Value::integer(negative, &format!("{magnitude:x}")).expect("these are hex digits")
}

fn variant(name: &str, content: Value) -> Value {
    Value::Map(vec![(name.into(), content)])
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Map;
    type SerializeStruct = Map;
    type SerializeStructVariant = Map;

    fn serialize_bool(self, value: bool) -> Result<Value, Error> {
        Ok(Value::Bool(value))
    }
    fn serialize_i8(self, value: i8) -> Result<Value, Error> {
        Ok(Value::Int(value.into()))
    }
    fn serialize_i16(self, value: i16) -> Result<Value, Error> {
        Ok(Value::Int(value.into()))
    }
    fn serialize_i32(self, value: i32) -> Result<Value, Error> {
        Ok(Value::Int(value.into()))
    }
    fn serialize_i64(self, value: i64) -> Result<Value, Error> {
        Ok(Value::Int(value))
    }
    fn serialize_i128(self, value: i128) -> Result<Value, Error> {
        Ok(integer(value < 0, value.unsigned_abs()))
    }
    fn serialize_u8(self, value: u8) -> Result<Value, Error> {
        Ok(Value::Int(value.into()))
    }
    fn serialize_u16(self, value: u16) -> Result<Value, Error> {
        Ok(Value::Int(value.into()))
    }
    fn serialize_u32(self, value: u32) -> Result<Value, Error> {
        Ok(Value::Int(value.into()))
    }
    fn serialize_u64(self, value: u64) -> Result<Value, Error> {
        Ok(i64::try_from(value).map_or_else(|_| integer(false, value.into()), Value::Int))
    }
    fn serialize_u128(self, value: u128) -> Result<Value, Error> {
        Ok(integer(false, value))
    }
    fn serialize_f32(self, value: f32) -> Result<Value, Error> {
        Ok(Value::Float(value.into()))
    }
    fn serialize_f64(self, value: f64) -> Result<Value, Error> {
        Ok(Value::Float(value))
    }
    fn serialize_char(self, value: char) -> Result<Value, Error> {
        Ok(Value::Text(value.into()))
    }
    fn serialize_str(self, value: &str) -> Result<Value, Error> {
        Ok(value.into())
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<Value, Error> {
        Ok(Value::Bytes(value.into()))
    }
    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Error> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<Value, Error> {
        Ok(name.into())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Value, Error> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        Ok(variant(name, to_value(value)?))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<List, Error> {
        Ok(List { values: Vec::new(), variant: None })
    }
    fn serialize_tuple(self, _: usize) -> Result<List, Error> {
        self.serialize_seq(None)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List, Error> {
        self.serialize_seq(None)
    }
    fn serialize_tuple_variant(self, _: &'static str, _: u32, name: &'static str, _: usize) -> Result<List, Error> {
        Ok(List { values: Vec::new(), variant: Some(name) })
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Map, Error> {
        Ok(Map { entries: Vec::new(), key: None, variant: None })
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Map, Error> {
        self.serialize_map(None)
    }
    fn serialize_struct_variant(self, _: &'static str, _: u32, name: &'static str, _: usize) -> Result<Map, Error> {
        Ok(Map { entries: Vec::new(), key: None, variant: Some(name) })
    }
}

/// An unfinished list. `variant` is the name of an enum's variant if the list is that variant's content.
struct List {
    values: Vec<Value>,
    variant: Option<&'static str>,
}

impl List {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.values.push(to_value(value)?);
        Ok(())
    }

    fn finish(self) -> Result<Value, Error> {
        let list = Value::List(self.values);
        Ok(match self.variant {
            Some(name) => variant(name, list),
            None => list,
        })
    }
}

/// An unfinished map. `variant` is the name of an enum's variant if the map is that variant's content.
struct Map {
    entries: Vec<(Value, Value)>,
    key: Option<Value>,
    variant: Option<&'static str>,
}

impl Map {
    fn put<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.entries.push((key.into(), to_value(value)?));
        Ok(())
    }

    fn finish(self) -> Result<Value, Error> {
        let map = Value::Map(without_duplicate_keys(self.entries));
        Ok(match self.variant {
            Some(name) => variant(name, map),
            None => map,
        })
    }
}

macro_rules! lists {
    ($($trait:ident $push:ident),*) => {$(
        impl $trait for List {
            type Ok = Value;
            type Error = Error;
            fn $push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.push(value)
            }
            fn end(self) -> Result<Value, Error> {
                self.finish()
            }
        }
    )*};
}
lists!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

macro_rules! structs {
    ($($trait:ident),*) => {$(
        impl $trait for Map {
            type Ok = Value;
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.put(key, value)
            }
            fn end(self) -> Result<Value, Error> {
                self.finish()
            }
        }
    )*};
}
structs!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Map {
    type Ok = Value;
    type Error = Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = Some(to_value(key)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().ok_or_else(|| Error::custom("a map's value came before its key"))?;
        self.entries.push((key, to_value(value)?));
        Ok(())
    }
    fn end(self) -> Result<Value, Error> {
        self.finish()
    }
}
