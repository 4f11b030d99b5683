// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs that may get further fields. The two sides of the ABI may have been compiled with different sizes of them: a host and a plugin in Rust
//! compare their versions when the host opens the plugin.

use core::mem::{MaybeUninit, offset_of, size_of};
use core::ptr;

use crate::handler::{Handler, Source};
use crate::host::{CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, Host, Plugin};
use crate::status::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_VERSION, Status};

/// A struct whose first field is its size, and which gets further fields only at its end. A reader fills the fields that the writer does
/// not have with zeros. So 0 must mean "as before" in each later field.
///
/// # Safety
/// The type must be `repr(C)` with a first field `size: usize`, and zeros must be a valid value of it.
pub unsafe trait Growing: Copy {
    /// The size of the struct's first version: the end of its last field. It never changes.
    const FIRST_SIZE: usize;
}

/// Returns the size of a struct's first version, from the last field of that version and the field's type.
#[macro_export]
macro_rules! first_size {
    ($type:ty, $last:ident: $field:ty) => {
        (::core::mem::offset_of!($type, $last) + ::core::mem::size_of::<$field>())
            .next_multiple_of(::core::mem::align_of::<$type>())
    };
}

// SAFETY: see the definition. A null pointer, 0 and a missing function are valid values of the fields.
unsafe impl Growing for Handler {
    const FIRST_SIZE: usize = first_size!(Handler, on_drop: crate::OnDrop);
}

// SAFETY: see the definition. A null pointer, 0 and a missing function are valid values of the fields.
unsafe impl Growing for Source {
    const FIRST_SIZE: usize = first_size!(Source, on_drop: crate::OnDrop);
}

