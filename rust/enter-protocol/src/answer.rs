//! What the helper answers.

use crate::reader::{Malformed, Reader};
use crate::{LIMITS, VERSION};

/// Why a command was not started. Nothing has run in the container then, so the runtime itself can run the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// There is no helper that could be asked. Only probelet gives this reason.
    Helper = 1,
    /// The first process is not the one that was asked for, or has ended.
    Identity = 2,
    /// The first process is not in a cgroup of the container's name, or the cgroup cannot be joined.
    Cgroup = 3,
    /// The first process has a namespace that the specification does not name.
    Namespaces = 4,
    /// The first process has another security label than this program.
    Label = 5,
    /// `/` of the joined mount namespace is not the first process's root.
    Root = 6,
    /// The container is paused.
    Paused = 7,
    /// As many commands run, or cannot be ended, as this program keeps.
    Busy = 8,
    /// A step before the start of the program failed.
    Setup = 9,
    /// The program cannot be found or started.
    Program = 10,
    /// The request is longer than a message may be. Only probelet gives this reason.
    Size = 11,
    /// A word of the command holds a NUL, which no system call takes. Only probelet gives this reason.
    Specification = 12,
    /// The timeout was over before the program had started, or an earlier command of this container cannot be ended: a file
    /// system holds it.
    Stuck = 13,
}

/// The step that failed, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// No step.
    None = 0,
    /// Closing descriptors.
    Descriptors = 1,
    /// Setting the OOM score.
    OomScore = 2,
    /// Joining the cgroup.
    Cgroup = 3,
    /// Setting the priority.
    Priority = 4,
    /// Joining the namespaces.
    Namespaces = 5,
    /// Finding the root of the container.
    Root = 6,
    /// Forking.
    Fork = 7,
    /// Beginning a session.
    Session = 8,
    /// Joining the keyring.
    Keyring = 9,
    /// Giving up further privileges.
    NoNewPrivileges = 10,
    /// Setting limits.
    Limits = 11,
    /// Changing to the working directory.
    Cwd = 12,
    /// Making the environment.
    Environment = 13,
    /// Dropping capabilities from the bounding set.
    BoundingSet = 14,
    /// Changing user and groups.
    User = 15,
    /// Setting the capabilities.
    Capabilities = 16,
    /// Hiding the memory from the container.
    Dumpable = 17,
    /// Starting the program.
    Program = 18,
    /// Ending with the helper.
    Death = 19,
    /// Loading the filter.
    Seccomp = 20,
}

impl Step {
    /// The reason that follows from a failure of this step.
    pub fn refusal(byte: u8) -> Refusal {
        const CGROUP: u8 = Step::Cgroup as u8;
        const ROOT: u8 = Step::Root as u8;
        const PROGRAM: u8 = Step::Program as u8;
        match byte {
            CGROUP => Refusal::Cgroup,
            ROOT => Refusal::Root,
            PROGRAM => Refusal::Program,
            _ => Refusal::Setup,
        }
    }
}

/// A refusal with what the log says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub refusal: Refusal,
    /// The step; 0 for none.
    pub step: u8,
    /// The system's error number; 0 for none.
    pub errno: i32,
}

impl Refused {
    /// A refusal without a step.
    pub fn new(refusal: Refusal) -> Self {
        Self { refusal, step: Step::None as u8, errno: 0 }
    }

    /// A refusal because of an error of the system.
    pub fn of(refusal: Refusal, error: &std::io::Error) -> Self {
        Self { refusal, step: Step::None as u8, errno: error.raw_os_error().unwrap_or(0) }
    }
}

/// What binds the helper, and therefore every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Capabilities in the bounding set and in the permitted set.
    pub capabilities: u64,
    /// Hard limits, by the number of the resource.
    pub limits: [u64; LIMITS],
}

impl Bounds {
    /// Reads the first message of a helper.
    ///
    /// # Errors
    /// The helper cannot be used; a line for the log says why.
    pub fn read(message: &[u8]) -> Result<Self, String> {
        match message {
            [HELLO, VERSION, fields @ ..] => {
                Self::fields(Reader::new(fields)).map_err(|_| "its first message is malformed".to_owned())
            }
            [HELLO, version, ..] => {
                Err(format!("its protocol is version {version} and not {VERSION}: it is of another probelet"))
            }
            [UNABLE, why @ ..] => Err(String::from_utf8_lossy(why).into_owned()),
            _ => Err("its first message is none of a helper".to_owned()),
        }
    }

    fn fields(mut reader: Reader<'_>) -> Result<Self, Malformed> {
        let mut bounds = Self { capabilities: reader.u64()?, limits: [0; LIMITS] };
        for limit in &mut bounds.limits {
            *limit = reader.u64()?;
        }
        reader.end().map(|()| bounds)
    }
}

const HELLO: u8 = 1;
const UNABLE: u8 = 2;
const PONG: u8 = 3;
const ENDED: u8 = 4;
const TIMED_OUT: u8 = 5;
const STUCK: u8 = 6;
const REFUSED: u8 = 7;
const OVER: u8 = 8;

/// The first message: the helper is ready.
pub fn hello(bounds: &Bounds) -> Vec<u8> {
    let mut message = vec![HELLO, VERSION];
    message.extend(bounds.capabilities.to_le_bytes());
    for limit in bounds.limits {
        message.extend(limit.to_le_bytes());
    }
    message
}

