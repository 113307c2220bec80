//! The home of a user in the container's /etc/passwd, as runc reads it (moby/sys/user: `ParsePasswdFilter`).

use std::fs::File;
use std::io::Read;

use crate::sys::open;

/// The home of a user, or `/` if the file has no line for it or is missing; None if the file cannot be read, or has what
/// only the runtime should judge.
pub(super) fn home_of(uid: u32) -> Option<Vec<u8>> {
    let file = match open(c"/etc/passwd", libc::O_RDONLY | libc::O_NONBLOCK) {
        Ok(file) => File::from(file),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Some(b"/".to_vec()),
        Err(_) => return None,
    };
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut text).ok()?;
    if text.len() as u64 > BYTES_MAX { None } else { home_in(&text, uid) }
}

/// A passwd file of a real image has a few kilobytes.
const BYTES_MAX: u64 = 1 << 20;

fn home_in(passwd: &[u8], uid: u32) -> Option<Vec<u8>> {
    for line in passwd.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        // runc reads anything that is no number as 0, and takes lines with fewer fields: it knows what it means by that.
        let found = std::str::from_utf8(fields.get(2)?).ok()?;
        let found: u32 =
            if found.bytes().all(|byte| byte.is_ascii_digit()) { found.parse().ok()? } else { return None };
        if found == uid {
            return fields.get(5).map(|home| home.to_vec());
        }
    }
    Some(b"/".to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &[u8] =
        b"root:x:0:0:root:/root:/bin/sh\n\n  app:x:1000:1000::/srv/app:/bin/sh\nlater:x:1000:1::/no:/bin/sh";

    #[test]
    fn the_first_line_of_a_user_counts() {
        assert_eq!(home_in(PASSWD, 0).unwrap(), b"/root");
        assert_eq!(home_in(PASSWD, 1000).unwrap(), b"/srv/app");
        assert_eq!(home_in(PASSWD, 7).unwrap(), b"/");
    }

    #[test]
    fn a_line_of_which_the_meaning_is_runcs_own_is_left_to_runc() {
        assert_eq!(home_in(b"+::::::\n", 0), None);
        assert_eq!(home_in(b"root\n", 0), None);
        assert_eq!(home_in(b"root:x:0\n", 0), None);
    }
}
