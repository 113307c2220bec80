//! Questions and answers in the wire format of DNS (RFC 1035), as Go's resolver writes and reads them
//! (golang.org/x/net/dns/dnsmessage and `net.checkHeader`, Go 1.26).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// IPv4 addresses.
    A = 1,
    /// IPv6 addresses.
    Aaaa = 28,
}

/// A question.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) id: u16,
    /// The name, with a dot at its end.
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    pub(super) trusts_ad: bool,
}

/// An answer to the question that was asked.
#[derive(Debug)]
pub(super) struct Answer {
    bytes: Vec<u8>,
    /// Where the records begin.
    records: usize,
    flags: u16,
    /// How many records the three sections have.
    counts: [u16; 3],
}

/// Why bytes are no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotAnAnswer {
    /// They cannot be read.
    Unreadable,
    /// They answer another question.
    Foreign,
    /// They answer the question and others.
    Several,
}

/// The addresses in an answer, or Go's text for why there are none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Addresses, and whether a record behind them cannot be read.
    Addresses(Vec<IpAddr>, bool),
    /// The server says that there is no such host, so that no other server is asked.
    NoSuchHost,
    /// Another server may know more.
    Useless(&'static str),
}

impl Question<'_> {
    /// The message; None for a name that the format cannot hold.
    pub(super) fn message(&self) -> Option<Vec<u8>> {
        let flags = RECURSION_DESIRED | if self.trusts_ad { AUTHENTIC_DATA } else { 0 };
        let mut bytes = Vec::with_capacity(QUESTION_BYTES);
        for number in [self.id, flags, 1, 0, 0, 1] {
            bytes.extend(number.to_be_bytes());
        }
        for label in self.name.strip_suffix('.')?.split('.') {
            bytes.push(u8::try_from(label.len()).ok().filter(|length| (1..=LABEL_BYTES_MAX).contains(length))?);
            bytes.extend(label.as_bytes());
        }
        bytes.push(0);
        for number in [self.kind as u16, CLASS_INTERNET] {
            bytes.extend(number.to_be_bytes());
        }
        // EDNS(0): how long an answer may be (RFC 6891).
        bytes.push(0);
        for number in [TYPE_OPT, DATAGRAM_BYTES_MAX as u16, 0, 0, 0] {
            bytes.extend(number.to_be_bytes());
        }
        Some(bytes)
    }

    /// Reads bytes that may be the answer (`net.checkResponse`).
    pub(super) fn answer(&self, bytes: Vec<u8>) -> Result<Answer, NotAnAnswer> {
        let mut cursor = Cursor { bytes: &bytes, at: 0 };
        let mut header = [0; 6];
        for number in &mut header {
            *number = cursor.number().ok_or(NotAnAnswer::Unreadable)?;
        }
        let [id, flags, questions, answers, authorities, additionals] = header;
        if questions == 0 {
            return Err(NotAnAnswer::Unreadable);
        }
        let name = cursor.name().ok_or(NotAnAnswer::Unreadable)?;
        let (kind, class) = cursor.number().zip(cursor.number()).ok_or(NotAnAnswer::Unreadable)?;
        let is_ours = flags & RESPONSE != 0
            && id == self.id
            && (kind, class) == (self.kind as u16, CLASS_INTERNET)
            && name.eq_ignore_ascii_case(self.name.as_bytes());
        match (is_ours, questions) {
            (false, _) => Err(NotAnAnswer::Foreign),
            (true, 2..) => Err(NotAnAnswer::Several),
            (true, _) => {
                let records = cursor.at;
                Ok(Answer { bytes, records, flags, counts: [answers, authorities, additionals] })
            }
        }
    }
}

impl Answer {
    /// Whether the answer is too long for a datagram, so that the question is repeated over TCP.
    pub(super) const fn is_truncated(&self) -> bool {
        self.flags & TRUNCATED != 0
    }

    /// The addresses (`net.checkHeader`, `net.skipToAnswer`, and the loop of `net.goLookupIPCNAMEOrder`).
    pub(super) fn addresses(&self, kind: Kind) -> Found {
        let mut cursor = self.cursor();
        let (code, has_additional) = self.code();
        let (is_first_readable, has_answer) = (cursor.record().is_some(), self.counts[0] > 0);
        match code {
            NAME_ERROR => return Found::NoSuchHost,
            _ if has_answer && !is_first_readable => return Found::Useless(UNREADABLE),
            SUCCESS if !has_answer && !has_additional && self.flags & (AUTHORITATIVE | RECURSION_AVAILABLE) == 0 => {
                return Found::Useless("lame referral");
            }
            SUCCESS => {}
            _ => return Found::Useless("server misbehaving"),
        }
        let mut cursor = self.cursor();
        let (mut addresses, mut has_kind) = (Vec::new(), false);
        for _ in 0..self.counts[0] {
            let Some((record_kind, data)) = cursor.record() else {
                return if has_kind { Found::Addresses(addresses, true) } else { Found::Useless(UNREADABLE) };
            };
            // Nothing counts that comes before the first record of the kind.
            has_kind |= record_kind == kind as u16;
            if !has_kind {
                continue;
            }
            let address = match record_kind {
                TYPE_A => <[u8; 4]>::try_from(data).map(|bytes| Ipv4Addr::from(bytes).into()),
                TYPE_AAAA => <[u8; 16]>::try_from(data).map(|bytes| IpAddr::from(Ipv6Addr::from(bytes)).to_canonical()),
                _ => continue,
            };
            match address {
                Ok(_) if addresses.len() >= ADDRESSES_MAX => {}
                Ok(address) => addresses.push(address),
                Err(_) => return Found::Addresses(addresses, true),
            }
        }
        if has_kind { Found::Addresses(addresses, false) } else { Found::NoSuchHost }
    }

