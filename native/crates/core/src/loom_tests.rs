// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loom tests (`make loom`). They try every interleaving of the code that threads share without a lock.

use std::ffi::c_void;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::call::{Answered, Calls, Empty, Written};
use crate::gate::Gate;
use crate::handle::Kind;
use crate::memory::{Block, Origin};
use crate::ring::{Edge, Ring};
use crate::slots::Slots;

#[test]
fn two_writers_and_a_reader_lose_nothing_and_keep_each_writers_order() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(2));
        let writers: Vec<_> = [10, 20]
            .into_iter()
            .map(|value| {
                let ring = ring.clone();
                thread::spawn(move || ring.push(value).is_ok())
            })
            .collect();
        // SAFETY: this is the only reader.
        let mut read: Vec<u64> = (0..2).filter_map(|_| unsafe { ring.pop() }).collect();
        let put = writers.into_iter().map(|writer| writer.join().unwrap()).filter(|put| *put).count();
        // SAFETY: this is the only reader.
        read.extend(std::iter::from_fn(|| unsafe { ring.pop() }));
        assert_eq!((put, read.len()), (2, 2));
        assert_ne!(read[0], read[1]);
    });
}

#[test]
fn a_place_in_the_ring_is_used_again_only_when_it_was_read() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(2));
        let writer = {
            let ring = ring.clone();
            thread::spawn(move || (1..=3).filter(|value| ring.push(*value).is_ok()).collect::<Vec<u64>>())
        };
        let mut read = Vec::new();
        for _ in 0..2 {
            // SAFETY: this is the only reader.
            read.extend(unsafe { ring.pop() });
        }
        let put = writer.join().unwrap();
        // SAFETY: this is the only reader.
        read.extend(std::iter::from_fn(|| unsafe { ring.pop() }));
        assert_eq!(read, put);
    });
}

