//! The event loop: requests come in, commands go on, answers go out. Nothing here ever waits for a command.

use std::collections::HashMap;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use probelet_enter_protocol::REQUEST_BYTES_MAX;
use probelet_enter_protocol::answer::{Refusal, Refused, over, pong, refused};
use probelet_enter_protocol::request::Request;

use crate::attempt::command::{Command, End};
use crate::attempt::private_memory::PrivateMemory;
use crate::check::identity::Own;
use crate::poll::{Event, Kind, Poll};
use crate::send::{Line, Sender};
use crate::start::start;
use crate::sys::open;

/// Commands that run or cannot be ended. Each needs up to five descriptors and two processes.
const COMMANDS_MAX: usize = 512;
/// Requests that are taken in one turn, so that commands that end are answered between them.
const REQUESTS_PER_TURN: usize = 16;
/// A request may be as long as a packet can be; a longer one is cut by the kernel and then refused.
const BUFFER_BYTES: usize = 2 * REQUEST_BYTES_MAX;
const SCRATCH_BYTES: usize = 64 * 1024;
/// How often the loop looks whether forks that were killed have ended.
const LINGER: Duration = Duration::from_millis(100);

/// The loop's state.
pub(crate) struct Server<'a> {
    own: Own,
    poll: Poll,
    line: Line<'a>,
    null: OwnedFd,
    request: PrivateMemory,
    scratch: PrivateMemory,
    commands: HashMap<u64, Command>,
    next: u64,
}

/// The event of the socket.
const SOCKET: Event = Event { kind: Kind::Socket, number: 0 };

impl<'a> Server<'a> {
    pub(crate) fn new(own: Own, sender: &'a Sender) -> Result<Self> {
        let poll = Poll::new()?;
        let line = Line::new(sender);
        poll.watch(line.fd(), SOCKET)?;
        Ok(Self {
            own,
            poll,
            line,
            null: open(c"/dev/null", libc::O_RDONLY)?,
            request: PrivateMemory::shared_with_forks(BUFFER_BYTES)?,
            scratch: PrivateMemory::new(SCRATCH_BYTES)?,
            commands: HashMap::new(),
            next: 1,
        })
    }

    /// Serves until probelet closes its socket; then every command is killed.
    pub(crate) fn serve(&mut self) -> Result<()> {
        let outcome = self.turns();
        self.commands.values_mut().for_each(Command::kill);
        outcome
    }

    fn turns(&mut self) -> Result<()> {
        let mut events = Vec::new();
        loop {
            self.poll.wait(&mut events, self.patience())?;
            let mut touched = Vec::new();
            for event in events.drain(..) {
                if event.kind == Kind::Socket {
                    if !self.take_requests()? {
                        return Ok(());
                    }
                } else if let Some(command) = self.commands.get_mut(&event.number) {
                    handle(command, event, &self.poll, &mut self.scratch)?;
                    touched.push(event.number);
                }
            }
            self.settle(&touched)?;
        }
    }

    /// Until the next deadline; while killed forks have not ended, at most `LINGER`.
    fn patience(&self) -> Option<Duration> {
        let now = Instant::now();
        let waits = self.commands.values().map(|command| match command.end {
            None => command.deadline.saturating_duration_since(now),
            Some(_) => LINGER,
        });
        waits.min()
    }

    /// Decides and answers what has ended, and forgets what is over.
    fn settle(&mut self, touched: &[u64]) -> Result<()> {
        let now = Instant::now();
        let due: Vec<u64> = self
            .commands
            .iter()
            .filter(|(key, command)| touched.contains(key) || command.end.is_some() || command.deadline <= now)
            .map(|(key, _)| *key)
            .collect();
        for key in due {
            let Some(command) = self.commands.get_mut(&key) else { continue };
            command.reap_first();
            command.decide(now);
            if command.end.is_some() && !command.is_answered {
                command.is_answered = true;
                self.line.answer(command)?;
            }
            if command.end.is_some() && command.reap() {
                if command.was_killed() {
                    self.line.push(over(command.id));
                }
                self.commands.remove(&key);
            }
        }
        if self.commands.is_empty() {
            reap_the_unknown();
        }
        let line = &mut self.line;
        line.send_rest()?;
        if line.is_behind() != line.waits_for_room {
            line.waits_for_room = line.is_behind();
            self.poll.watch_room(line.fd(), SOCKET, line.waits_for_room)?;
        }
        Ok(())
    }