    fn cursor(&self) -> Cursor<'_> {
        Cursor { bytes: &self.bytes, at: self.records }
    }

    /// The response code with the bits of EDNS(0), and whether there are additional records
    /// (`net.extractExtendedRCode`).
    fn code(&self) -> (u16, bool) {
        let code = self.flags & CODE;
        let mut cursor = self.cursor();
        for _ in 0..usize::from(self.counts[0]) + usize::from(self.counts[1]) {
            if cursor.record().is_none() {
                return (code, false);
            }
        }
        for index in 0..self.counts[2] {
            let Some((kind, extended)) = cursor.kind_and_extended_code() else { return (code, index > 0) };
            if kind == TYPE_OPT {
                return (u16::from(extended) << 4 | code, true);
            }
            if cursor.record().is_none() {
                return (code, true);
            }
        }
        (code, self.counts[2] > 0)
    }
}

/// Where a reader is in a message.
#[derive(Clone, Debug)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn number(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(bytes)
    }

    /// Reads a name, with a dot at its end (`dnsmessage.Name.unpack`).
    fn name(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        let mut at = self.at;
        let mut pointers = 0;
        loop {
            let length = *self.bytes.get(at)?;
            match length & POINTER {
                0 if length == 0 => break,
                0 => {
                    let label = self.bytes.get(at + 1..at + 1 + usize::from(length))?;
                    name.extend_from_slice(label);
                    name.push(b'.');
                    if label.contains(&b'.') || name.len() > NAME_BYTES_MAX {
                        return None;
                    }
                    at += 1 + label.len();
                }
                POINTER => {
                    let low = *self.bytes.get(at + 1)?;
                    if pointers == 0 {
                        self.at = at + 2;
                    }
                    pointers += 1;
                    if pointers > POINTERS_MAX {
                        return None;
                    }
                    at = usize::from(u16::from_be_bytes([length & !POINTER, low]));
                }
                _ => return None,
            }
        }
        if pointers == 0 {
            self.at = at + 1;
        }
        if name.is_empty() {
            name.push(b'.');
        }
        Some(name)
    }

    /// Reads a record: its kind and its data.
    fn record(&mut self) -> Option<(u16, &'a [u8])> {
        self.name()?;
        let kind = self.number()?;
        // Class and time to live.
        self.take(6)?;
        let length = self.number()?;
        Some((kind, self.take(length.into())?))
    }

    /// The kind of the next record, and the higher bits of a response code if it is one of EDNS(0).
    fn kind_and_extended_code(&self) -> Option<(u16, u8)> {
        let mut ahead = self.clone();
        ahead.name()?;
        let kind = ahead.number()?;
        Some((kind, ahead.take(8)?[2]))
    }
}

/// The longest answer that a datagram may bring (`net.maxDNSPacketSize`).
pub(super) const DATAGRAM_BYTES_MAX: usize = 1_232;
/// Addresses of one answer that are kept; the kubelet keeps up to four thousand. A probe has time for a few of them.
const ADDRESSES_MAX: usize = 64;
pub(super) const UNREADABLE: &str = "cannot unmarshal DNS message";

