//! The socket to probelet.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use probelet_enter_protocol::answer::{ended, refused, stuck, timed_out};

use crate::attempt::command::{Command, End};

/// Sends and receives packets; neither ever blocks.
#[derive(Debug)]
pub(crate) struct Sender(OwnedFd);

impl Sender {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self(socket)
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    pub(crate) fn receive(&self, into: &mut [u8]) -> Result<usize> {
        // SAFETY: the pointer and the length are those of the buffer.
        let count = unsafe {
            libc::recv(self.fd(), into.as_mut_ptr().cast(), into.len(), libc::MSG_DONTWAIT | libc::MSG_TRUNC)
        };
        // A packet that was cut has a length beyond the buffer, and then no field of it is read.
        usize::try_from(count).map_err(|_| Error::last_os_error())
    }

    /// Sends one packet; false if the socket takes no more now.
    pub(crate) fn send(&self, parts: &[&[u8]]) -> Result<bool> {
        let parts: Vec<libc::iovec> = parts
            .iter()
            .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() })
            .collect();
        // SAFETY: a header of zeros is a valid one; the list and the memory that it names live until the call returns,
        // which only reads them.
        let sent = unsafe {
            let mut header: libc::msghdr = std::mem::zeroed();
            header.msg_iov = parts.as_ptr().cast_mut();
            header.msg_iovlen = parts.len();
            libc::sendmsg(self.fd(), &raw const header, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
        };
        if sent >= 0 {
            return Ok(true);
        }
        let error = Error::last_os_error();
        if error.kind() == ErrorKind::WouldBlock { Ok(false) } else { Err(error) }
    }
}

/// The socket, and the answers that it did not take.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    sender: &'a Sender,
    unsent: VecDeque<Vec<u8>>,
    /// Whether the loop wakes when the socket takes answers again.
    pub(crate) waits_for_room: bool,
}

impl<'a> Line<'a> {
    pub(crate) fn new(sender: &'a Sender) -> Self {
        Self { sender, unsent: VecDeque::new(), waits_for_room: false }
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.sender.fd()
    }

    pub(crate) fn receive(&self, into: &mut [u8]) -> Result<usize> {
        self.sender.receive(into)
    }

    /// Sends an answer without output after the answers that wait.
    pub(crate) fn push(&mut self, message: Vec<u8>) {
        self.unsent.push_back(message);
    }

    /// Whether answers wait for room in the socket.
    pub(crate) fn is_behind(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Answers for a command that has ended, from the memory that holds its output. What the socket does not take waits
    /// without the output: probelet has not read for so long that it has given the attempt up.
    pub(crate) fn answer(&mut self, command: &Command) -> Result<()> {
        let head = match command.end {
            Some(End::Exit(code)) => ended(command.id, code, command.stdout.kept().len()),
            Some(End::TimedOut) => timed_out(command.id),
            Some(End::Stuck) => stuck(command.id),
            Some(End::Refused(why)) => refused(command.id, why),
            None => return Ok(()),
        };
        let outputs = match command.exit() {
            Some(_) => [command.stdout.kept(), command.stderr.kept()],
            None => [[].as_slice(); 2],
        };
        if !self.send(&[&head, outputs[0], outputs[1]])? {
            let code = command.exit();
            self.push(code.map_or(head, |code| ended(command.id, code, 0)));
        }
        Ok(())
    }

    /// Sends what waits, until the socket takes no more.
    pub(crate) fn send_rest(&mut self) -> Result<()> {
        while let Some(message) = self.unsent.pop_front() {
            if !self.send(&[&message])? {
                self.unsent.push_front(message);
                break;
            }
        }
        Ok(())
    }

    /// Sends one packet; false if the socket takes no more now. A socket that probelet has closed takes everything: the
    /// next read tells the loop.
    fn send(&self, parts: &[&[u8]]) -> Result<bool> {
        match self.sender.send(parts) {
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(true),
            sent => sent,
        }
    }
}
