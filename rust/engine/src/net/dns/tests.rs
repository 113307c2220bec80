//! Look-ups against a server of these tests.

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use super::nsswitch::Nsswitch;
use super::*;
use crate::net::dns::resolv_conf::Server;

/// What the server does with a question for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Answer,
    Nothing,
    /// Answers that there is no such host.
    NoSuchHost,
    /// Answers with an error of its own.
    Fails,
    /// Sends forged answers first: another number, another question, garbage.
    Forged,
    /// Answers in full over TCP only.
    Truncated,
}

fn behaviour(name: &str) -> Behaviour {
    match name.split(['.', '-']).next() {
        Some("hang") => Behaviour::Nothing,
        Some("none") => Behaviour::NoSuchHost,
        Some("fail") => Behaviour::Fails,
        Some("forged") => Behaviour::Forged,
        Some("long") => Behaviour::Truncated,
        _ => Behaviour::Answer,
    }
}

/// The answer to a question: `flags` in its header, and one address if the question is for IPv4.
fn answer(question: &[u8], flags: u16, has_address: bool) -> Vec<u8> {
    let end = question.len() - 11;
    let is_a = question[end - 3] == 1;
    let mut answer = question[..end].to_vec();
    answer[2..4].copy_from_slice(&(0x8080 | flags).to_be_bytes());
    let count = u8::from(is_a && has_address);
    answer[6..12].copy_from_slice(&[0, count, 0, 0, 0, 0]);
    if count == 1 {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 10, 0, 0, 1]);
    }
    answer
}

fn name_of(question: &[u8]) -> String {
    let (mut name, mut at) = (String::new(), 12);
    while question[at] > 0 {
        let end = at + 1 + usize::from(question[at]);
        name += &format!("{}.", String::from_utf8_lossy(&question[at + 1..end]));
        at = end;
    }
    name
}

/// Sockets of both transports with one port. Another test may have the port of the other transport; then it is the next.
fn both() -> (TcpListener, UdpSocket, SocketAddr) {
    for _ in 0..100 {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = tcp.local_addr().expect("it is bound");
        if let Ok(udp) = UdpSocket::bind(address) {
            return (tcp, udp, address);
        }
    }
    panic!("no port is free for both transports");
}

/// A server on both transports. Its thread ends with the process.
fn server() -> SocketAddr {
    let (tcp, udp, address) = both();
    std::thread::spawn(move || {
        let mut bytes = [0; 512];
        while let Ok((length, from)) = udp.recv_from(&mut bytes) {
            let question = &bytes[..length];
            let send = |answer: Vec<u8>| drop(udp.send_to(&answer, from));
            match behaviour(&name_of(question)) {
                Behaviour::Nothing => {}
                Behaviour::Answer => send(answer(question, 0, true)),
                Behaviour::NoSuchHost => send(answer(question, 3, false)),
                Behaviour::Fails => send(answer(question, 2, false)),
                Behaviour::Truncated => send(answer(question, 0x0200, false)),
                Behaviour::Forged => {
                    let mut other = answer(question, 3, false);
                    other[0] ^= 1;
                    send(other);
                    let mut other = answer(question, 3, false);
                    other[13] ^= 1;
                    send(other);
                    send(vec![1, 2, 3]);
                    send(answer(question, 0, true));
                }
            }
        }
    });
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for stream in tcp.incoming() {
            let mut stream = stream.expect("a connection");
            let mut length = [0; 2];
            stream.read_exact(&mut length).expect("a length");
            let mut question = vec![0; u16::from_be_bytes(length).into()];
            stream.read_exact(&mut question).expect("a question");
            let answer = answer(&question, 0, true);
            let _ = stream.write_all(&[&(answer.len() as u16).to_be_bytes(), &answer[..]].concat());
        }
    });
    address
}

/// A machine that asks `servers`.
fn machine(servers: &[SocketAddr], options: &str, hosts: &str, sources: &str) -> System {
    let nsswitch = Nsswitch::parse(&format!("hosts: {sources}"));
    let mut system = System::of(hosts, options, nsswitch, "node".to_owned());
    system.conf.servers = servers.iter().map(|&address| Server { address, shown: address.to_string() }).collect();
    system
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}

