//! The five sets of capabilities.

use probelet_enter_protocol::answer::Step;
use probelet_enter_protocol::request::Capabilities;

use super::report::{Failed, at};
use crate::sys::{check_long, prctl};

/// Capabilities that this program knows of; the kernel says which of them it has.
const CAPABILITIES: u64 = 64;

/// Drops what the container's bounding set does not have.
pub(super) fn drop_bounding_set(kept: u64) -> Result<(), Failed> {
    for capability in 0..CAPABILITIES {
        // The first unknown number is the end of the kernel's capabilities.
        match prctl(libc::PR_CAPBSET_READ, capability, 0) {
            Ok(1) if kept & (1 << capability) == 0 => {
                prctl(libc::PR_CAPBSET_DROP, capability, 0).map_err(at(Step::BoundingSet))?;
            }
            Ok(0) if kept & (1 << capability) != 0 => return Err(Failed::because(Step::BoundingSet, libc::EPERM)),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Ok(())
}

/// Sets the effective, permitted and inheritable set, then the ambient one, which has to be inside of two of them.
pub(super) fn apply_sets(sets: &Capabilities) -> Result<(), Failed> {
    let failed = at(Step::Capabilities);
    let header = Header { version: VERSION_3, pid: 0 };
    let (effective, permitted, inheritable) =
        (halves(sets.effective), halves(sets.permitted), halves(sets.inheritable));
    let data = [0, 1].map(|half| Data {
        effective: effective[half],
        permitted: permitted[half],
        inheritable: inheritable[half],
    });
    // SAFETY: the pointers are to structures of the kernel's layout, which live until the call returns.
    check_long(unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) }).map_err(&failed)?;
    prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as u64, 0).map_err(&failed)?;
    for capability in (0..CAPABILITIES).filter(|capability| sets.ambient & (1 << capability) != 0) {
        prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE as u64, capability).map_err(&failed)?;
    }
    Ok(())
}

fn halves(set: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = set.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

const VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}
