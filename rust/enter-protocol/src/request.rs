//! What probelet asks for.

use crate::answer::Refusal;
use crate::reader::{Malformed, Reader, Texts};
use crate::{LIMITS, REQUEST_BYTES_MAX};

/// One request.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one request at a time, and a box would copy it to the heap")]
pub enum Request<'a> {
    /// Run a command.
    Run(Run<'a>),
    /// Answer with the same number: probelet asks whether this program still turns.
    Ping(u64),
}

/// A command, and the container that it runs in.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The number that the answer repeats.
    pub id: u64,
    /// When the command is killed, in milliseconds from now.
    pub timeout_ms: u32,
    /// The container.
    pub container: Container<'a>,
    /// The program and its arguments.
    pub argv: Texts<'a>,
}

/// What the runtime's specification says of a container's processes.
#[derive(Clone, Copy, Debug)]
pub struct Container<'a> {
    /// The name that the runtime gave it.
    pub id: &'a [u8],
    /// The first process of the container, in the PID namespace of this program.
    pub pid: i32,
    /// When that process started, in clock ticks since the machine did (`/proc/PID/stat`, field 22).
    pub start_time: u64,
    /// `CLONE_NEW*` of the namespaces that the container does not share with the host.
    pub namespaces: i32,
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The mask of modes of new files.
    pub umask: u32,
    /// How much sooner or later than others the kernel kills it when memory runs out.
    pub oom_score_adj: i32,
    /// The priority.
    pub nice: i32,
    /// Whether no program that it starts gets more rights than it has.
    pub no_new_privileges: bool,
    /// The capabilities.
    pub capabilities: Capabilities,
    /// Soft and hard, by the number of the resource.
    pub limits: [(u64, u64); LIMITS],
    /// Further groups.
    pub groups: Numbers<'a>,
    /// The working directory.
    pub cwd: &'a [u8],
    /// The variables, each `NAME=VALUE`.
    pub environment: Texts<'a>,
    /// The filter of system calls; None for none.
    pub seccomp: Option<Filter<'a>>,
}

/// The seccomp filter that the runtime's exec loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter<'a> {
    /// `SECCOMP_FILTER_FLAG_LOG` and `SECCOMP_FILTER_FLAG_SPEC_ALLOW`.
    pub flags: u32,
    /// `struct sock_filter`, one after the other.
    pub instructions: &'a [u8],
}

/// `SECCOMP_FILTER_FLAG_LOG`.
pub const FILTER_FLAG_LOG: u32 = 2;
/// `SECCOMP_FILTER_FLAG_SPEC_ALLOW`.
pub const FILTER_FLAG_SPEC_ALLOW: u32 = 4;
/// `sizeof(struct sock_filter)`.
pub const INSTRUCTION_BYTES: usize = 8;
/// As many as the kernel takes (`BPF_MAXINSNS`).
pub const INSTRUCTIONS_MAX: usize = 4096;

/// The five sets, one bit per capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What no program can exceed.
    pub bounding: u64,
    /// What the kernel checks.
    pub effective: u64,
    /// What may become effective.
    pub permitted: u64,
    /// What a program with the same bit keeps.
    pub inheritable: u64,
    /// What a program without file capabilities keeps.
    pub ambient: u64,
}

/// A list of numbers inside a message.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    left: u32,
    rest: Reader<'a>,
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        self.rest.u32().ok()
    }
}

const RUN: u8 = 1;
const PING: u8 = 2;

/// A request to run a command, without the container's description between its two parts.
#[derive(Debug)]
pub struct Words {
    /// The part before the description.
    pub head: [u8; HEAD_BYTES],
    /// The part after the description.
    pub command: Vec<u8>,
}

impl Words {
    /// Asks for a command in a container whose description has so many bytes.
    ///
    /// # Errors
    /// No helper can start it.
    pub fn new(id: u64, timeout_seconds: i32, description: usize, argv: &[Box<str>]) -> Result<Self, Refusal> {
        let words = Self { head: head(id, timeout_seconds), command: command(argv)? };
        if HEAD_BYTES + description + words.command.len() > REQUEST_BYTES_MAX {
            return Err(Refusal::Size);
        }
        Ok(words)
    }
}

const HEAD_BYTES: usize = 13;

/// What fits into a request, 46 days: the API allows more.
const SECONDS_MAX: u32 = 4_000_000;

fn head(id: u64, timeout_seconds: i32) -> [u8; HEAD_BYTES] {
    let millis = u32::try_from(timeout_seconds).unwrap_or(0).min(SECONDS_MAX) * 1_000;
    let mut head = [RUN; HEAD_BYTES];
    head[1..9].copy_from_slice(&id.to_le_bytes());
    head[9..].copy_from_slice(&millis.to_le_bytes());
    head
}

fn command(argv: &[Box<str>]) -> Result<Vec<u8>, Refusal> {
    if argv.first().is_none_or(|program| program.is_empty()) {
        return Err(Refusal::Program);
    }
    let mut words = length(argv.len())?.to_vec();
    for word in argv {
        if word.contains('\0') {
            return Err(Refusal::Specification);
        }
        words.extend(length(word.len())?);
        words.extend(word.as_bytes());
    }
    Ok(words)
}