const QUESTION_BYTES: usize = 300;
const LABEL_BYTES_MAX: u8 = 63;
const NAME_BYTES_MAX: usize = 254;
/// `dnsmessage` follows so many pointers within one name.
const POINTERS_MAX: usize = 10;
const POINTER: u8 = 0xc0;
const CLASS_INTERNET: u16 = 1;
const TYPE_A: u16 = Kind::A as u16;
const TYPE_AAAA: u16 = Kind::Aaaa as u16;
const TYPE_OPT: u16 = 41;
const RESPONSE: u16 = 0x8000;
const AUTHORITATIVE: u16 = 0x0400;
const TRUNCATED: u16 = 0x0200;
const RECURSION_DESIRED: u16 = 0x0100;
const RECURSION_AVAILABLE: u16 = 0x0080;
const AUTHENTIC_DATA: u16 = 0x0020;
const CODE: u16 = 0x000f;
const SUCCESS: u16 = 0;
const NAME_ERROR: u16 = 3;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUESTION: Question<'_> = Question { id: 7, name: "web.test.", kind: Kind::A, trusts_ad: false };

    /// An answer with the flags, and records of the three sections.
    fn answer(flags: u16, sections: [&[Vec<u8>]; 3]) -> Vec<u8> {
        let mut bytes = QUESTION.message().unwrap();
        bytes.truncate(bytes.len() - 11);
        bytes[2..4].copy_from_slice(&(RESPONSE | flags).to_be_bytes());
        for (index, records) in sections.iter().enumerate() {
            bytes[6 + 2 * index..8 + 2 * index].copy_from_slice(&(records.len() as u16).to_be_bytes());
        }
        sections.iter().for_each(|records| records.iter().for_each(|record| bytes.extend(record)));
        bytes
    }

    /// A record whose name points at the question's.
    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        let mut record = vec![POINTER, 12];
        for number in [kind, 1, 0, 60, data.len() as u16] {
            record.extend(number.to_be_bytes());
        }
        [record, data.to_vec()].concat()
    }

    fn found(bytes: Vec<u8>) -> Found {
        QUESTION.answer(bytes).expect("an answer").addresses(Kind::A)
    }

    #[test]
    fn a_question_names_what_it_wants() {
        let message = QUESTION.message().unwrap();
        assert_eq!(message[..12], [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
        assert_eq!(message[12..26], *b"\x03web\x04test\0\0\x01\0\x01");
        assert_eq!(message[26..], [0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0]);
        for bad in ["web.test", "a..b.", &format!("{}.", "a".repeat(64))] {
            assert_eq!(Question { name: bad, ..QUESTION }.message(), None, "{bad}");
        }
    }

    #[test]
    fn addresses_behind_an_alias() {
        let records = [record(5, &[POINTER, 12]), record(1, &[10, 0, 0, 1]), record(1, &[10, 0, 0, 2])];
        let addresses = vec![IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])];
        assert_eq!(found(answer(RECURSION_AVAILABLE, [&records, &[], &[]])), Found::Addresses(addresses, false));
        let many = vec![record(1, &[10, 0, 0, 1]); 1_000];
        let Found::Addresses(kept, false) = found(answer(0, [&many, &[], &[]])) else { panic!("addresses") };
        assert_eq!(kept.len(), ADDRESSES_MAX);
    }

    #[test]
    fn answers_without_an_address() {
        assert_eq!(found(answer(RECURSION_AVAILABLE | 3, [&[], &[], &[]])), Found::NoSuchHost);
        assert_eq!(found(answer(RECURSION_AVAILABLE, [&[], &[], &[]])), Found::NoSuchHost);
        assert_eq!(found(answer(0, [&[], &[], &[]])), Found::Useless("lame referral"));
        assert_eq!(found(answer(2, [&[], &[], &[]])), Found::Useless("server misbehaving"));
        assert_eq!(found(answer(0, [&[record(5, &[0])], &[], &[]])), Found::NoSuchHost);
        let mut option = record(TYPE_OPT, &[]);
        option[6] = 1;
        assert_eq!(found(answer(0, [&[], &[], &[option]])), Found::Useless("server misbehaving"), "code 16");
        assert_eq!(found(answer(0, [&[vec![POINTER, 12]], &[], &[]])), Found::Useless(UNREADABLE));
        let cut = [record(1, &[10, 0, 0, 1]), record(1, &[10])];
        assert_eq!(found(answer(0, [&cut, &[], &[]])), Found::Addresses(vec![[10, 0, 0, 1].into()], true));
    }

    #[test]
    fn bytes_that_answer_nothing() {
        let good = answer(0, [&[], &[], &[]]);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            QUESTION.answer(bytes).err()
        };
        assert_eq!(with(13, b'W'), None, "another letter case");
        assert_eq!([with(1, 8), with(2, 0), with(13, b'x'), with(23, 28)], [Some(NotAnAnswer::Foreign); 4]);
        assert_eq!(with(5, 2), Some(NotAnAnswer::Several));
        assert_eq!([with(5, 0), with(12, 0x40), with(12, 60)], [Some(NotAnAnswer::Unreadable); 3]);
        let mut looped = good.clone();
        looped.splice(12..22, [POINTER, 12]);
        assert_eq!(QUESTION.answer(looped).err(), Some(NotAnAnswer::Unreadable));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, tail: Vec<u8>, counts: [u8; 3]) {
            let _ = QUESTION.answer(bytes);
            let mut bytes = answer(0, [&[], &[], &[]]);
            for (index, count) in counts.into_iter().enumerate() {
                bytes[7 + 2 * index] = count;
            }
            bytes.extend(tail);
            let _ = QUESTION.answer(bytes).unwrap().addresses(Kind::A);
        }
    }
}
