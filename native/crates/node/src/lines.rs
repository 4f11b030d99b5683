// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines of one JavaScript thread, by number. One function calls all of them. V8 calls a native function 20 ns faster from a call
//! site that has seen no other function. A separate function for each channel would lose that advantage.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use clearway_core::Line;

/// Lines, each with its owner of type `O`.
pub struct Lines<O>(RefCell<Vec<Place<O>>>);

struct Place<O> {
    /// Taken out during a call. A handler that calls the same line again, through JavaScript or not, finds no line.
    line: Option<Line>,
    /// The line's owner, or `None` for a free place.
    port: Option<Weak<O>>,
}

impl<O> Default for Lines<O> {
    fn default() -> Self {
        Lines(RefCell::default())
    }
}

impl<O> Lines<O> {
    /// Keeps a line until its port is dropped. Returns the line's number.
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

    /// Takes the line out for a call. The caller must put the line back.
    #[inline]
    pub fn take(&self, number: usize) -> Option<Line> {
        self.0.borrow_mut().get_mut(number)?.line.take()
    }

    #[inline]
    pub fn put_back(&self, number: usize, line: Line) {
        let mut places = self.0.borrow_mut();
        match places.get_mut(number) {
            Some(place) if place.port.is_some() => place.line = Some(line),
            _ => {} // the port was dropped meanwhile
        }
    }

    /// Returns the line's port.
    pub fn port(&self, number: usize) -> Option<Rc<O>> {
        self.0.borrow().get(number)?.port.as_ref()?.upgrade()
    }

    /// Drops a port's lines. The port's drop calls this.
    pub fn forget(&self, port: *const O) {
        let mut gone = Vec::new(); // dropped when nothing is borrowed
        for place in self.0.borrow_mut().iter_mut() {
            if place.port.as_ref().is_some_and(|owner| owner.as_ptr() == port) {
                gone.extend(place.line.take());
                place.port = None;
            }
        }
    }
}
