//! The seccomp filter of the container, which probelet has read from runc.

use probelet_enter_protocol::answer::Step;
use probelet_enter_protocol::request::{Filter, INSTRUCTION_BYTES};

use super::report::{Failed, at};
use crate::sys::check_long;

pub(super) fn load_filter(filter: Option<Filter<'_>>) -> Result<(), Failed> {
    let Some(Filter { flags, instructions }) = filter else { return Ok(()) };
    let length = u16::try_from(instructions.len() / INSTRUCTION_BYTES);
    let length = length.map_err(|_| Failed::because(Step::Seccomp, libc::E2BIG))?;
    let program = libc::sock_fprog { len: length, filter: instructions.as_ptr().cast_mut().cast() };
    // SAFETY: the kernel copies `len` instructions from an address that need not be aligned, and changes none.
    let loaded = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    check_long(loaded).map(drop).map_err(at(Step::Seccomp))
}
