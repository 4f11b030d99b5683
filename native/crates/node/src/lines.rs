// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines of one JavaScript thread, by number. A line is a prepared path to the handler of one channel.
//!
//! JavaScript calls all lines by one native function, `call`, with the line's number. V8 calls a native function 20 ns faster from a call
//! site that has called no other function. With a separate function for each channel, the call site would be slower.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use clearway_core::Line;

/// Lines, each with its owner of type `O`. The addon uses `Port` as the owner.
pub struct Lines<O>(RefCell<Vec<Place<O>>>);

struct Place<O> {
    /// `None` during a call, because `take` takes the line out. If the handler calls the same line again, `take` finds no line.
    line: Option<Line>,
    /// The line's owner. `None` if the place is free.
    port: Option<Weak<O>>,
}

impl<O> Default for Lines<O> {
    fn default() -> Self {
        Lines(RefCell::default())
    }
}

impl<O> Lines<O> {
    /// Adds a line and returns its number. The line is kept until `forget` is called for its port.
    pub fn put(&self, line: Line, port: &Rc<O>) -> usize {
        let mut places = self.0.borrow_mut();
        let place = Place { line: Some(line), port: Some(Rc::downgrade(port)) };
        match places.iter().position(|place| place.port.is_none()) {
            Some(free) => {
                places[free] = place;
                free
            }
            None => {
                places.push(place);
                places.len() - 1
            }
        }
    }

    /// Takes the line out for a call. The caller must put the line back afterwards. Returns `None` if no line has that number, or if the
    /// line is in a call.
    #[inline]
    pub fn take(&self, number: usize) -> Option<Line> {
        self.0.borrow_mut().get_mut(number)?.line.take()
    }

    /// Puts a line back after a call. Drops the line if its port was dropped during the call.
    #[inline]
    pub fn put_back(&self, number: usize, line: Line) {
        let mut places = self.0.borrow_mut();
        match places.get_mut(number) {
            Some(place) if place.port.is_some() => place.line = Some(line),
            _ => {}
        }
    }

    /// Returns the line's port. Returns `None` if the port was dropped.
    pub fn port(&self, number: usize) -> Option<Rc<O>> {
        self.0.borrow().get(number)?.port.as_ref()?.upgrade()
    }

    /// Drops a port's lines and frees their places. The drop of the port calls this.
    pub fn forget(&self, port: *const O) {
        let mut gone = Vec::new(); // drops the lines after the loop, when `self.0` is no longer borrowed
        for place in self.0.borrow_mut().iter_mut() {
            if place.port.as_ref().is_some_and(|owner| owner.as_ptr() == port) {
                gone.extend(place.line.take());
                place.port = None;
            }
        }
    }
}