/// Reads a struct of the other side. Ignores fields that this side does not know, and fills missing fields with zeros. Refuses null, a
/// misaligned pointer, and a struct that is smaller than its first version.
///
/// # Safety
/// The pointer must be null, or readable for a `usize` and for the number of bytes that this `usize` states.
pub unsafe fn read_growing<T: Growing>(given: *const T) -> Result<T, Status> {
    if given.is_null() || !given.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // SAFETY: the caller guarantees this. Every such struct begins with its size.
    let size = unsafe { *given.cast::<usize>() };
    if size < T::FIRST_SIZE {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    let mut read = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller guarantees `size` readable bytes. Zeros are a valid value for the fields that are not copied.
    unsafe {
        ptr::copy_nonoverlapping(given.cast::<u8>(), read.as_mut_ptr().cast(), size.min(size_of::<T>()));
        Ok(read.assume_init())
    }
}

/// Writes a struct to memory of the other side, which must have set the size before. Writes only the fields that the other side has, and
/// replaces the size with the number of bytes written. Refuses what `read_growing` refuses.
///
/// # Safety
/// The pointer must be null, or readable for a `usize`, and writable for the number of bytes that this `usize` states.
pub unsafe fn write_growing<T: Growing>(to: *mut T, value: &T) -> Result<(), Status> {
    if to.is_null() || !to.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // SAFETY: the caller guarantees this. Every such struct begins with its size.
    let room = unsafe { *to.cast::<usize>() };
    if room < T::FIRST_SIZE {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    let size = room.min(size_of::<T>());
    // SAFETY: the caller guarantees `room` writable bytes.
    unsafe {
        ptr::copy_nonoverlapping(ptr::from_ref(value).cast::<u8>(), to.cast(), size);
        *to.cast::<usize>() = size;
    }
    Ok(())
}

/// Checks the arguments of a plugin's init function, and writes the plugin's version. Returns both structs if the host has everything that
/// this crate declares. Otherwise returns the status for the host: a plugin that was built with a later minor version than the host's is
/// refused with `CLEARWAY_VERSION`.
///
/// # Safety
/// Each pointer must be null, or valid for the size in its struct's first field, for ever (`host`) and during the call (`plugin`).
pub unsafe fn agree<'a>(host: *const Host, plugin: *mut Plugin) -> Result<(&'static Host, &'a mut Plugin), Status> {
    if host.is_null() || !host.is_aligned() || plugin.is_null() || !plugin.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // Reads single fields until the sizes are known, because a reference to a struct needs the whole struct.
    // SAFETY: the caller guarantees this. The first fields of both structs are the same in every version.
    let (host_size, host_major, plugin_size) = unsafe {
        ((&raw const (*host).size).read(), (&raw const (*host).abi_major).read(), (&raw const (*plugin).size).read())
    };
    if plugin_size >= offset_of!(Plugin, context) {
        // SAFETY: the struct has both fields. They are the version's, which the host names if the plugin refuses.
        unsafe {
            (&raw mut (*plugin).abi_major).write(CLEARWAY_ABI_MAJOR);
            (&raw mut (*plugin).abi_minor).write(CLEARWAY_ABI_MINOR);
        }
    }
    if host_major != CLEARWAY_ABI_MAJOR || host_size < size_of::<Host>() || plugin_size < size_of::<Plugin>() {
        return Err(CLEARWAY_VERSION);
    }
    // SAFETY: both structs have all fields, and the caller guarantees the rest.
    Ok(unsafe { (&*host, &mut *plugin) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct as its first version was.
    #[repr(C, align(8))]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct First {
        size: usize,
        kept: u64,
    }

    /// The same struct with a later field.
    #[repr(C, align(8))]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Later {
        size: usize,
        kept: u64,
        added: u64,
    }

    // SAFETY: see the definition.
    unsafe impl Growing for First {
        const FIRST_SIZE: usize = first_size!(First, kept: u64);
    }

    // SAFETY: see the definition.
    unsafe impl Growing for Later {
        const FIRST_SIZE: usize = first_size!(Later, kept: u64);
    }

    static FIRST: First = First { size: size_of::<First>(), kept: 7 };
    static LATER: Later = Later { size: size_of::<Later>(), kept: 7, added: 8 };

    #[test]
    fn a_struct_of_an_older_side_is_read_with_zeros_for_the_later_fields() {
        // SAFETY: the struct has the stated size.
        let read = unsafe { read_growing((&raw const FIRST).cast::<Later>()) };
        assert_eq!(read, Ok(Later { size: size_of::<First>(), kept: 7, added: 0 }));
    }

    #[test]
    fn a_struct_of_a_newer_side_is_read_without_the_later_fields() {
        // SAFETY: the struct has the stated size.
        let read = unsafe { read_growing((&raw const LATER).cast::<First>()) };
        assert_eq!(read, Ok(First { size: size_of::<Later>(), kept: 7 }));
    }

    #[test]
    fn a_struct_that_is_smaller_than_its_first_version_is_refused() {
        for size in [0, 1, Later::FIRST_SIZE - 1] {
            let mut small = Later { size, ..LATER };
            // SAFETY: the struct is larger than the stated size.
            unsafe {
                assert_eq!(read_growing(&raw const small), Err(CLEARWAY_INVALID_ARGUMENT));
                assert_eq!(write_growing(&raw mut small, &LATER), Err(CLEARWAY_INVALID_ARGUMENT));
            }
            assert_eq!(small, Later { size, ..LATER });
        }
        // SAFETY: both pointers are checked before they are read.
        unsafe {
            assert_eq!(read_growing(ptr::null::<Later>()), Err(CLEARWAY_INVALID_ARGUMENT));
            let odd = (&raw const LATER).cast::<u8>().add(1).cast::<Later>();
            assert_eq!(read_growing(odd), Err(CLEARWAY_INVALID_ARGUMENT));
        }
    }

    #[test]
    fn a_struct_is_written_only_as_far_as_the_other_side_has_room() {
        let mut room = [u64::MAX; 4];
        room[0] = size_of::<First>() as u64;
        // SAFETY: the array is larger than the stated size.
        unsafe { write_growing(room.as_mut_ptr().cast::<Later>(), &LATER) }.unwrap();
        assert_eq!(room, [size_of::<First>() as u64, 7, u64::MAX, u64::MAX]);
        room[0] = 100;
        // SAFETY: the function writes no more than the struct, which is smaller than the array.
        unsafe { write_growing(room.as_mut_ptr().cast::<Later>(), &LATER) }.unwrap();
        assert_eq!(room, [size_of::<Later>() as u64, 7, 8, u64::MAX]);
    }

    #[test]
    fn the_first_version_of_each_struct_is_what_the_first_plugins_were_built_with() {
        if size_of::<usize>() == 8 {
            assert_eq!((Handler::FIRST_SIZE, Source::FIRST_SIZE), (72, 88));
        }
    }
}
