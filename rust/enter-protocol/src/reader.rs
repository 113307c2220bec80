//! Reads the fields of a message. Nothing is copied: a request holds the secrets of a container's environment.

/// A message that is shorter than it says, or holds what no message may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// What is left of a message.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// All of a message.
    pub fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    /// A byte.
    ///
    /// # Errors
    /// The message is shorter.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.fixed::<1>()?[0])
    }

    /// A number without a sign.
    ///
    /// # Errors
    /// The message is shorter.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.fixed().map(u32::from_le_bytes)
    }

    /// A number with a sign.
    ///
    /// # Errors
    /// The message is shorter.
    pub fn i32(&mut self) -> Result<i32, Malformed> {
        self.fixed().map(i32::from_le_bytes)
    }

    /// A long number without a sign.
    ///
    /// # Errors
    /// The message is shorter.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.fixed().map(u64::from_le_bytes)
    }

    /// Bytes with their length before them.
    ///
    /// # Errors
    /// The message is shorter.
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// A text with its length before it; system calls take no NUL inside a text.
    ///
    /// # Errors
    /// The message is shorter, or the text has a NUL.
    pub fn text(&mut self) -> Result<&'a [u8], Malformed> {
        let text = self.bytes()?;
        if text.contains(&0) { Err(Malformed) } else { Ok(text) }
    }

    /// A list of texts with its length before it; every text is checked now.
    ///
    /// # Errors
    /// The message is shorter, or a text has a NUL.
    pub fn texts(&mut self) -> Result<Texts<'a>, Malformed> {
        let count = self.u32()?;
        let texts = Texts { left: count, rest: *self };
        for _ in 0..count {
            self.text()?;
        }
        Ok(texts)
    }

    /// Everything was read.
    ///
    /// # Errors
    /// Something is left.
    pub fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }
}

/// A list of texts inside a message.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    left: u32,
    rest: Reader<'a>,
}

impl<'a> Iterator for Texts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        self.rest.text().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_without_a_copy_and_in_order() {
        let message = [2, 0, 0, 0, 1, 0, 0, 0, b'a', 0, 0, 0, 0];
        let mut reader = Reader::new(&message);
        assert_eq!(reader.texts().unwrap().collect::<Vec<_>>(), [b"a".as_slice(), b""]);
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn a_length_beyond_the_message_is_malformed() {
        assert_eq!(Reader::new(&[255, 255, 255, 255, b'a']).text(), Err(Malformed));
        assert!(Reader::new(&[255, 255, 255, 255, 0, 0, 0, 0]).texts().is_err());
    }

    #[test]
    fn a_nul_inside_a_text_is_malformed() {
        assert_eq!(Reader::new(&[3, 0, 0, 0, b'a', 0, b'b']).text(), Err(Malformed));
    }
}
