// SPDX-License-Identifier: MIT OR Apache-2.0

use super::tag;
use crate::error::{Code, Error};

/// Appends a message to the caller's bytes. Offsets and padding count from the message's first byte.
pub(super) struct Writer<'a> {
    to: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(to: &'a mut Vec<u8>) -> Writer<'a> {
        let start = to.len();
        Writer { to, start }
    }

    pub(super) fn at(&self) -> usize {
        self.to.len() - self.start
    }

    pub(super) fn refuse(&self, code: Code) -> Error {
        Error::at(code, self.at())
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.to.push(byte);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.to.extend_from_slice(bytes);
    }

    pub(super) fn pad(&mut self, alignment: usize) {
        let zeros = self.at().next_multiple_of(alignment) - self.at();
        self.to.resize(self.to.len() + zeros, 0);
    }

    pub(super) fn size(&mut self, size: usize) -> Result<(), Error> {
        if size <= tag::SIZE_ONE_MAX {
            self.byte(size as u8);
        } else if size <= tag::SIZE_TWO_MAX {
            self.byte(tag::SIZE_TWO);
            self.bytes(&(size as u16).to_le_bytes());
        } else {
            let four = u32::try_from(size).map_err(|_| self.refuse(Code::TooLarge))?;
            self.byte(tag::SIZE_FOUR);
            self.bytes(&four.to_le_bytes());
        }
        Ok(())
    }

    pub(super) fn sized(&mut self, tag: u8, bytes: &[u8]) -> Result<(), Error> {
        self.byte(tag);
        self.size(bytes.len())?;
        self.bytes(bytes);
        Ok(())
    }

    pub(super) fn numbers<const N: usize, T: Copy>(
        &mut self,
        tag: u8,
        numbers: &[T],
        each: impl Fn(T) -> [u8; N],
    ) -> Result<(), Error> {
        self.byte(tag);
        self.size(numbers.len())?;
        self.pad(N);
        self.to.reserve(numbers.len() * N);
        for number in numbers {
            self.to.extend_from_slice(&each(*number));
        }
        Ok(())
    }
}