#[test]
fn whatever_is_put_in_is_read_or_wakes_the_reader() {
    loom::model(|| {
        let shared = Arc::new((Ring::new(4), Edge::new(), AtomicUsize::new(0)));
        let writers: Vec<_> = (0..2)
            .map(|value| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (ring, edge, wakes) = &*shared;
                    ring.push(value).unwrap();
                    if edge.raise() {
                        wakes.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        let (ring, edge, wakes) = &*shared;
        let read = |count: &mut usize| {
            edge.lower();
            // SAFETY: this is the only reader.
            while unsafe { ring.pop() }.is_some() {
                *count += 1;
            }
        };
        let (mut count, before) = (0, wakes.load(Ordering::SeqCst));
        read(&mut count);
        for writer in writers {
            writer.join().unwrap();
        }
        // This reader sleeps after `read`, and reads again only after a wake. The reader must have read everything at the end.
        if wakes.load(Ordering::SeqCst) > before {
            read(&mut count);
        }
        assert_eq!(count, 2);
    });
}

impl Empty for usize {
    fn empty() -> usize {
        usize::MAX
    }
}

#[test]
fn of_two_who_answer_one_does_and_the_caller_has_it_once() {
    loom::model(|| {
        let calls: Arc<Calls<u8, usize>> = Arc::new(Calls::new());
        let index = calls.reserve().unwrap();
        let call = calls.begin(index, 1, 7, false);
        let answerers: Vec<_> = (0..2)
            .map(|who| {
                let calls = calls.clone();
                thread::spawn(move || match who {
                    0 => calls.answer_empty(call, false).map(|(_, answered)| (usize::MAX, answered)),
                    _ => calls.answer(call, false, |_| who).map(|(_, answered)| (who, answered)),
                })
            })
            .collect();
        let in_hand = match calls.take_if_written(call) {
            Written::Answer(who) => Some(who),
            Written::Empty => Some(usize::MAX),
            Written::NotYet => calls.handler_returned(call),
        };
        let answered: Vec<_> = answerers.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(answered.len(), 1);
        let (who, how) = &answered[0];
        match how {
            Answered::CallerTakes => assert_eq!(in_hand, Some(*who)),
            Answered::Deliver => {
                assert_eq!(in_hand, None);
                assert_eq!(calls.take(call), Some((7, *who)));
            }
        }
        assert_eq!(calls.take(call), None);
        assert!(calls.answer(call, false, |_| 9).is_none(), "the handle is stale");
    });
}

#[test]
fn a_late_answer_never_reaches_the_next_call_in_the_slot() {
    loom::model(|| {
        let calls: Arc<Calls<u8, usize>> = Arc::new(Calls::new());
        let index = calls.reserve().unwrap();
        let first = calls.begin(index, 1, 1, false);
        let late = {
            let calls = calls.clone();
            thread::spawn(move || calls.answer(first, false, |_| 111).is_some())
        };
        let own = calls.answer(first, true, |_| 1).is_some();
        if own {
            assert!(matches!(calls.take_if_written(first), Written::Answer(1)));
            let second = calls.begin(index, 1, 2, false);
            assert!(calls.answer_empty(second, true).is_some());
            assert!(matches!(calls.take_if_written(second), Written::Empty));
        }
        assert_ne!(late.join().unwrap(), own);
    });
}

#[test]
fn exactly_one_finds_a_closed_gate_empty_and_nobody_is_in_then() {
    loom::model(|| {
        let shared = Arc::new((Gate::new(), AtomicUsize::new(0), AtomicUsize::new(0)));
        let visitors: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (gate, inside, emptied) = &*shared;
                    if gate.enter() {
                        inside.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(emptied.load(Ordering::Relaxed), 0);
                        inside.fetch_sub(1, Ordering::Relaxed);
                        if gate.leave() {
                            assert_eq!(inside.load(Ordering::Relaxed), 0);
                            emptied.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        let (gate, _, emptied) = &*shared;
        if gate.close() {
            emptied.fetch_add(1, Ordering::Relaxed);
        }
        for visitor in visitors {
            visitor.join().unwrap();
        }
        assert_eq!(emptied.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn visitors_by_lanes_are_seen_by_whoever_closes_the_gate() {
    // The preemption bound keeps the test short. Without a bound, the test takes minutes. If the FENCED bit is removed from the gate, a
    // bound of three is enough to reveal a missed visitor.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(|| {
        let shared = Arc::new((Gate::new(), AtomicUsize::new(0), AtomicUsize::new(0)));
        let visitors: Vec<_> = [true, false]
            .into_iter()
            .map(|by_lane| {
                let shared = shared.clone();
                // The lane is made before its visitor's thread starts. Making a lane takes a lock, which would add many interleavings.
                let lane = by_lane.then(|| shared.0.lane());
                thread::spawn(move || {
                    let (gate, inside, emptied) = &*shared;
                    if lane.as_ref().map_or_else(|| gate.enter(), |lane| gate.enter_by(lane)) {
                        inside.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(emptied.load(Ordering::Relaxed), 0);
                        inside.fetch_sub(1, Ordering::Relaxed);
                    } else if lane.is_none() {
                        return;
                    }
                    if lane.as_ref().map_or_else(|| gate.leave(), |lane| gate.leave_by(lane)) {
                        assert_eq!(inside.load(Ordering::Relaxed), 0);
                        emptied.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let (gate, inside, emptied) = &*shared;
        if gate.close() {
            assert_eq!(inside.load(Ordering::Relaxed), 0);
            emptied.fetch_add(1, Ordering::Relaxed);
        }
        for visitor in visitors {
            visitor.join().unwrap();
        }
        assert_eq!(emptied.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_block_is_given_back_once_by_whoever_has_its_last_reference() {
    unsafe extern "C-unwind" fn released(context: *mut c_void, _: *mut u8, _: usize) {
        // SAFETY: `context` is a counter that outlives the block.
        unsafe { &*context.cast::<AtomicUsize>() }.fetch_add(1, Ordering::SeqCst);
    }
    loom::model(|| {
        let count = Box::new(AtomicUsize::new(0));
        let context = std::ptr::from_ref(&*count).cast_mut().cast();
        let origin = Origin::Foreign { release: Some(released), context };
        // SAFETY: no code accesses the bytes.
        let block = Arc::new(unsafe { Block::new(std::ptr::dangling_mut(), 0, 0, origin) });
        let references = Arc::new(Slots::new(Kind::Memory));
        let (one, Ok(other)) = (references.insert(block.clone()).ok().unwrap(), references.insert(block)) else {
            panic!("there are slots")
        };
        let threads: Vec<_> = [one, other, one]
            .into_iter()
            .map(|handle| {
                let references = references.clone();
                thread::spawn(move || references.remove(handle).map(drop).is_some())
            })
            .collect();
        let released = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|released| *released).count();
        assert_eq!(released, 2, "each reference once");
        assert_eq!(count.load(Ordering::SeqCst), 1);
    });
}
