//! Real namespaces, made by threads of the tests. They need the rights of root.

use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::thread;

use probelet_golang::text::host_of;
use rustix::io::Errno;

use super::*;
use crate::attempt::error::AttemptError;
use crate::attempt::stopwatch::Stopwatch;
use crate::net::dial::{Origin, dial};

/// A namespace with an interface `lo` alone, and servers in it at 127.0.0.1 and at ::1.
struct Pod {
    file: File,
    server: TcpListener,
    server_v6: TcpListener,
}

impl Pod {
    fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }

    fn port(&self) -> u16 {
        self.server.local_addr().unwrap().port()
    }
}

/// A pod; None if this process may make none, which fails where `PROBELET_REQUIRE` lists `namespaces`.
fn pod() -> Option<Pod> {
    let made = thread::spawn(|| {
        // SAFETY: the thread leaves the namespace that it shares with the others, and ends.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return None;
        }
        bring_up_lo();
        Some(Pod {
            file: File::open("/proc/thread-self/ns/net").unwrap(),
            server: TcpListener::bind("127.0.0.1:0").unwrap(),
            server_v6: TcpListener::bind("[::1]:0").unwrap(),
        })
    });
    let made = made.join().unwrap();
    let promised = std::env::var("PROBELET_REQUIRE").unwrap_or_default();
    let is_promised = promised.split(',').any(|part| part.trim() == "namespaces");
    assert!(made.is_some() || !is_promised, "PROBELET_REQUIRE lists namespaces: no rights to make a network namespace");
    made
}

fn bring_up_lo() {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None).unwrap();
    // SAFETY: all-zero is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[..2].copy_from_slice(&[b'l' as libc::c_char, b'o' as libc::c_char]);
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: the pointer is to an ifreq, which this request reads.
    assert_eq!(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) }, 0);
}

fn dialled(namespace: &Namespace, host: &str, port: u16) -> Result<usize, AttemptError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let origin = Origin { pod: None, namespace: Some(namespace) };
    runtime.block_on(async {
        dial(origin, host, port, b"abc", None, &mut Stopwatch::start()).await.map(|dialled| dialled.written)
    })
}

#[test]
fn a_server_on_localhost_alone_is_reached_by_address_and_by_name() {
    let Some(pod) = pod() else { return };
    let namespace = Namespace::open(&pod.path(), &SocketMaker::start().unwrap()).unwrap().expect("another namespace");
    for host in ["127.0.0.1", "localhost", "", "::ffff:127.0.0.1"] {
        assert_eq!(dialled(&namespace, host, pod.port()), Ok(3), "{host:?}");
        pod.server.accept().unwrap();
    }
    // In the namespace of the tests, another server may have this port.
    let _elsewhere = std::net::TcpStream::connect(("127.0.0.1", pod.port()));
    pod.server.set_nonblocking(true).unwrap();
    let error = pod.server.accept().expect_err("the server is in no other namespace");
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn sockets_are_made_ahead_and_more_attempts_than_that_have_theirs() {
    let Some(pod) = pod() else { return };
    let namespace = Namespace::open(&pod.path(), &SocketMaker::start().unwrap()).unwrap().expect("another namespace");
    for number in 0..100 {
        assert_eq!(dialled(&namespace, "127.0.0.1", pod.port()), Ok(3), "attempt {number}");
        pod.server.accept().unwrap();
    }
}

#[test]
fn a_server_is_reached_over_ipv6() {
    let Some(pod) = pod() else { return };
    let namespace = Namespace::open(&pod.path(), &SocketMaker::start().unwrap()).unwrap().expect("another namespace");
    let port = pod.server_v6.local_addr().unwrap().port();
    for number in 0..40 {
        assert_eq!(dialled(&namespace, "::1", port), Ok(3), "attempt {number}");
        pod.server_v6.accept().unwrap();
    }
    assert_eq!(dialled(&namespace, "::1", pod.port()).unwrap_err().cause, Cause::Refused, "no server there");
}

#[test]
fn an_attempt_is_reset_when_its_pod_goes_away_and_nothing_of_the_namespace_is_kept() {
    let (Some(going), Some(other)) = (pod(), pod()) else { return };
    let maker = SocketMaker::start().unwrap();
    let namespace = Namespace::open(&going.path(), &maker).unwrap().expect("another namespace");
    let interior = Arc::downgrade(&namespace.interior);
    let address = going.server.local_addr().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let in_flight = namespace.connect(address).await.unwrap();
        in_flight.set_nonblocking(false).unwrap();
        drop(going);
        drop(namespace);
        assert_eq!((&in_flight).read(&mut [0; 8]).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    });
    // The thread carries out one order after the other, so it has let go of the first namespace when it opens another.
    Namespace::open(&other.path(), &maker).unwrap().expect("another namespace");
    assert!(interior.upgrade().is_none());
}

#[test]
fn nothing_but_the_pod_can_be_reached() {
    let Some(pod) = pod() else { return };
    let namespace = Namespace::open(&pod.path(), &SocketMaker::start().unwrap()).unwrap().expect("another namespace");
    let node = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = node.local_addr().unwrap().port();
    let refused = dialled(&namespace, "127.0.0.1", port).unwrap_err();
    assert_eq!(refused.cause, Cause::Refused, "the node's own server is not in the pod");
    for host in ["169.254.169.254", "10.0.0.1", "2001:db8::1"] {
        let foreign = dialled(&namespace, host, 80).unwrap_err();
        assert_eq!(foreign.cause, Cause::Unreachable, "{foreign:?}");
        assert!(foreign.text.ends_with(": not an address of the pod (network: pod)"), "{}", foreign.text);
        let shown = foreign.text.split(' ').nth(2).unwrap().trim_end_matches(':');
        assert_eq!(host_of(shown).unwrap().parse::<IpAddr>().unwrap(), host.parse::<IpAddr>().unwrap());
    }
}

#[test]
fn a_namespace_outlives_its_processes_while_it_is_probed_and_its_probes_are_refused() {
    let Some(pod) = pod() else { return };
    let port = pod.port();
    let namespace = Namespace::open(&pod.path(), &SocketMaker::start().unwrap()).unwrap().expect("another namespace");
    drop(pod);
    for _ in 0..20 {
        assert_eq!(dialled(&namespace, "127.0.0.1", port).unwrap_err().cause, Cause::Refused);
    }
}

#[test]
fn what_is_no_namespace_of_another_cannot_be_entered() {
    let maker = SocketMaker::start().unwrap();
    let why = |path: &str| Namespace::open(path.as_ref(), &maker).unwrap_err().to_string();
    assert!(Namespace::open("/proc/self/ns/net".as_ref(), &maker).unwrap().is_none());
    assert!(why("/nonexistent").starts_with("No such file"));
    let not_permitted = format!("setns: {}", probelet_golang::text::errno(Errno::PERM.raw_os_error()));
    let invalid = format!("setns: {}", probelet_golang::text::errno(Errno::INVAL.raw_os_error()));
    assert!([not_permitted, invalid].contains(&why("/proc/self/ns/uts")));
}
