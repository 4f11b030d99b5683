// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that Rust types with serde's derives are converted to values and bytes, and back.

use std::collections::BTreeMap;
use std::fmt::Debug;

use clearway_codec::serde::{from_value, to_value};
use clearway_codec::{Limits, Value, standard};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

fn round<T: Serialize + DeserializeOwned + PartialEq + Debug>(given: T) -> Value {
    let value = to_value(&given).unwrap();
    let mut bytes = Vec::new();
    standard::write(&value, Limits::DEFAULT, &mut bytes).unwrap();
    let read = standard::read(&bytes, Limits::DEFAULT).unwrap();
    assert_eq!(from_value::<T>(read).unwrap(), given);
    value
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct All {
    yes: bool,
    small: i8,
    big: u64,
    bigger: i128,
    half: f32,
    whole: f64,
    letter: char,
    text: String,
    bytes: ByteBuf,
    list: Vec<u8>,
    pair: (i32, String),
    none: Option<i32>,
    some: Option<i32>,
    unit: (),
    map: BTreeMap<i64, bool>,
    nested: Vec<Shape>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Empty,
    Circle(f64),
    Line(i32, i32),
    Rect { width: f64, height: f64 },
}

#[test]
fn every_kind_of_field_comes_back() {
    let value = round(All {
        yes: true,
        small: -128,
        big: u64::MAX,
        bigger: i128::MIN,
        half: 1.5,
        whole: -0.25,
        letter: 'ü',
        text: "Zoë".into(),
        bytes: ByteBuf::from([1, 2]),
        list: vec![3, 4],
        pair: (5, "six".into()),
        none: None,
        some: Some(7),
        unit: (),
        map: [(1, true), (-2, false)].into(),
        nested: vec![Shape::Empty, Shape::Circle(1.0), Shape::Line(1, 2), Shape::Rect { width: 3.0, height: 4.5 }],
    });
    assert_eq!(value.get("bytes"), Some(&Value::Bytes(vec![1, 2])));
    assert_eq!(value.get("none"), Some(&Value::Null));
    assert_eq!(value.get("nested"), Some(&to_value(&serde_value()).unwrap()));
}

fn serde_value() -> Vec<Shape> {
    vec![Shape::Empty, Shape::Circle(1.0), Shape::Line(1, 2), Shape::Rect { width: 3.0, height: 4.5 }]
}

#[test]
fn integers_of_every_size_come_back() {
    for value in [0, 1, -1, i128::from(i64::MAX), i128::from(i64::MAX) + 1, u64::MAX.into(), i128::MAX, i128::MIN] {
        round(value);
    }
    round(u128::MAX);
    assert!(from_value::<u8>(Value::Int(256)).is_err());
    assert!(from_value::<i64>(to_value(&u64::MAX).unwrap()).is_err());
    assert!(from_value::<i128>(Value::integer(false, &"f".repeat(40)).unwrap()).is_err());
}

#[test]
fn no_number_becomes_another_number() {
    let exact = 1i64 << 53;
    assert_eq!(from_value::<f64>(Value::Int(exact)), Ok(exact as f64));
    assert_eq!(from_value::<f32>(Value::Int(1 << 24)), Ok(16_777_216.0));
    assert_eq!(from_value::<f32>(Value::Float(0.1)), Ok(0.1)); // a fraction may be rounded
    assert_eq!(from_value::<f32>(Value::Float(f64::INFINITY)), Ok(f32::INFINITY));
    assert!(from_value::<f32>(Value::Float(f64::NAN)).unwrap().is_nan());
    for wrong in [Value::Int(exact + 1), Value::Int(i64::MAX), to_value(&u64::MAX).unwrap()] {
        assert!(from_value::<f64>(wrong.clone()).is_err(), "{wrong:?}");
        assert!(from_value::<Vec<Option<f64>>>(Value::List(vec![wrong.clone()])).is_err(), "{wrong:?}");
    }
    for wrong in [Value::Int((1 << 24) + 1), Value::Float(16_777_217.0), Value::Float(1e300), Value::Float(1e-300)] {
        assert!(from_value::<f32>(wrong.clone()).is_err(), "{wrong:?}");
    }
}

#[test]
fn values_that_javascript_encodes_are_decoded() {
    // JavaScript encodes a whole number as an integer, a Float64Array as a typed list, and a Uint8Array as bytes.
    assert_eq!(from_value::<f64>(Value::Int(2)), Ok(2.0));
    assert_eq!(from_value::<Vec<f64>>(Value::Float64s(vec![1.0, 2.5])), Ok(vec![1.0, 2.5]));
    assert_eq!(from_value::<Vec<f32>>(Value::Float32s(vec![1.0, 2.5])), Ok(vec![1.0, 2.5]));
    assert_eq!(from_value::<Vec<i64>>(Value::Int32s(vec![1, -2])), Ok(vec![1, -2]));
    assert_eq!(from_value::<Vec<u8>>(Value::Bytes(vec![1, 255])), Ok(vec![1, 255]));
    assert_eq!(from_value::<[u8; 2]>(Value::Bytes(vec![1, 255])), Ok([1, 255]));
    assert_eq!(from_value::<ByteBuf>(Value::Bytes(vec![1])).unwrap(), ByteBuf::from([1]));
}

#[test]
fn a_wrong_value_is_refused_with_its_type_and_the_expected_type() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Point {
        #[allow(dead_code, reason = "only its type counts")]
        x: f64,
    }
    let map = |key: &str, value: Value| Value::Map(vec![(key.into(), value)]);
    for (value, said) in [
        (Value::Null, "struct Point"),
        (map("x", "one".into()), "expected f64"),
        (map("y", Value::Int(1)), "unknown field `y`"),
        (Value::Map(Vec::new()), "missing field `x`"),
        (Value::List(Vec::new()), "struct Point"),
    ] {
        let error = from_value::<Point>(value).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    for value in [Value::Null, "Oval".into(), map("Circle", "one".into()), map("Empty", Value::Int(1)), "Circle".into()]
    {
        assert!(from_value::<Shape>(value.clone()).is_err(), "{value:?}");
    }
}
