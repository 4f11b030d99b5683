// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory to which the host and the plugin have counted references.

use std::ffi::c_void;
use std::ops::{Deref, DerefMut, Range};
use std::slice;
use std::sync::atomic::{AtomicU8, Ordering};

use clearway_sys as sys;

use crate::error::{Error, Result};

/// One reference to a block of memory. The host, other plugins and clones of this value may have further references to the same block.
/// Passing memory on does not copy its bytes. When the last reference is dropped, the block is freed or returned to its owner.
///
/// Another holder may write to the memory at any time, unless the memory is sealed. Therefore [`bytes`](Memory::bytes) borrows only the
/// bytes of sealed memory. For other memory, copy the bytes, or access them one by one through [`cells`](Memory::cells).
pub struct Memory {
    host: &'static sys::Host,
    view: sys::View,
}

// SAFETY: any thread may use and release a reference. The methods allow only safe access to the bytes.
unsafe impl Send for Memory {}
// SAFETY: several threads may use one reference at the same time. The methods allow only safe access to the bytes.
unsafe impl Sync for Memory {}

impl Memory {
    /// Makes another reference to the memory of `handle`.
    pub(crate) fn retain(host: &'static sys::Host, handle: sys::Memory) -> Result<Memory> {
        let mut another = 0;
        // SAFETY: the host checks the handle, and writes the result to a local variable.
        Error::check(unsafe { (host.retain)(handle, &mut another) })?;
        let mut memory = Memory { host, view: sys::View { memory: another, ..sys::View::NONE } };
        // SAFETY: the host checks the handle, and writes the result to a local variable.
        Error::check(unsafe { (host.view)(another, &mut memory.view) })?;
        Ok(memory)
    }

    pub(crate) fn handle(&self) -> sys::Memory {
        self.view.memory
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        self.view.size
    }

    /// Returns whether the memory is sealed. No holder writes to sealed memory any more.
    pub fn is_sealed(&self) -> bool {
        let mut view = sys::View::NONE;
        // SAFETY: this value owns the reference. The host writes the result to a local variable.
        let status = unsafe { (self.host.view)(self.view.memory, &mut view) };
        status == sys::CLEARWAY_OK && view.flags & sys::CLEARWAY_MEMORY_SEALED != 0
    }

    /// Borrows the bytes of sealed memory. Returns `None` if the memory is not sealed.
    pub fn bytes(&self) -> Option<&[u8]> {
        // SAFETY: this value's reference keeps the bytes valid. The bytes of sealed memory do not change any more.
        self.is_sealed().then(|| unsafe { slice::from_raw_parts(self.view.data, self.view.size) })
    }

    /// Returns the bytes as atomic cells, for reads and writes of single bytes. Other holders may access the bytes at the same time.
    /// Refuses sealed memory.
    pub fn cells(&self) -> Result<&[AtomicU8]> {
        if self.is_sealed() {
            return Err(Error::invalid_argument("the memory is sealed: no holder may write to it"));
        }
        Ok(self.loads())
    }

    /// Returns the bytes as atomic cells, for reads only. The caller must not write, because sealed memory may be read-only.
    ///
    /// Copies of unsealed memory use these cells too, and thus go byte by byte. Copies by words would be undefined behaviour: in Rust's
    /// memory model, an atomic write that races with another atomic access must have the same size, and `cells` allows writes of bytes.
    pub(crate) fn loads(&self) -> &[AtomicU8] {
        // SAFETY: this value's reference keeps the bytes valid. All holders may access an `AtomicU8` at the same time.
        unsafe { slice::from_raw_parts(self.view.data.cast(), self.view.size) }
    }

    /// Copies bytes from the memory, beginning at `offset`, to `to`. Refuses a range outside of the memory. Sealed memory is copied at once,
    /// other memory byte by byte.
    pub fn copy_to(&self, offset: usize, to: &mut [u8]) -> Result<()> {
        let range = self.range(offset, to.len())?;
        if let Some(bytes) = self.bytes() {
            to.copy_from_slice(&bytes[range]);
            return Ok(());
        }
        for (to, cell) in to.iter_mut().zip(&self.loads()[range]) {
            *to = cell.load(Ordering::Relaxed);
        }
        Ok(())
    }

