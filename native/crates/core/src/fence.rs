// SPDX-License-Identifier: MIT OR Apache-2.0
//! An asymmetric fence for two threads. Each of them writes one place and then reads the place that the other thread writes. One thread
//! does so a million times as often as the other. The rare thread asks the system to run a fence on every running thread of the process
//! (`membarrier`, a few microseconds). The frequent thread then needs only a compiler fence. Without `membarrier`, both threads use the
//! processor's fence, which costs as much as an atomic exchange (5 ns).

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(loom), not(miri))))]
pub(crate) use by_processor::{Fences, fences, heavy};
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(loom), not(miri)))]
pub(crate) use by_system::{Fences, fences, heavy};

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(loom), not(miri)))]
mod by_system {
    use std::ffi::{c_int, c_long, c_uint};
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence, fence};

    // From linux/membarrier.h and the system call tables.
    const PRIVATE_EXPEDITED: c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: c_int = 1 << 4;
    const MEMBARRIER: c_long = if cfg!(target_arch = "x86_64") { 324 } else { 283 };

    unsafe extern "C" {
        fn syscall(number: c_long, command: c_int, flags: c_uint, cpu: c_int) -> c_long;
    }

    fn membarrier(command: c_int) -> bool {
        // SAFETY: the system call takes only numbers and changes no memory.
        unsafe { syscall(MEMBARRIER, command, 0, 0) == 0 }
    }

    fn is_there() -> bool {
        static THERE: OnceLock<bool> = OnceLock::new();
        // Both commands are tried: a sandbox may allow one and refuse the other.
        *THERE.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED))
    }

    /// The kind of fence that this process uses. A lane stores the kind, because a lookup for each call would cost another load.
    #[derive(Clone, Copy)]
    pub(crate) struct Fences {
        by_system: bool,
    }

    pub(crate) fn fences() -> Fences {
        Fences { by_system: is_there() }
    }

    impl Fences {
        /// Runs the frequent thread's half of the fence.
        #[inline]
        pub(crate) fn light(self) {
            if self.by_system { compiler_fence(Ordering::SeqCst) } else { fence(Ordering::SeqCst) }
        }
    }

    /// Runs the rare thread's half of the fence.
    pub(crate) fn heavy() {
        fence(Ordering::SeqCst);
        // A child process has to register again after fork().
        if is_there() && !membarrier(PRIVATE_EXPEDITED) {
            membarrier(REGISTER_PRIVATE_EXPEDITED);
            assert!(membarrier(PRIVATE_EXPEDITED), "membarrier is there and then is not");
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(loom), not(miri))))]
mod by_processor {
    #[cfg(loom)]
    use loom::sync::atomic::{Ordering, fence};
    #[cfg(not(loom))]
    use std::sync::atomic::{Ordering, fence};

    #[derive(Clone, Copy)]
    pub(crate) struct Fences;

    pub(crate) fn fences() -> Fences {
        Fences
    }

    impl Fences {
        #[inline]
        pub(crate) fn light(self) {
            fence(Ordering::SeqCst);
        }
    }

    pub(crate) fn heavy() {
        fence(Ordering::SeqCst);
    }
}