fn length(length: usize) -> Result<[u8; 4], Refusal> {
    u32::try_from(length).map(u32::to_le_bytes).map_err(|_| Refusal::Size)
}

/// Asks whether the helper turns.
pub fn ping() -> [u8; 9] {
    let mut ping = [0; 9];
    ping[0] = PING;
    ping
}

impl<'a> Request<'a> {
    /// Reads a request.
    ///
    /// # Errors
    /// The message is no request.
    pub fn read(message: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(message);
        let request = match reader.u8()? {
            RUN => Self::Run(Run::read(&mut reader)?),
            PING => Self::Ping(reader.u64()?),
            _ => return Err(Malformed),
        };
        reader.end()?;
        Ok(request)
    }
}

impl<'a> Run<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let id = reader.u64()?;
        let timeout_ms = reader.u32()?;
        let container = Container::read(reader)?;
        let argv = reader.texts()?;
        if argv.clone().next().is_none_or(<[u8]>::is_empty) {
            return Err(Malformed);
        }
        Ok(Self { id, timeout_ms, container, argv })
    }
}

impl<'a> Container<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let container = Self {
            id: reader.text()?,
            pid: reader.i32()?,
            start_time: reader.u64()?,
            namespaces: reader.i32()?,
            uid: reader.u32()?,
            gid: reader.u32()?,
            umask: reader.u32()?,
            oom_score_adj: reader.i32()?,
            nice: reader.i32()?,
            no_new_privileges: reader.u8()? != 0,
            capabilities: Capabilities {
                bounding: reader.u64()?,
                effective: reader.u64()?,
                permitted: reader.u64()?,
                inheritable: reader.u64()?,
                ambient: reader.u64()?,
            },
            limits: limits(reader)?,
            groups: numbers(reader)?,
            cwd: reader.text()?,
            environment: reader.texts()?,
            seccomp: filter(reader)?,
        };
        // A name of 32 bytes or more cannot be a part of a cgroup's path by chance.
        let is_named = container.id.len() >= ID_BYTES_MIN && container.id.iter().all(u8::is_ascii_alphanumeric);
        if is_named && container.pid > 1 && container.cwd.starts_with(b"/") { Ok(container) } else { Err(Malformed) }
    }
}

/// Runtimes name containers by 64 hexadecimal digits.
const ID_BYTES_MIN: usize = 32;

fn limits(reader: &mut Reader<'_>) -> Result<[(u64, u64); LIMITS], Malformed> {
    let mut limits = [(0, 0); LIMITS];
    for limit in &mut limits {
        *limit = (reader.u64()?, reader.u64()?);
    }
    Ok(limits)
}

fn numbers<'a>(reader: &mut Reader<'a>) -> Result<Numbers<'a>, Malformed> {
    let count = reader.u32()?;
    let numbers = Numbers { left: count, rest: *reader };
    for _ in 0..count {
        reader.u32()?;
    }
    Ok(numbers)
}

