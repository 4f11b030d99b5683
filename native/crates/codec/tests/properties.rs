// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests properties of the codecs with many random values and bytes, from fixed seeds. conformance/ has the named cases.

use clearway_codec::{Call, Code, Error, Limits, Reply, Value, json, standard};

/// A small random number generator (splitmix64). It spares the tests a dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn many<T>(&mut self, mut each: impl FnMut(&mut Random) -> T) -> Vec<T> {
        let count = if self.below(20) == 0 { 300 } else { self.below(5) };
        (0..count).map(|_| each(self)).collect()
    }

    fn text(&mut self) -> String {
        self.many(|random| char::from_u32(random.below(0x300) as u32 + 1).unwrap_or('x')).into_iter().collect()
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 11 } else { 13 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 => Value::Int(self.next() as i32 as i64),
            3 => Value::Int(self.next() as i64),
            4 => Value::integer(self.below(2) == 0, &format!("{:x}{:016x}", self.below(1 << 40) + 1, self.next()))
                .unwrap(),
            5 => Value::Float(self.next() as f64 / 3.0),
            6 => Value::Text(self.text()),
            7 => Value::Bytes(self.many(|random| random.next() as u8)),
            8 => Value::Int32s(self.many(|random| random.next() as i32)),
            9 => Value::Int64s(self.many(|random| random.next() as i64)),
            10 => Value::Float64s(self.many(|random| random.next() as f64)),
            11 => Value::List((0..self.below(6)).map(|_| self.value(depth - 1)).collect()),
            _ => {
                let count = self.below(6);
                let entry = |at| (Value::Text(format!("{at} {}", self.text())), self.value(depth - 1));
                Value::Map((0..count).map(entry).collect())
            }
        }
    }
}

const COUNT: usize = if cfg!(miri) { 30 } else { 3000 };

#[test]
fn an_encoded_value_decodes_to_the_same_and_every_prefix_is_truncated() {
    let mut random = Random(1);
    let mut message = Vec::new();
    for _ in 0..COUNT {
        let value = random.value(4);
        message.clear();
        standard::write_value(&value, Limits::DEFAULT, &mut message).unwrap();
        assert_eq!(standard::read_value(&message, Limits::DEFAULT), Ok(value));
        let size = random.below(message.len() as u64) as usize;
        let error = standard::read_value(&message[..size], Limits::DEFAULT).unwrap_err();
        assert!(error.code == Code::Truncated && error.offset <= size, "{error:?} of {size} bytes");
    }
}

#[test]
fn a_message_behind_other_bytes_is_padded_from_its_own_first_byte() {
    let value = Value::List(vec![Value::Float(1.5), Value::Int64s(vec![1, -1])]);
    let mut alone = Vec::new();
    standard::write(&value, Limits::DEFAULT, &mut alone).unwrap();
    let mut behind = vec![9; 3];
    standard::write(&value, Limits::DEFAULT, &mut behind).unwrap();
    assert_eq!(behind[3..], alone[..]);
    let deep = (0..200).fold(Value::Null, |inside, _| Value::List(vec![inside]));
    assert_eq!(standard::write(&deep, Limits::DEFAULT, &mut behind).unwrap_err().code, Code::TooDeep);
    assert_eq!(behind.len(), 3 + alone.len(), "what was begun is taken back");
}

/// Counts a value and all values in its lists and maps.
fn count(value: &Value) -> usize {
    match value {
        Value::List(values) => 1 + values.iter().map(count).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|(key, value)| count(key) + count(value)).sum::<usize>(),
        _ => 1,
    }
}

#[test]
fn a_message_has_at_most_one_value_for_each_byte_and_at_most_its_limit_of_values() {
    let mut random = Random(3);
    let items: [&[u8]; 6] = [&[8, 0], &[12, 0], &[13, 0], &[0], &[12, 1, 13, 0], &[13, 1, 0, 0]];
    let mut decoded = 0;
    for _ in 0..COUNT {
        let item = items[random.below(6) as usize];
        let number = random.below(200) as u8;
        let mut message = vec![12, number];
        message.extend(item.repeat(number.into()));
        if random.below(2) == 0 {
            let at = random.below(message.len() as u64) as usize;
            message[at] = random.below(15) as u8;
        }
        let Ok(value) = standard::read(&message, Limits::DEFAULT) else { continue };
        decoded += 1;
        assert!(count(&value) <= message.len(), "{message:?}");
        let limit = |items_max| standard::read(&message, Limits { items_max, ..Limits::DEFAULT });
        // A map keeps one of several entries with the same key, but all of them count.
        let items_max = random.below(300) as usize;
        if let Ok(value) = limit(items_max) {
            assert!(count(&value) - 1 <= items_max, "{message:?}");
        }
        assert_eq!(limit(message.len()), Ok(value));
    }
    assert!(decoded > COUNT / 4, "{decoded} messages were decoded");
}

