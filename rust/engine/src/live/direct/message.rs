//! The messages between the engine and the helper: one per packet, little-endian. `rust/enter/src/protocol` is the other
//! end, and `python/probelet/runtime/execs/direct/message.py` writes and reads the same.

use crate::live::exec::Refusal;

const RUN: u8 = 1;
const PING: u8 = 2;

const PONG: u8 = 3;
const ENDED: u8 = 4;
const TIMED_OUT: u8 = 5;
const STUCK: u8 = 6;
const REFUSED: u8 = 7;
const OVER: u8 = 8;

/// Below the helper's buffer and below what the kernel takes as one packet by default.
pub(super) const REQUEST_BYTES_MAX: usize = 128 * 1024;
/// The longest answer has 10 KiB of each output.
pub(super) const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// What fits into a request, 46 days: the API allows more.
const SECONDS_MAX: u32 = 4_000_000;
/// Bytes of a request before the description.
const HEAD_BYTES: usize = 13;

/// The part of a request before the container's description.
pub(super) fn head(id: u64, timeout_seconds: i32) -> [u8; HEAD_BYTES] {
    let millis = u32::try_from(timeout_seconds).unwrap_or(0).min(SECONDS_MAX) * 1_000;
    let mut head = [RUN; HEAD_BYTES];
    head[1..9].copy_from_slice(&id.to_le_bytes());
    head[9..].copy_from_slice(&millis.to_le_bytes());
    head
}

/// The part of a request after the container's description; None for a command that no helper can start, with which
/// Python finds out what to do.
pub(super) fn command(argv: &[Box<str>]) -> Option<Vec<u8>> {
    if argv.first().is_none_or(|program| program.is_empty()) {
        return None;
    }
    let mut words = length(argv.len())?.to_vec();
    for word in argv {
        // No system call takes NUL inside a text.
        if word.contains('\0') {
            return None;
        }
        words.extend(length(word.len())?);
        words.extend(word.as_bytes());
    }
    Some(words)
}

fn length(length: usize) -> Option<[u8; 4]> {
    u32::try_from(length).ok().map(u32::to_le_bytes)
}

/// Asks whether the helper turns.
pub(super) fn ping() -> [u8; 9] {
    let mut ping = [0; 9];
    ping[0] = PING;
    ping
}

/// The helper's socket takes no more requests.
pub(super) const FULL: Refusal = Refusal { why: 8, step: 0, errno: libc::EAGAIN };

/// What the helper says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// It turns.
    Alive,
    /// A command ended by itself or by a signal (128 and its number).
    Ended { id: u64, code: i32, stdout: &'a [u8], stderr: &'a [u8] },
    /// A command was killed at its timeout.
    TimedOut { id: u64 },
    /// The timeout was over before the program had started.
    Stuck { id: u64 },
    /// A command was not started.
    Refused { id: u64, refusal: Refusal },
}

impl<'a> Answer<'a> {
    /// None for bytes that are no answer; such a helper is replaced.
    pub(super) fn read(message: &'a [u8]) -> Option<Self> {
        let (&[kind], rest) = message.split_first_chunk::<1>()?;
        let (id, rest) = rest.split_first_chunk().map(|(id, rest)| (u64::from_le_bytes(*id), rest))?;
        Some(match kind {
            // A command that was killed has ended; its attempt was answered before.
            PONG | OVER => Self::Alive,
            ENDED => {
                let (code, rest) = rest.split_first_chunk()?;
                let (length, output) = rest.split_first_chunk()?;
                let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
                let (stdout, stderr) = output.split_at_checked(length)?;
                Self::Ended { id, code: i32::from_le_bytes(*code), stdout, stderr }
            }
            TIMED_OUT => Self::TimedOut { id },
            STUCK => Self::Stuck { id },
            REFUSED => {
                let (&[why, step], errno) = rest.split_first_chunk()?;
                let errno = i32::from_le_bytes(errno.try_into().ok()?);
                Self::Refused { id, refusal: Refusal { why, step, errno } }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered(kind: u8, rest: &[u8]) -> Vec<u8> {
        [&[kind], 7u64.to_le_bytes().as_slice(), rest].concat()
    }

    #[test]
    fn every_answer_is_read() {
        let message = numbered(4, &[[3, 0, 0, 0, 2, 0, 0, 0].as_slice(), b"oute"].concat());
        assert_eq!(Answer::read(&message), Some(Answer::Ended { id: 7, code: 3, stdout: b"ou", stderr: b"te" }));
        assert_eq!(Answer::read(&numbered(3, b"")), Some(Answer::Alive));
        assert_eq!(Answer::read(&numbered(5, b"")), Some(Answer::TimedOut { id: 7 }));
        assert_eq!(Answer::read(&numbered(6, b"")), Some(Answer::Stuck { id: 7 }));
        assert_eq!(Answer::read(&numbered(8, b"")), Some(Answer::Alive));
        let refusal = Refusal { why: 9, step: 16, errno: 1 };
        assert_eq!(Answer::read(&numbered(7, &[9, 16, 1, 0, 0, 0])), Some(Answer::Refused { id: 7, refusal }));
    }

    #[test]
    fn an_output_beyond_the_message_and_an_unknown_kind_are_no_answers() {
        assert_eq!(Answer::read(&numbered(4, &[0, 0, 0, 0, 3, 0, 0, 0, b'o'])), None);
        assert_eq!(Answer::read(&numbered(7, &[9, 16, 1])), None);
        assert_eq!(Answer::read(&numbered(9, b"")), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_none(message in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Answer::read(&message);
        }
    }

    #[test]
    fn a_request_is_what_the_helper_reads() {
        assert_eq!(head(7, 1), [1, 7, 0, 0, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0]);
        assert_eq!(head(7, i32::MAX)[9..], 4_000_000_000_u32.to_le_bytes());
        let words = command(&["a".into(), "".into()]).unwrap();
        assert_eq!(words, [2, 0, 0, 0, 1, 0, 0, 0, b'a', 0, 0, 0, 0]);
    }

    /// The helper ends at a request that it cannot read.
    #[test]
    fn a_command_that_no_helper_can_start_is_no_request() {
        for argv in [vec![], vec!["".into()], vec!["a\0b".into()]] {
            assert_eq!(command(&argv), None, "{argv:?}");
        }
    }
}