fn looked_up(system: &System, name: &str) -> Answer {
    run(lookup_with(system, None, name)).expect("the prober can ask")
}

#[test]
fn a_thousand_names_that_never_resolve_hold_up_no_other_name() {
    let system = machine(&[server()], "", "", "files dns");
    raise_descriptors();
    run(async {
        let mut hanging: Vec<Pin<Box<_>>> = Vec::new();
        for number in 0..1_000 {
            let (system, pod, name) = (&system, format!("pod{}", number / 4), format!("hang-{number}.test"));
            hanging.push(Box::pin(async move { lookup_with(system, Some(&pod), &name).await }));
        }
        let mut context = Context::from_waker(Waker::noop());
        let mut all_hang = || hanging.iter_mut().all(|one| one.as_mut().poll(&mut context).is_pending());
        assert!(all_hang());
        for number in 0..100 {
            let found = lookup_with(&system, Some("healthy"), &format!("web-{number}.test")).await;
            assert_eq!(found, Ok(Ok(vec!["10.0.0.1:0".parse().unwrap()])));
        }
        assert!(all_hang(), "they have hung all the time");
    });
}

#[test]
fn what_servers_answer() {
    let address = server();
    let system = machine(&[address], "search a.test b.test\noptions timeout:1 attempts:1", "", "dns");
    let found: Answer = Ok(vec!["10.0.0.1:0".parse().unwrap()]);
    for name in ["web", "web.test", "web.test.", "forged", "long"] {
        assert_eq!(looked_up(&system, name), found, "{name}");
    }
    let text = |name: &str, why: &str| Err(format!("lookup {name} on {address}: {why}"));
    assert_eq!(looked_up(&system, "none"), text("none", "no such host"));
    assert_eq!(looked_up(&system, "fail.test"), text("fail.test", "server misbehaving"));
    let late = looked_up(&system, "hang.").unwrap_err();
    let (begin, end) = (format!("lookup hang. on {address}: read udp 127.0.0.1:"), format!("->{address}: i/o timeout"));
    assert!(late.starts_with(&begin) && late.ends_with(&end), "{late}");
}

#[test]
fn a_server_that_does_not_answer_costs_its_time_and_the_next_is_asked() {
    let refusing = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let servers = [refusing, silent.local_addr().unwrap(), server()];
    let system = machine(&servers, "options timeout:1", "", "dns");
    assert_eq!(looked_up(&system, "web"), Ok(vec!["10.0.0.1:0".parse().unwrap()]));
    let refused = looked_up(&machine(&[refusing], "", "", "dns"), "web").unwrap_err();
    assert!(refused.ends_with(": read: connection refused"), "{refused}");
}

#[test]
fn the_files_order_decides_who_is_asked() {
    let address = server();
    let hosts = "192.0.2.1 web none\n";
    let of = |sources: &str, name: &str| looked_up(&machine(&[address], "", hosts, sources), name);
    let (file, dns): (Answer, Answer) =
        (Ok(vec!["192.0.2.1:0".parse().unwrap()]), Ok(vec!["10.0.0.1:0".parse().unwrap()]));
    assert_eq!([of("files dns", "web"), of("dns files", "none"), of("files", "web")], [(); 3].map(|()| file.clone()));
    assert_eq!([of("dns files", "web"), of("dns", "web"), of("files dns", "b")], [(); 3].map(|()| dns.clone()));
    assert_eq!(of("files", "b"), Err("lookup b: no such host".to_owned()));
    assert_eq!(of("files dns", "a b"), Err("lookup a b: no such host".to_owned()));
    assert_eq!(of("files dns", "x.onion"), Err("address x.onion: no suitable address found".to_owned()));
}

#[test]
fn a_look_up_ends_with_its_attempt() {
    let late = run(lookup(None, "hang.hangs.test", Some(Instant::now() + Duration::from_millis(10))));
    assert_eq!(late, Ok(Err("lookup hang.hangs.test: i/o timeout".to_owned())));
}

/// A thousand look-ups that hang have two sockets each.
fn raise_descriptors() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a structure of the right type, which lives until the calls return.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
    }
    assert!(limit.rlim_max >= 4_096, "the machine lets a process have enough descriptors");
}
