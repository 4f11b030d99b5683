// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures a call, a reference and an event on this machine (`cargo run --release --example cost`). Prints the nanoseconds for each one,
//! from the best of 400 rounds.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::hint::black_box;
use std::time::Instant;

use clearway_core::{Direct, Given, Line, Memory, Sent, WhenFull};
use clearway_sys::*;
use fixture::*;

const ROUNDS: usize = 400;
const EACH: u32 = 2000;

fn measure(name: &str, mut work: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        for _ in 0..EACH {
            work();
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / f64::from(EACH));
    }
    println!("{best:8.1} ns  {name}");
}

fn main() {
    let word = std::sync::atomic::AtomicU64::new(0);
    measure("one atomic addition, to compare with", || {
        black_box(&word).fetch_add(1, std::sync::atomic::Ordering::AcqRel);
    });
    let plugin = plugin();
    handle(&plugin, "null", CLEARWAY_RUN_DIRECT, "", |_, to| give(to, &Content::NULL));
    handle(&plugin, "echo", CLEARWAY_RUN_DIRECT, "", |message, to| give(to, message));
    let null = plugin.channel("null").unwrap();
    let echo = plugin.channel("echo").unwrap();
    let answered = |sent| match sent {
        Ok(Sent::Answered(Ok(kept))) => drop(black_box(kept)),
        other => panic!("{other:?}"),
    };
    measure("direct, null and null", || answered(plugin.send(&null, &Given::null(), 1, true)));
    let mut line = Line::new(&plugin, "null").unwrap();
    let mut more = None;
    measure("the same by a line", || assert_eq!(line.call(&Given::null(), 1, &mut more), Ok(Direct::Null)));
    measure("direct, 63 bytes there and back", || answered(plugin.send(&echo, &Given::bytes(&[7; 63]), 1, true)));
    measure("direct, 2 KB there and back", || answered(plugin.send(&echo, &Given::bytes(&[7; 2048]), 1, true)));
    let memory = Memory::allocate(1 << 20, 0).unwrap();
    measure("direct, memory of 1 MB there and back", || answered(plugin.send(&echo, &Given::memory(&memory), 1, true)));
    let mut line = Line::new(&plugin, "echo").unwrap();
    measure("the same, lent by a line", || assert_eq!(line.lend(memory.handle(), 1, &mut more), Ok(Direct::Back)));
    measure("a reference, and released", || drop(black_box(memory.try_clone())));
    measure("64 bytes allocated, and released", || drop(black_box(Memory::allocate(64, 0))));
    measure("8 MB allocated, and released", || drop(black_box(Memory::allocate(8 << 20, 0))));
    source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let stream = listen(&plugin, "numbers", window(1024, WhenFull::Wait));
    let mut items = Vec::new();
    let mut at = 0u64;
    measure("an event of 8 bytes, emitted and read in batches of 256", || {
        at += 1;
        assert_eq!(emit(stream, &at.to_le_bytes()), CLEARWAY_OK);
        if at % 256 == 0 {
            while plugin.read(&mut items, 256) {}
            items.clear();
        }
    });
}
