// SPDX-License-Identifier: MIT OR Apache-2.0

/// Values by a number that JavaScript can hold exactly. A number whose value was taken is refused, also when its place has
/// another value: it has a generation. Never 0.
pub struct Table<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

struct Place<T> {
    generation: u32,
    value: Option<T>,
}

/// Places in one table; with 20 bits of generation above them, a number stays below 2^53.
const PLACES_BITS: u32 = 32;
const GENERATION_MAX: u32 = (1 << 20) - 1;

impl<T> Table<T> {
    pub fn new() -> Table<T> {
        Table { places: Vec::new(), free: Vec::new() }
    }

    pub fn insert(&mut self, value: T) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, value: None });
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[index as usize];
        place.generation += 1;
        place.value = Some(value);
        (u64::from(place.generation) << PLACES_BITS) | u64::from(index)
    }

    pub fn get(&mut self, number: u64) -> Option<&mut T> {
        let place = self.places.get_mut(number as u32 as usize)?;
        if u64::from(place.generation) != number >> PLACES_BITS {
            return None;
        }
        place.value.as_mut()
    }

    pub fn take(&mut self, number: u64) -> Option<T> {
        self.get(number)?;
        let index = number as u32;
        let place = &mut self.places[index as usize];
        if place.generation < GENERATION_MAX {
            self.free.push(index); // one whose generations are used up is left alone
        }
        place.value.take()
    }

    pub fn len(&self) -> usize {
        self.places.iter().filter(|place| place.value.is_some()).count()
    }
}