    /// Copies the bytes of `from` into the memory, beginning at `offset`, byte by byte. Refuses sealed memory, and a range outside of the
    /// memory.
    pub fn copy_from(&self, offset: usize, from: &[u8]) -> Result<()> {
        for (from, cell) in from.iter().zip(&self.cells()?[self.range(offset, from.len())?]) {
            cell.store(*from, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns a copy of all bytes. Sealed memory is copied at once, other memory byte by byte.
    pub fn to_vec(&self) -> Vec<u8> {
        match self.bytes() {
            Some(bytes) => bytes.to_vec(),
            None => self.loads().iter().map(|cell| cell.load(Ordering::Relaxed)).collect(),
        }
    }

    fn range(&self, offset: usize, size: usize) -> Result<Range<usize>> {
        let end = offset.checked_add(size).filter(|end| *end <= self.size());
        let end = end.ok_or_else(|| {
            Error::invalid_argument(format!(
                "the range must lie in the memory: offset={offset} size={size} of {}",
                self.size()
            ))
        })?;
        Ok(offset..end)
    }

    /// Makes another reference to the same memory. Fails if the process already has the maximum of four million references.
    pub fn try_clone(&self) -> Result<Memory> {
        Memory::retain(self.host, self.view.memory)
    }
}

impl Clone for Memory {
    /// Makes another reference, as [`try_clone`](Memory::try_clone) does. Panics if that fails.
    fn clone(&self) -> Memory {
        self.try_clone().expect("another reference to the memory")
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: this value owns the reference and releases it once.
        unsafe { (self.host.release)(self.view.memory) };
    }
}

/// Memory that only this plugin can access. It dereferences to a slice of bytes. Sending or sealing a buffer converts it to [`Memory`], and
/// so does `Memory::from`.
///
/// ```
/// # use clearway_plugin::{Buffer, Content, Host, Result};
/// fn frame(host: &Host) -> Result<Buffer> {
///     let mut pixels = host.allocate(640 * 480 * 4)?;
///     pixels.fill(255);
///     Ok(pixels) // the bytes are not copied when the buffer is sent
/// }
/// ```
pub struct Buffer {
    memory: Memory,
}

impl Buffer {
    pub(crate) fn allocate(host: &'static sys::Host, plugin: sys::PluginId, size: usize) -> Result<Buffer> {
        let mut view = sys::View::NONE;
        // Requests zeroed memory. Otherwise the memory could contain bytes of its last user, which may be another plugin.
        // SAFETY: the host writes the result to a local variable.
        Error::check(unsafe { (host.allocate)(plugin, size, sys::CLEARWAY_MEMORY_ZEROED, &mut view) })?;
        Ok(Buffer { memory: Memory { host, view } })
    }

    pub(crate) fn adopt(host: &'static sys::Host, plugin: sys::PluginId, bytes: Vec<u8>) -> Result<Buffer> {
        unsafe extern "C-unwind" fn release(context: *mut c_void, _data: *mut u8, _size: usize) {
            // SAFETY: `adopt` made the box below, and this function runs once.
            drop(unsafe { Box::from_raw(context.cast::<Vec<u8>>()) });
        }
        let mut view = sys::View::NONE;
        let mut bytes = Box::new(bytes);
        let (data, size) = (bytes.as_mut_ptr(), bytes.len());
        let context = Box::into_raw(bytes).cast();
        // SAFETY: the vector lives until `release` is called. `Box::into_raw` does not move the vector's bytes.
        let adopted = unsafe { (host.adopt)(plugin, data, size, 0, Some(release), context, &mut view) };
        Error::check(adopted).inspect_err(|_| {
            // SAFETY: the host does not call `release` for memory that it refused, so this is the only call.
            unsafe { release(context, data, size) };
        })?;
        Ok(Buffer { memory: Memory { host, view } })
    }

    /// Seals the memory. No holder may write to it after that, so each holder may borrow its bytes.
    pub fn seal(self) -> Memory {
        // SAFETY: this value owns the reference.
        unsafe { (self.memory.host.seal)(self.memory.view.memory) };
        self.memory
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: this value has the only reference to the memory, and `&self` excludes writes.
        unsafe { slice::from_raw_parts(self.memory.view.data, self.memory.view.size) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: this value has the only reference to the memory, and `&mut self` excludes other access.
        unsafe { slice::from_raw_parts_mut(self.memory.view.data, self.memory.view.size) }
    }
}

impl From<Buffer> for Memory {
    fn from(buffer: Buffer) -> Memory {
        buffer.memory
    }
}
