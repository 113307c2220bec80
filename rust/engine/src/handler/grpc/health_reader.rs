//! Reads a `HealthCheckResponse` as its bytes arrive, and keeps none of them: a server may send four MiB of fields that
//! no probe knows, and they are valid.

use super::health::Health;
use super::protobuf::{GROUPS_MAX, INVALID, NUMBER_MAX};
use super::status::Status;

/// A response of which the first bytes have come.
#[derive(Debug, Default)]
pub(super) struct HealthReader {
    health: Health,
    state: State,
    /// The number of each group that is open, the innermost last.
    groups: Vec<u64>,
    is_wrong: bool,
}

/// What the next byte belongs to.
#[derive(Debug)]
enum State {
    Tag(Varint),
    /// The value of the field with this number.
    Value(u64, Varint),
    Length(Varint),
    /// So many bytes that mean nothing.
    Skip(u64),
}

impl Default for State {
    fn default() -> Self {
        Self::Tag(Varint::default())
    }
}

impl HealthReader {
    /// Takes the next bytes of the message.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first()
            && !self.is_wrong
        {
            rest = match &mut self.state {
                State::Skip(left) => {
                    let skipped = usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
                    *left -= skipped as u64;
                    if *left == 0 {
                        self.state = State::default();
                    }
                    &rest[skipped..]
                }
                State::Tag(varint) | State::Value(_, varint) | State::Length(varint) => {
                    match varint.push(byte) {
                        Ok(true) => self.number_ends(),
                        Ok(false) => {}
                        Err(()) => self.is_wrong = true,
                    }
                    after
                }
            };
        }
    }

    /// The health in a message that has come whole.
    pub(super) fn health(self) -> Result<Health, Status> {
        self.end().map_err(|error| Status::internal(format!("grpc: failed to unmarshal the received message: {error}")))
    }

    fn end(self) -> Result<Health, &'static str> {
        let is_between = matches!(&self.state, State::Tag(tag) if tag.bytes == 0);
        if self.is_wrong || !is_between || !self.groups.is_empty() { Err(INVALID) } else { Ok(self.health) }
    }

    fn number_ends(&mut self) {
        self.state = match std::mem::take(&mut self.state) {
            State::Tag(tag) => self.field_begins(tag.value),
            State::Value(number, Varint { value, .. }) => {
                if number == STATUS && self.groups.is_empty() {
                    self.health = Health::of_enum(value);
                }
                State::default()
            }
            State::Length(Varint { value: length, .. }) => skip(length),
            State::Skip(left) => State::Skip(left),
        };
    }

    /// Goes on after a field's tag.
    fn field_begins(&mut self, tag: u64) -> State {
        let number = tag >> 3;
        match tag & 7 {
            4 if self.groups.last() == Some(&number) => drop(self.groups.pop()),
            _ if !(1..=NUMBER_MAX).contains(&number) => self.is_wrong = true,
            0 => return State::Value(number, Varint::default()),
            1 => return State::Skip(8),
            2 => return State::Length(Varint::default()),
            3 if self.groups.len() < GROUPS_MAX => self.groups.push(number),
            5 => return State::Skip(4),
            _ => self.is_wrong = true,
        }
        State::default()
    }
}

fn skip(bytes: u64) -> State {
    if bytes == 0 { State::default() } else { State::Skip(bytes) }
}

/// A varint: at most ten bytes with seven bits each, of which the tenth has one.
#[derive(Debug, Default)]
struct Varint {
    value: u64,
    bytes: u32,
}

impl Varint {
    /// Takes the next byte; true if it is the last one.
    fn push(&mut self, byte: u8) -> Result<bool, ()> {
        if self.bytes == 9 && byte > 1 {
            return Err(());
        }
        self.value |= u64::from(byte & 0x7f) << (7 * self.bytes);
        self.bytes += 1;
        Ok(byte < 0x80)
    }
}

/// The largest message, as it comes and decompressed: grpc-go's default
/// (dialoptions.go:defaultClientMaxReceiveMessageSize).
pub(super) const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// The number of the only field (`grpc.health.v1`).
const STATUS: u64 = 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::protobuf::{Value, fields};
    use super::*;

    fn read(message: &[u8], size: usize) -> Result<String, &'static str> {
        let mut reader = HealthReader::default();
        message.chunks(size).for_each(|piece| reader.push(piece));
        reader.end().map(Health::name)
    }

    /// Another way to the same: the whole message at once.
    fn read_whole(message: &[u8]) -> Result<String, &'static str> {
        let mut health = Health::default();
        for field in fields(message) {
            if let (STATUS, Value::Varint(value)) = field? {
                health = Health::of_enum(value);
            }
        }
        Ok(health.name())
    }

    #[test]
    fn responses() {
        for size in [1, 2, 100] {
            let read = |bytes: &[u8]| read(bytes, size);
            assert_eq!(read(&[]), Ok("UNKNOWN".into()));
            assert_eq!(read(&[8, 1]), Ok("SERVING".into()));
            assert_eq!(read(&[8, 1, 8, 2]), Ok("NOT_SERVING".into()));
            assert_eq!(read(&[8, 0x81, 0x80, 0x80, 0x80, 0x10]), Ok("SERVING".into()), "2^32 + 1");
            assert_eq!(read(&[8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), Ok("-1".into()));
            assert_eq!(read(&[10, 1, 1]), Ok("UNKNOWN".into()), "bytes are not an enum");
            assert_eq!(read(&[8, 1, 0x13, 8, 2, 0x14]), Ok("SERVING".into()), "a field of a group");
            assert_eq!(read(&[8, 1, 0x12, 0]), Ok("SERVING".into()), "an empty field");
            assert!(read(&[8]).is_err() && read(&[0x12, 2, 1]).is_err());
        }
        for depth in [GROUPS_MAX, GROUPS_MAX + 1] {
            let nested = [vec![0x13; depth], vec![0x14; depth]].concat();
            assert_eq!(read(&nested, 7).is_ok(), depth == GROUPS_MAX);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_as_if_they_came_at_once(
            message in proptest::collection::vec(prop_oneof![any::<u8>(), 0x08u8..0x16, 0u8..3], 0..60),
            size in 1usize..9,
        ) {
            prop_assert_eq!(read(&message, size), read_whole(&message));
        }
    }
}
