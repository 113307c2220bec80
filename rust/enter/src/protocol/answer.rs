//! What this program answers.

use crate::protocol::request::LIMITS;

/// Why a command was not started. Nothing has run in the container then, so the runtime itself can run the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Refusal {
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
}

/// The step that failed, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    None = 0,
    Descriptors = 1,
    OomScore = 2,
    Cgroup = 3,
    Priority = 4,
    Namespaces = 5,
    Root = 6,
    Fork = 7,
    Session = 8,
    Keyring = 9,
    NoNewPrivileges = 10,
    Limits = 11,
    Cwd = 12,
    Environment = 13,
    BoundingSet = 14,
    User = 15,
    Capabilities = 16,
    Dumpable = 17,
    Program = 18,
    Death = 19,
    Seccomp = 20,
}

impl Step {
    /// The reason that follows from a failure of this step.
    pub(crate) fn refusal(byte: u8) -> Refusal {
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
pub(crate) struct Refused {
    pub(crate) refusal: Refusal,
    pub(crate) step: u8,
    pub(crate) errno: i32,
}

impl Refused {
    pub(crate) fn new(refusal: Refusal) -> Self {
        Self { refusal, step: Step::None as u8, errno: 0 }
    }

    pub(crate) fn of(refusal: Refusal, error: &std::io::Error) -> Self {
        Self { refusal, step: Step::None as u8, errno: error.raw_os_error().unwrap_or(0) }
    }
}

/// What binds this program, and therefore every command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Capabilities in the bounding set and in the permitted set.
    pub(crate) capabilities: u64,
    /// Hard limits, by the number of the resource.
    pub(crate) limits: [u64; LIMITS],
}

/// Of both directions; probelet uses no helper of another version, which could take one field for another.
const VERSION: u8 = 2;

const HELLO: u8 = 1;
const UNABLE: u8 = 2;
const PONG: u8 = 3;
const ENDED: u8 = 4;
const TIMED_OUT: u8 = 5;
const STUCK: u8 = 6;
const REFUSED: u8 = 7;
const OVER: u8 = 8;

/// The first message: this program is ready.
pub(crate) fn hello(bounds: &Bounds) -> Vec<u8> {
    let mut message = vec![HELLO, VERSION];
    message.extend(bounds.capabilities.to_le_bytes());
    for limit in bounds.limits {
        message.extend(limit.to_le_bytes());
    }
    message
}

/// The first and last message: no command can be confined here, and why.
pub(crate) fn unable(why: &str) -> Vec<u8> {
    [&[UNABLE], why.as_bytes()].concat()
}

pub(crate) fn pong(number: u64) -> Vec<u8> {
    numbered(PONG, number)
}

/// The head of the message for a command that ended; stdout and stderr follow it.
pub(crate) fn ended(id: u64, code: i32, stdout: usize) -> Vec<u8> {
    let mut message = numbered(ENDED, id);
    message.extend(code.to_le_bytes());
    message.extend(u32::try_from(stdout).unwrap_or(u32::MAX).to_le_bytes());
    message
}

/// The command ran into its timeout.
pub(crate) fn timed_out(id: u64) -> Vec<u8> {
    numbered(TIMED_OUT, id)
}

/// The timeout was over before the program had started: nobody can say whether it is healthy.
pub(crate) fn stuck(id: u64) -> Vec<u8> {
    numbered(STUCK, id)
}

/// Every process of a command whose answer was [`timed_out`] or [`stuck`] has ended. It comes after that answer, because a
/// file system or a frozen cgroup can hold a process that was killed.
pub(crate) fn over(id: u64) -> Vec<u8> {
    numbered(OVER, id)
}

pub(crate) fn refused(id: u64, refused: Refused) -> Vec<u8> {
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