/// No instructions are no filter.
fn filter<'a>(reader: &mut Reader<'a>) -> Result<Option<Filter<'a>>, Malformed> {
    // What the other flags ask for is no property of a filter: a listener, and other threads.
    const FLAGS: u32 = FILTER_FLAG_LOG | FILTER_FLAG_SPEC_ALLOW;
    let (flags, instructions) = (reader.u32()?, reader.bytes()?);
    let is_whole = instructions.len().is_multiple_of(INSTRUCTION_BYTES);
    if !is_whole || instructions.len() > INSTRUCTIONS_MAX * INSTRUCTION_BYTES || flags & !FLAGS != 0 {
        return Err(Malformed);
    }
    Ok((!instructions.is_empty()).then_some(Filter { flags, instructions }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: &mut Vec<u8>, text: &[u8]) {
        message.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        message.extend(text);
    }

    /// A container's description, as Python writes it.
    fn description(id: &[u8], cwd: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        text(&mut message, id);
        message.extend(4242i32.to_le_bytes());
        message.extend(99u64.to_le_bytes());
        message.extend(NAMESPACES.to_le_bytes());
        for number in [1000u32, 2000, 0o22] {
            message.extend(number.to_le_bytes());
        }
        message.extend(500i32.to_le_bytes());
        message.extend((-5i32).to_le_bytes());
        message.push(1);
        for set in [5u64, 4, 3, 2, 1] {
            message.extend(set.to_le_bytes());
        }
        for number in 0..2 * LIMITS as u64 {
            message.extend(number.to_le_bytes());
        }
        for number in [2u32, 10, 20] {
            message.extend(number.to_le_bytes());
        }
        text(&mut message, cwd);
        message.extend(1u32.to_le_bytes());
        text(&mut message, b"A=b");
        message.extend(4u32.to_le_bytes());
        text(&mut message, FILTER);
        message
    }

    fn example(id: &[u8], cwd: &[u8], argv: &[&str]) -> Vec<u8> {
        let words: Vec<Box<str>> = argv.iter().map(|word| (*word).into()).collect();
        let words = command(&words).unwrap_or_else(|_| length(0).unwrap().to_vec());
        [&head(7, 1)[..], &description(id, cwd), &words].concat()
    }

    /// `CLONE_NEWNS`.
    const NAMESPACES: i32 = 0x20000;
    /// Allows everything.
    const FILTER: &[u8] = &[6, 0, 0, 0, 0, 0, 0xff, 0x7f];
    const ID: &[u8] = b"0123456789abcdef0123456789abcdef";

    #[test]
    fn every_field_arrives() {
        let message = example(ID, b"/srv", &["true", "-v"]);
        let Ok(Request::Run(run)) = Request::read(&message) else { panic!("a run") };
        let container = run.container;
        assert_eq!((run.id, run.timeout_ms, container.id), (7, 1_000, ID));
        assert_eq!((container.pid, container.start_time, container.namespaces), (4242, 99, NAMESPACES));
        assert_eq!((container.uid, container.gid, container.umask), (1000, 2000, 0o22));
        assert_eq!((container.oom_score_adj, container.nice), (500, -5));
        let sets = Capabilities { bounding: 5, effective: 4, permitted: 3, inheritable: 2, ambient: 1 };
        assert_eq!((container.no_new_privileges, container.capabilities), (true, sets));
        assert_eq!((container.limits[0], container.limits[15]), ((0, 1), (30, 31)));
        assert_eq!(container.groups.collect::<Vec<_>>(), [10, 20]);
        assert_eq!(container.environment.collect::<Vec<_>>(), [b"A=b"]);
        assert_eq!(container.seccomp, Some(Filter { flags: 4, instructions: FILTER }));
        assert_eq!(run.argv.collect::<Vec<_>>(), [b"true".as_slice(), b"-v"]);
    }

    #[test]
    fn every_shorter_and_every_longer_message_is_malformed() {
        let mut message = example(ID, b"/", &["true"]);
        for length in 0..message.len() {
            assert!(Request::read(&message[..length]).is_err(), "{length} bytes");
        }
        message.push(0);
        assert!(Request::read(&message).is_err());
    }

    #[test]
    fn no_command_a_relative_directory_and_a_name_that_could_be_another_path_are_malformed() {
        assert!(Request::read(&example(ID, b"/", &[])).is_err());
        let empty = [&head(7, 1)[..], &description(ID, b"/"), &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert!(Request::read(&empty).is_err());
        assert!(Request::read(&example(ID, b"srv", &["true"])).is_err());
        assert!(Request::read(&example(b"", b"/", &["true"])).is_err());
        assert!(Request::read(&example(b"0123456789abcdef/123456789abcdef0", b"/", &["true"])).is_err());
    }

    #[test]
    fn a_filter_that_is_cut_too_long_or_has_a_listener_is_malformed() {
        let read = |flags: u32, instructions: &[u8]| {
            let mut message = flags.to_le_bytes().to_vec();
            text(&mut message, instructions);
            filter(&mut Reader::new(&message)).map(|filter| filter.is_some())
        };
        assert_eq!(read(0, &[]), Ok(false));
        assert_eq!(read(0, &[0; INSTRUCTION_BYTES]), Ok(true));
        assert_eq!(read(0, &[0; INSTRUCTION_BYTES + 1]), Err(Malformed));
        assert_eq!(read(0, &[0; (INSTRUCTIONS_MAX + 1) * INSTRUCTION_BYTES]), Err(Malformed));
        // SECCOMP_FILTER_FLAG_NEW_LISTENER.
        assert_eq!(read(8, &[0; INSTRUCTION_BYTES]), Err(Malformed));
    }

    #[test]
    fn a_ping_is_read() {
        assert!(matches!(Request::read(&ping()), Ok(Request::Ping(0))));
    }

    #[test]
    fn a_timeout_that_is_too_long_is_cut() {
        assert_eq!(head(7, 1), [1, 7, 0, 0, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0]);
        assert_eq!(head(7, i32::MAX)[9..], 4_000_000_000_u32.to_le_bytes());
        let words = command(&["a".into(), "".into()]).unwrap();
        assert_eq!(words, [2, 0, 0, 0, 1, 0, 0, 0, b'a', 0, 0, 0, 0]);
    }

    /// The helper ends at a request that it cannot read.
    #[test]
    fn a_command_that_no_helper_can_start_is_no_request() {
        for (argv, refusal) in [
            (vec![], Refusal::Program),
            (vec!["".into()], Refusal::Program),
            (vec!["a\0b".into()], Refusal::Specification),
            (vec!["x".repeat(REQUEST_BYTES_MAX - HEAD_BYTES - 8).into()], Refusal::Size),
        ] {
            assert_eq!(Words::new(7, 1, 1, &argv).err(), Some(refusal), "{argv:?}");
        }
    }
}