#[test]
fn changed_bytes_decode_to_a_value_or_an_error_with_an_offset_inside() {
    let mut random = Random(2);
    for _ in 0..COUNT {
        let mut message = Vec::new();
        standard::write_value(&random.value(3), Limits::DEFAULT, &mut message).unwrap();
        for _ in 0..=random.below(3) {
            let at = random.below(message.len() as u64) as usize;
            message[at] = random.next() as u8;
        }
        let inside =
            |error: Option<Error>| assert!(error.is_none_or(|error| error.offset <= message.len()), "{message:?}");
        inside(standard::read_value(&message, Limits::DEFAULT).err());
        inside(standard::read_call(&message, Limits::DEFAULT).err());
        inside(standard::read_reply(&message, Limits::DEFAULT).err());
        inside(json::read_value(&message, Limits::DEFAULT).err());
    }
}

#[test]
fn a_count_larger_than_the_remaining_bytes_is_refused() {
    // The message has 100 nested lists, and each announces 2^32 - 1 values.
    let lists: Vec<u8> = [12, 0xff, 0xff, 0xff, 0xff, 0xff].repeat(100);
    let error = standard::read_value(&lists, Limits::DEFAULT).unwrap_err();
    assert_eq!(error, Error { code: Code::Truncated, offset: 1 });
    let numbers = [11, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0];
    assert_eq!(standard::read_value(&numbers, Limits::DEFAULT).unwrap_err().code, Code::Truncated);
    let few = Limits { items_max: 2, ..Limits::DEFAULT };
    assert_eq!(standard::read_value(&[12, 3, 0, 0, 0], few), Err(Error { code: Code::TooLarge, offset: 1 }));
}

#[test]
fn an_encoded_method_call_decodes_to_the_same() {
    let args = Value::Map(vec![("a".into(), Value::Float(0.5))]);
    let replies = [
        Reply::None,
        Reply::Success(args.clone()),
        Reply::Error { code: "c".into(), message: None, details: Value::Null, stack: None },
        Reply::Error {
            code: "c".into(),
            message: Some("m".into()),
            details: args.clone(),
            stack: Some(Some("s".into())),
        },
        Reply::Error { code: "c".into(), message: None, details: Value::Null, stack: Some(None) },
    ];
    let mut message = Vec::new();
    standard::write_call("go", &args, Limits::DEFAULT, &mut message).unwrap();
    assert_eq!(standard::read_call(&message, Limits::DEFAULT), Ok(Call { method: "go".into(), args: args.clone() }));
    message.clear();
    json::write_call("go", &args, Limits::DEFAULT, &mut message).unwrap();
    assert_eq!(json::read_call(&message, Limits::DEFAULT), Ok(Call { method: "go".into(), args }));
    for reply in replies {
        message.clear();
        standard::write_reply(&reply, Limits::DEFAULT, &mut message).unwrap();
        assert_eq!(standard::read_reply(&message, Limits::DEFAULT), Ok(reply.clone()));
        message.clear();
        json::write_reply(&reply, Limits::DEFAULT, &mut message).unwrap();
        assert_eq!(json::read_reply(&message, Limits::DEFAULT), Ok(reply));
    }
}

#[test]
fn a_repeated_key_keeps_its_first_place_and_its_last_value() {
    let text = br#"{"a": 1, "b": 2, "a": 3, "c": 4, "b": 5}"#;
    let entry = |key: &str, value: i64| (key.into(), Value::Int(value));
    let expected = Value::Map(vec![entry("a", 3), entry("b", 5), entry("c", 4)]);
    assert_eq!(json::read_value(text, Limits::DEFAULT), Ok(expected));
}