    /// False if probelet has closed the socket.
    fn take_requests(&mut self) -> Result<bool> {
        for _ in 0..REQUESTS_PER_TURN {
            let length = match self.line.receive(self.request.bytes_mut()) {
                Ok(0) => return Ok(false),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // probelet has closed its end before it read the last answers.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
                Err(error) => return Err(error),
            };
            let answer = self.take(length);
            self.request.clear(length);
            if let Some(answer) = answer? {
                self.line.push(answer);
            }
        }
        Ok(true)
    }

    /// Carries out the request in the buffer; what has no command is answered at once.
    fn take(&mut self, length: usize) -> Result<Option<Vec<u8>>> {
        let message = self.request.bytes().get(..length).unwrap_or_default();
        let run = match Request::read(message) {
            Ok(Request::Ping(number)) => return Ok(Some(pong(number))),
            Ok(Request::Run(run)) => run,
            // Without a number no attempt can get an answer; probelet replaces a helper that ends.
            Err(_) => return Err(Error::from(ErrorKind::InvalidData)),
        };
        if self.commands.len() >= COMMANDS_MAX {
            return Ok(Some(refused(run.id, Refused::new(Refusal::Busy))));
        }
        // Each further command would be held too.
        let now = Instant::now();
        if self.commands.values().any(|command| command.is_held_in(run.container.id, now)) {
            return Ok(Some(refused(run.id, Refused::new(Refusal::Stuck))));
        }
        match start(&run, &self.own, &self.null) {
            Err(why) => Ok(Some(refused(run.id, why))),
            Ok(command) => {
                let key = self.next;
                self.next += 1;
                let fds = [
                    (command.status_fd(), Kind::Status),
                    (command.stdout.fd(), Kind::Output),
                    (command.stderr.fd(), Kind::Output),
                ];
                for (fd, kind) in fds {
                    if let Some(fd) = fd {
                        self.poll.watch(fd, Event { kind, number: key })?;
                    }
                }
                self.commands.insert(key, command);
                Ok(None)
            }
        }
    }
}

fn handle(command: &mut Command, event: Event, poll: &Poll, scratch: &mut PrivateMemory) -> Result<()> {
    match event.kind {
        Kind::Status => {
            if command.read_status()
                && let Some(pidfd) = command.pidfd()
            {
                poll.watch(pidfd, Event { kind: Kind::Exit, number: event.number })?;
            }
        }
        Kind::Output => command.read_outputs(scratch),
        Kind::Exit => {
            command.look_for_exit();
            if let Some(pidfd) = command.pidfd() {
                poll.forget(pidfd)?;
            }
            // What the program wrote last is in the pipes by now, and the report that it started too.
            command.read_status();
            command.read_outputs(scratch);
        }
        Kind::Socket => {}
    }
    Ok(())
}

/// Reaps second forks of which nobody told: their first fork was killed at that moment. Only while no command is known
/// could no other child be meant.
fn reap_the_unknown() {
    // SAFETY: the call takes numbers and a null pointer, and never waits.
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
}

impl Command {
    /// Whether the answer is the output of a program.
    pub(crate) fn exit(&self) -> Option<i32> {
        match self.end {
            Some(End::Exit(code)) => Some(code),
            _ => None,
        }
    }

    /// Whether the command was answered before its processes had ended.
    fn was_killed(&self) -> bool {
        matches!(self.end, Some(End::TimedOut | End::Stuck))
    }
}