/// The last message, which may be the first one, too: no command can be confined any more, and why.
pub fn unable(why: &str) -> Vec<u8> {
    [&[UNABLE], why.as_bytes()].concat()
}

/// The answer to a ping.
pub fn pong(number: u64) -> Vec<u8> {
    numbered(PONG, number)
}

/// The head of the message for a command that ended; stdout and stderr follow it.
pub fn ended(id: u64, code: i32, stdout: usize) -> Vec<u8> {
    let mut message = numbered(ENDED, id);
    message.extend(code.to_le_bytes());
    message.extend(u32::try_from(stdout).unwrap_or(u32::MAX).to_le_bytes());
    message
}

/// The command ran into its timeout.
pub fn timed_out(id: u64) -> Vec<u8> {
    numbered(TIMED_OUT, id)
}

/// The timeout was over before the program had started, for example because a file system does not answer.
pub fn stuck(id: u64) -> Vec<u8> {
    numbered(STUCK, id)
}

/// Every process of a command whose answer was [`timed_out`] or [`stuck`] has ended. It comes after that answer, because a
/// file system or a frozen cgroup can hold a process that was killed.
pub fn over(id: u64) -> Vec<u8> {
    numbered(OVER, id)
}

/// The command was not started.
pub fn refused(id: u64, refused: Refused) -> Vec<u8> {
    let mut message = numbered(REFUSED, id);
    message.extend([refused.refusal as u8, refused.step]);
    message.extend(refused.errno.to_le_bytes());
    message
}

fn numbered(kind: u8, number: u64) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend(number.to_le_bytes());
    message
}

/// An answer to a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// It turns.
    Alive,
    /// A command ended by itself or by a signal (128 and its number).
    Ended {
        /// The command.
        id: u64,
        /// Its exit code.
        code: i32,
        /// What it wrote to stdout.
        stdout: &'a [u8],
        /// What it wrote to stderr.
        stderr: &'a [u8],
    },
    /// A command was killed at its timeout.
    TimedOut {
        /// The command.
        id: u64,
    },
    /// The timeout was over before the program had started.
    Stuck {
        /// The command.
        id: u64,
    },
    /// A command was not started.
    Refused {
        /// The command.
        id: u64,
        /// Why: the number of a [`Refusal`].
        why: u8,
        /// The step that failed: the number of a [`Step`].
        step: u8,
        /// The system's error number; 0 for none.
        errno: i32,
    },
    /// Every process of a command that was `TimedOut` or `Stuck` has ended.
    Over {
        /// The command.
        id: u64,
    },
    /// The helper ends, and why.
    Unable(&'a [u8]),
}

impl<'a> Answer<'a> {
    /// None for bytes that are no answer; such a helper is replaced.
    pub fn read(message: &'a [u8]) -> Option<Self> {
        let (&[kind], rest) = message.split_first_chunk::<1>()?;
        if kind == UNABLE {
            return Some(Self::Unable(rest));
        }
        let (id, rest) = rest.split_first_chunk().map(|(id, rest)| (u64::from_le_bytes(*id), rest))?;
        Some(match kind {
            PONG => Self::Alive,
            OVER => Self::Over { id },
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
                Self::Refused { id, why, step, errno }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_answer_is_read_as_it_is_written() {
        let output = [&ended(7, 3, 2)[..], b"oute"].concat();
        assert_eq!(Answer::read(&output), Some(Answer::Ended { id: 7, code: 3, stdout: b"ou", stderr: b"te" }));
        assert_eq!(Answer::read(&pong(7)), Some(Answer::Alive));
        assert_eq!(Answer::read(&timed_out(7)), Some(Answer::TimedOut { id: 7 }));
        assert_eq!(Answer::read(&stuck(7)), Some(Answer::Stuck { id: 7 }));
        assert_eq!(Answer::read(&over(7)), Some(Answer::Over { id: 7 }));
        assert_eq!(Answer::read(&unable("why")), Some(Answer::Unable(b"why")));
        let why = Refused { refusal: Refusal::Setup, step: Step::Capabilities as u8, errno: 1 };
        assert_eq!(Answer::read(&refused(7, why)), Some(Answer::Refused { id: 7, why: 9, step: 16, errno: 1 }));
    }

    #[test]
    fn an_output_beyond_the_message_and_an_unknown_kind_are_no_answers() {
        assert_eq!(Answer::read(&ended(7, 0, 3)), None);
        assert_eq!(Answer::read(&refused(7, Refused::new(Refusal::Setup))[..13]), None);
        assert_eq!(Answer::read(&numbered(9, 7)), None);
    }

    #[test]
    fn a_helper_is_used_if_its_first_message_is_one_of_this_version() {
        let bounds = Bounds { capabilities: 5, limits: std::array::from_fn(|resource| resource as u64) };
        let mut message = hello(&bounds);
        assert_eq!(Bounds::read(&message), Ok(bounds));
        assert_eq!(Bounds::read(&message[..message.len() - 1]), Err("its first message is malformed".to_owned()));
        message[1] = VERSION - 1;
        assert!(Bounds::read(&message).unwrap_err().contains("it is of another probelet"));
        assert_eq!(Bounds::read(&unable("it lacks CAP_CHOWN")), Err("it lacks CAP_CHOWN".to_owned()));
        assert_eq!(Bounds::read(&pong(7)), Err("its first message is none of a helper".to_owned()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_none(message in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = (Answer::read(&message), Bounds::read(&message));
        }
    }
}
