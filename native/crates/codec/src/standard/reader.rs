// SPDX-License-Identifier: MIT OR Apache-2.0

use super::tag;
use crate::error::{Code, Error};
use crate::limits::Limits;
use crate::string::utf8;

/// A message, and the position of the next byte. Has functions that read the parts of a value.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    /// The number of values that later counts may announce.
    items_left: usize,
    pub(super) depth_max: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: Limits) -> Reader<'a> {
        Reader { bytes, at: 0, items_left: limits.items_max, depth_max: limits.depth() }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.left() == 0
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns the next `count` bytes. `from` is the offset for the error if they are missing.
    fn take(&mut self, count: usize, from: usize) -> Result<&'a [u8], Error> {
        if count > self.left() {
            return Err(Error::at(Code::Truncated, from));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, from: usize) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, from)?);
        Ok(array)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>(self.at)?[0])
    }

    /// Reads an unaligned number.
    pub(super) fn number<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.array(self.at)
    }

    /// Skips the padding and reads a number.
    pub(super) fn aligned<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let from = self.at;
        self.pad(N, from)?;
        self.array(from)
    }

    fn pad(&mut self, alignment: usize, from: usize) -> Result<(), Error> {
        let over = self.at % alignment;
        if over != 0 {
            self.take(alignment - over, from)?;
        }
        Ok(())
    }

    fn size(&mut self) -> Result<usize, Error> {
        let from = self.at;
        Ok(match self.byte()? {
            tag::SIZE_TWO => u16::from_le_bytes(self.array(from)?).into(),
            tag::SIZE_FOUR => u32::from_le_bytes(self.array(from)?) as usize,
            one => one.into(),
        })
    }

    /// Reads a count of values that take at least `each` bytes. Compares the count with the number of remaining bytes and with the limit.
    pub(super) fn count(&mut self, each: usize) -> Result<usize, Error> {
        let from = self.at;
        let count = self.size()?;
        let bytes = count.checked_mul(each).filter(|bytes| *bytes <= self.left());
        let bytes = bytes.ok_or(Error::at(Code::Truncated, from))?;
        self.items_left = self.items_left.checked_sub(bytes).ok_or(Error::at(Code::TooLarge, from))?;
        Ok(count)
    }

    /// Reads a size, and then that number of bytes.
    pub(super) fn sized(&mut self) -> Result<&'a [u8], Error> {
        let from = self.at;
        let size = self.size()?;
        self.take(size, from)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Error> {
        let bytes = self.sized()?;
        utf8(bytes, self.at - bytes.len())
    }

    /// Reads a count, the padding, and then `count` numbers of `N` bytes.
    pub(super) fn numbers<const N: usize, T>(&mut self, each: impl Fn([u8; N]) -> T) -> Result<Vec<T>, Error> {
        let from = self.at;
        let count = self.size()?;
        self.pad(N, from)?;
        let bytes = count.checked_mul(N).ok_or(Error::at(Code::Truncated, from))?;
        let bytes = self.take(bytes, from)?;
        Ok(bytes.chunks_exact(N).map(|chunk| each(chunk.try_into().expect("chunks have N bytes"))).collect())
    }

    pub(super) fn finish(&self) -> Result<(), Error> {
        if self.is_at_end() { Ok(()) } else { Err(Error::at(Code::TrailingBytes, self.at)) }
    }
}
