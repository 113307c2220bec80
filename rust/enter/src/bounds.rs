//! What this program is bound by, and whether it can confine a command at all.

use std::io::Result;
use std::mem::MaybeUninit;

use probelet_enter_protocol::LIMITS;
use probelet_enter_protocol::answer::Bounds;

use crate::sys::{check, contents_at, prctl};

/// Reads the bounds. The error is a sentence for the log: something binds this program that no child can shed, so that
/// a command would be confined in another way than the runtime's.
pub(crate) fn own_bounds() -> std::result::Result<Bounds, String> {
    let unread = |error: std::io::Error| format!("its own bounds cannot be read: {error}");
    let status = contents_at(libc::AT_FDCWD, c"/proc/self/status").map_err(unread)?;
    let status = String::from_utf8_lossy(&status);
    let field = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim).unwrap_or_default()
    };
    if field("NoNewPrivs") != "0" {
        return Err("no_new_privs is set (NoNewPrivileges=), which every command would inherit".to_owned());
    }
    if field("Seccomp") != "0" {
        return Err("a seccomp filter is set (SystemCallFilter=), which every command would inherit".to_owned());
    }
    // SAFETY: the number asks and changes nothing.
    if unsafe { libc::personality(0xffff_ffff) } != 0 {
        return Err("its personality is not the default one, which every command would inherit".to_owned());
    }
    if prctl(libc::PR_GET_SECUREBITS, 0, 0).map_err(unread)? != 0 {
        return Err("secure bits are set (SecureBits=), which every command would inherit".to_owned());
    }
    for (option, name) in INHERITED {
        // A kernel without the option refuses it.
        if prctl(option, 0, 0).is_ok_and(|value| value != 0) {
            return Err(format!("{name} is set, which every command would inherit"));
        }
    }
    let set = |name| u64::from_str_radix(field(name), 16).unwrap_or(0);
    let capabilities = set("CapBnd") & set("CapPrm") & set("CapEff");
    let needed = NEEDED.iter().fold(0, |set, (bit, _)| set | 1 << bit);
    if capabilities & needed != needed {
        let lacking: Vec<_> =
            NEEDED.iter().filter(|(bit, _)| capabilities & (1 << bit) == 0).map(|(_, name)| *name).collect();
        return Err(format!("it lacks {}", lacking.join(", ")));
    }
    Ok(Bounds { capabilities, limits: hard_limits().map_err(unread)? })
}

/// What a process hands on to every program that it starts, and cannot take back.
const INHERITED: [(i32, &str); 2] = [
    (PR_GET_MDWE, "the denial of memory that is written and executed (MemoryDenyWriteExecute=)"),
    (libc::PR_GET_THP_DISABLE, "the lack of huge pages"),
];
/// Linux 6.3 (linux/prctl.h).
const PR_GET_MDWE: i32 = 66;

/// What joining a container takes, by number (`linux/capability.h`).
const NEEDED: [(u32, &str); 7] = [
    (0, "CAP_CHOWN"),
    (6, "CAP_SETGID"),
    (7, "CAP_SETUID"),
    (8, "CAP_SETPCAP"),
    (18, "CAP_SYS_CHROOT"),
    (19, "CAP_SYS_PTRACE"),
    (21, "CAP_SYS_ADMIN"),
];

fn hard_limits() -> Result<[u64; LIMITS]> {
    let mut hard = [0; LIMITS];
    for (resource, hard) in (0..).zip(&mut hard) {
        let mut limit = MaybeUninit::<libc::rlimit>::uninit();
        // SAFETY: the structure is written before it is read.
        *hard = unsafe {
            check(libc::getrlimit(resource, limit.as_mut_ptr()))?;
            limit.assume_init().rlim_max
        };
    }
    Ok(hard)
}
