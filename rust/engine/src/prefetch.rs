//! Asks the processor for memory that will be needed soon.

/// Begins to load `value` into the processor's caches, and does not wait for it. Does nothing on a processor for which
/// nobody measured that it helps.
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of_val(value)).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address lies within `value`. A prefetch changes nothing that a program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().add(offset)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;
