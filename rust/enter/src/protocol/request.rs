//! What probelet asks for.

use super::reader::{Malformed, Reader, Texts};

/// Resources of `setrlimit`, 0 to 15 on every architecture.
pub(crate) const LIMITS: usize = 16;

/// One request.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one request at a time, and a box would copy it to the heap")]
pub(crate) enum Request<'a> {
    /// Run a command.
    Run(Run<'a>),
    /// Answer with the same number: probelet asks whether this program still turns.
    Ping(u64),
}

/// A command, and the container that it runs in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// The number that the answer repeats.
    pub(crate) id: u64,
    /// When the command is killed, in milliseconds from now.
    pub(crate) timeout_ms: u32,
    pub(crate) container: Container<'a>,
    pub(crate) argv: Texts<'a>,
}

/// What the runtime's specification says of a container's processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Container<'a> {
    pub(crate) id: &'a [u8],
    /// The first process of the container, in the PID namespace of this program.
    pub(crate) pid: i32,
    /// When that process started, in clock ticks since the machine did (`/proc/PID/stat`, field 22).
    pub(crate) start_time: u64,
    /// `CLONE_NEW*` of the namespaces that the container does not share with the host.
    pub(crate) namespaces: i32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) umask: u32,
    pub(crate) oom_score_adj: i32,
    pub(crate) nice: i32,
    pub(crate) no_new_privileges: bool,
    pub(crate) capabilities: Capabilities,
    /// Soft and hard, by the number of the resource.
    pub(crate) limits: [(u64, u64); LIMITS],
    pub(crate) groups: Numbers<'a>,
    pub(crate) cwd: &'a [u8],
    pub(crate) environment: Texts<'a>,
    pub(crate) seccomp: Option<Filter<'a>>,
}

/// The seccomp filter that the runtime's exec loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filter<'a> {
    /// `SECCOMP_FILTER_FLAG_LOG` and `SECCOMP_FILTER_FLAG_SPEC_ALLOW`.
    pub(crate) flags: u32,
    /// `struct sock_filter`, one after the other.
    pub(crate) instructions: &'a [u8],
}

/// `sizeof(struct sock_filter)`.
pub(crate) const INSTRUCTION_BYTES: usize = 8;
/// As many as the kernel takes (`BPF_MAXINSNS`).
pub(crate) const INSTRUCTIONS_MAX: usize = 4096;

/// The five sets, one bit per capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) bounding: u64,
    pub(crate) effective: u64,
    pub(crate) permitted: u64,
    pub(crate) inheritable: u64,
    pub(crate) ambient: u64,
}

/// A list of numbers inside a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
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

impl<'a> Request<'a> {
    pub(crate) fn read(message: &'a [u8]) -> Result<Self, Malformed> {
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
    const FLAGS: u64 = libc::SECCOMP_FILTER_FLAG_LOG | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    let (flags, instructions) = (reader.u32()?, reader.bytes()?);
    let is_whole = instructions.len().is_multiple_of(INSTRUCTION_BYTES);
    if !is_whole || instructions.len() > INSTRUCTIONS_MAX * INSTRUCTION_BYTES || u64::from(flags) & !FLAGS != 0 {
        return Err(Malformed);
    }
    Ok((!instructions.is_empty()).then_some(Filter { flags, instructions }))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn text(message: &mut Vec<u8>, text: &[u8]) {
        message.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        message.extend(text);
    }

    /// A request as Python writes it.
    pub(crate) fn example(id: &[u8], cwd: &[u8], argv: &[&[u8]]) -> Vec<u8> {
        let mut message = vec![RUN];
        message.extend(7u64.to_le_bytes());
        message.extend(1_000u32.to_le_bytes());
        text(&mut message, id);
        message.extend(4242i32.to_le_bytes());
        message.extend(99u64.to_le_bytes());
        message.extend(libc::CLONE_NEWNS.to_le_bytes());
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
        message.extend(u32::try_from(argv.len()).unwrap().to_le_bytes());
        for word in argv {
            text(&mut message, word);
        }
        message
    }

    /// Allows everything.
    const FILTER: &[u8] = &[6, 0, 0, 0, 0, 0, 0xff, 0x7f];
    const ID: &[u8] = b"0123456789abcdef0123456789abcdef";

    #[test]
    fn every_field_arrives() {
        let message = example(ID, b"/srv", &[b"true", b"-v"]);
        let Ok(Request::Run(run)) = Request::read(&message) else { panic!("a run") };
        let container = run.container;
        assert_eq!((run.id, run.timeout_ms, container.id), (7, 1_000, ID));
        assert_eq!((container.pid, container.start_time, container.namespaces), (4242, 99, libc::CLONE_NEWNS));
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
        let mut message = example(ID, b"/", &[b"true"]);
        for length in 0..message.len() {
            assert!(Request::read(&message[..length]).is_err(), "{length} bytes");
        }
        message.push(0);
        assert!(Request::read(&message).is_err());
    }

    #[test]
    fn no_command_a_relative_directory_and_a_name_that_could_be_another_path_are_malformed() {
        assert!(Request::read(&example(ID, b"/", &[])).is_err());
        assert!(Request::read(&example(ID, b"/", &[b""])).is_err());
        assert!(Request::read(&example(ID, b"srv", &[b"true"])).is_err());
        assert!(Request::read(&example(b"", b"/", &[b"true"])).is_err());
        assert!(Request::read(&example(b"0123456789abcdef/123456789abcdef0", b"/", &[b"true"])).is_err());
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
}
