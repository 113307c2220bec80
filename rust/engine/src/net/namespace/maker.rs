//! The thread that enters namespaces and makes sockets in them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use probelet_play::cause::Cause;
use rustix::net::{SocketFlags, SocketType, socket_with};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::sync::oneshot;

use super::interior::Interior;
use super::stock::Family;
use crate::net::connect::{SyscallError, at};
use crate::net::descriptors::{below_reserve, is_plentiful};

/// Gives orders to the thread, which ends with its last customer.
#[derive(Clone, Debug)]
pub(crate) struct SocketMaker {
    orders: Sender<Order>,
    home: Arc<Interior>,
}

/// The socket of one attempt, or why there is none.
type Made = io::Result<OwnedFd>;

#[derive(Debug)]
struct Order {
    interior: Arc<Interior>,
    family: Family,
    /// Where an attempt waits for a socket; without it the order is for the stock alone.
    reply: Option<oneshot::Sender<Made>>,
}

impl SocketMaker {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no thread left, or does not show the namespace of this process.
    pub(crate) fn start() -> io::Result<Self> {
        let home = Arc::new(Interior::of(File::open(HOME)?)?);
        let (orders, received) = channel();
        let maker = Self { orders, home: Arc::clone(&home) };
        let thread = thread::Builder::new().name("probelet-netns".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(move || make(&received, &home.file))?;
        Ok(maker)
    }

    /// The namespace of this process.
    pub(super) fn home(&self) -> &Interior {
        &self.home
    }

    /// Asks for one socket, and for a full stock after it.
    pub(super) fn order(&self, interior: &Arc<Interior>, family: Family) -> oneshot::Receiver<Made> {
        let (reply, made) = oneshot::channel();
        self.send(Order { interior: Arc::clone(interior), family, reply: Some(reply) });
        made
    }

    /// Asks for a full stock.
    pub(super) fn refill(&self, interior: &Arc<Interior>, family: Family) {
        self.send(Order { interior: Arc::clone(interior), family, reply: None });
    }

    /// If the thread has panicked, the order is dropped, which ends the wait for it.
    fn send(&self, order: Order) {
        let _ = self.orders.send(order);
    }
}

/// Carries out orders. Between them the thread is at home, because a thread keeps the namespace alive in which it is.
fn make(orders: &Receiver<Order>, home: &File) {
    while let Ok(first) = orders.recv() {
        let mut next = Some(first);
        while let Some(order) = next {
            order.carry_out();
            next = orders.try_recv().ok();
        }
        // If it fails, the thread stays where it is until the next order, and makes no socket meanwhile.
        let _ = enter(home);
    }
}

impl Order {
    fn carry_out(self) {
        let Self { interior, family, reply } = self;
        let entered = enter(&interior.file);
        if let Some(reply) = reply {
            // An attempt whose time is over has gone; its socket is closed here.
            let _ = reply.send(entered.as_ref().map_err(again).and_then(|()| socket(family)));
        }
        let missing = if entered.is_ok() { interior.stock().missing(family) } else { 0 };
        // A socket that waits must never be the one that another probe lacks.
        let made = (0..missing).map_while(|_| socket(family).ok().filter(|socket| is_plentiful(socket.as_raw_fd())));
        let mut made: Vec<_> = made.collect();
        interior.stock().add(family, &mut made);
    }
}

fn enter(namespace: &File) -> io::Result<()> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(|error| SyscallError { call: "setns", number: error.raw_os_error(), cause: Cause::Starved }.into())
}

/// The same error for the attempt that waits: `io::Error` cannot be copied.
fn again(error: &io::Error) -> io::Error {
    let number =
        error.get_ref().and_then(|inner| inner.downcast_ref::<SyscallError>()).map_or(libc::EIO, |it| it.number);
    SyscallError { call: "setns", number, cause: Cause::Starved }.into()
}

/// A socket of the namespace in which the thread is. The system chooses its port only when it connects, because a port
/// chosen at bind(2) could serve no second connection.
fn socket(family: Family) -> Made {
    let socket = socket_with(family.system(), SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
        .map_err(io::Error::from)
        .and_then(below_reserve)
        .map_err(|error| at("socket", &error))?;
    let on: libc::c_int = 1;
    // SAFETY: the pointer is to a c_int, whose size the call gets.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if set == 0 { Ok(socket) } else { Err(at("setsockopt", &io::Error::last_os_error())) }
}

const HOME: &str = "/proc/thread-self/ns/net";
/// Far more than the calls of this thread need.
const STACK_BYTES: usize = 128 << 10;
