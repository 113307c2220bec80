//! How much memory one attempt needs at its peak, and what its buffers keep afterwards, whatever the target sends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};

use probelet_core::semantics::Semantics;
use probelet_core::spec::{Handler, HttpGet, IntOrString};
use probelet_engine::handler::{Asker, Buffers, probe_once};
use probelet_golang::http2::PREFACE;

struct Counting;

thread_local! {
    /// What this thread has allocated and not freed, because the target's thread allocates too.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let held = HELD.with(|held| {
        held.set(held.get() + bytes);
        held.get()
    });
    PEAK.with(|peak| peak.set(peak.get().max(held)));
}

// SAFETY: every call goes to the system allocator with the caller's arguments; the count is separate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller guarantees `layout`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the pointer came from the system allocator with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A target that waits for the client's first bytes, sends `answer`, and closes. It reads all that the client sends
/// meanwhile.
fn target(answer: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("the listener is bound").port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.expect("a connection");
            let mut reading = connection.try_clone().expect("a descriptor");
            if !reading.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {
                continue;
            }
            let reader = std::thread::spawn(move || while reading.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {});
            // A client that has read enough closes first.
            let _ = connection.write_all(&answer);
            let _ = connection.shutdown(Shutdown::Write);
            let _ = reader.join();
        }
    });
    port
}

fn http(port: u16) -> Handler {
    Handler::HttpGet(HttpGet {
        scheme: "HTTP".into(),
        host: "".into(),
        port: IntOrString::Int(port.into()),
        path: "/".into(),
        headers: vec![],
        http2: false,
    })
}

fn grpc(port: u16) -> Handler {
    Handler::Grpc { port: port.into(), service: "".into(), tls: false }
}

/// The peak of an attempt, and what its buffers keep until the next one begins.
fn peak_and_rest(handler: &Handler) -> (isize, isize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let asker = Asker { user_agent: "kube-probe/1.36", rules: Semantics::V1_38.handler_rules(), pod_uid: None };
    runtime.block_on(async {
        let mut buffers = Buffers::default();
        let mut found = (0, 0);
        // The first attempt also allocates what a process needs once.
        for _ in 0..2 {
            let before = HELD.get();
            PEAK.set(before);
            let report = probe_once(handler, &[], "127.0.0.1", asker, 60, &mut buffers).await;
            drop(report);
            buffers.release();
            found = (PEAK.get() - before, HELD.get());
            buffers = Buffers::default();
            found.1 -= HELD.get();
        }
        found
    })
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

fn number(value: usize) -> Vec<u8> {
    if value < 127 {
        return vec![value as u8];
    }
    let (mut rest, mut bytes) = (value - 127, vec![127]);
    while rest >= 128 {
        bytes.push((rest % 128) as u8 | 128);
        rest /= 128;
    }
    bytes.push(rest as u8);
    bytes
}

fn text(text: &[u8]) -> Vec<u8> {
    [number(text.len()), text.to_vec()].concat()
}

fn literal(name: &[u8], value: &[u8]) -> Vec<u8> {
    [vec![0], text(name), text(value)].concat()
}

/// Like [`literal`], but the peer stores the field.
fn stored(name: &[u8], value: &[u8]) -> Vec<u8> {
    [vec![0x40], text(name), text(value)].concat()
}

/// A server's SETTINGS, then a block of fields that never ends, in frames.
fn endless_block(block: &[u8]) -> Vec<u8> {
    let mut bytes = frame(SETTINGS, 0, 0, &[]);
    for (index, piece) in block.chunks(16_384).enumerate() {
        bytes.extend(frame(if index == 0 { HEADERS } else { CONTINUATION }, 0, 1, piece));
    }
    bytes
}

fn message(bytes: &[u8]) -> Vec<u8> {
    let head = [vec![0x88], literal(b"content-type", b"application/grpc")].concat();
    let mut answer = [frame(SETTINGS, 0, 0, &[]), frame(HEADERS, END_HEADERS, 1, &head)].concat();
    let prefixed = [&[0][..], &(bytes.len() as u32 + 1).to_be_bytes(), bytes].concat();
    prefixed.chunks(16_384).for_each(|piece| answer.extend(frame(DATA, 0, 1, piece)));
    answer
}

/// Five MiB of zeros, as gzip compresses them: a zero, then a match of 258 zeros for every two bits.
fn compressed_message() -> Vec<u8> {
    let zeros = [&[0xec, 0xc1, 1, 1, 0, 0, 0, 0x80, 0x90, 0xfe, 0xaf, 0xee, 8, 0x0a][..], &[0; 5_080]].concat();
    let member = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff][..], &zeros].concat();
    let fields = [literal(b"content-type", b"application/grpc"), literal(b"grpc-encoding", b"gzip")].concat();
    let head = [vec![0x88], fields].concat();
    let prefixed = [&[1][..], &(member.len() as u32 + 1).to_be_bytes(), &member].concat();
    [frame(SETTINGS, 0, 0, &[]), frame(HEADERS, END_HEADERS, 1, &head), frame(DATA, 0, 1, &prefixed)].concat()
}

/// An entry of 4 KiB, and one-byte references to it.
fn references(name: &[u8], count: usize) -> Vec<u8> {
    [vec![0x88], stored(name, &vec![b'v'; 4_000 - name.len()]), vec![0xbe; count]].concat()
}

#[test]
fn an_attempt_over_http2_needs_no_more_than_its_limit() {
    assert!(PREFACE.len() < 1024, "the target waits for one piece");
    let mut failed = Vec::new();
    for (name, answer) in [
        ("references", endless_block(&references(b"x", 2_400))),
        ("references to a field that is read", endless_block(&references(b"grpc-message", 2_400))),
        ("references to details", endless_block(&references(b"grpc-status-details-bin", 2_400))),
        ("a long value", endless_block(&literal(b"x", &vec![b'v'; 3 << 20]))),
        ("a long value that is read", endless_block(&literal(b"grpc-message", &vec![b'v'; 3 << 20]))),
        ("a long name", endless_block(&literal(&vec![b'n'; 3 << 20], b"x"))),
        ("names by reference", endless_block(&[references(b"x", 0), [0x0f, 0x2f, 0].repeat(2_400)].concat())),
        ("empty fields", endless_block(&[0x00, 1, b'a', 0].repeat(200_000))),
        ("stored fields", endless_block(&stored(b"x", &[b'v'; 2_000]).repeat(3_000))),
        ("a long message", message(&vec![0x12; 3 << 20])),
        ("a compressed message", compressed_message()),
        ("a long field of a message", message(&[&[0x12, 0xff, 0xff, 0xff, 1][..], &vec![0; 3 << 20]].concat())),
    ] {
        let sent = answer.len();
        let (peak, rest) = peak_and_rest(&grpc(target(answer)));
        println!("{name}: {sent} bytes sent, {peak} at the peak, {rest} kept");
        if peak > ATTEMPT_BYTES_MAX || rest > KEPT_BYTES_MAX {
            failed.push(name);
        }
    }
    assert_eq!(failed, [""; 0]);
}

#[test]
fn an_attempt_over_http1_needs_no_more_than_its_limit() {
    let long = vec![b'v'; 1 << 20];
    let head = |fields: &[u8]| [b"HTTP/1.1 200 OK\r\n", fields].concat();
    let chunked = |rest: &[u8]| [&head(b"Transfer-Encoding: chunked\r\n\r\n"), rest].concat();
    let mut failed = Vec::new();
    for (name, answer) in [
        ("a long status line", [b"HTTP/1.1 200 ", &long[..], b"\r\n"].concat()),
        ("a long field", head(&[b"A: ", &long[..]].concat())),
        ("a long field that is read", head(&[b"Location: ", &long[..], b"\r\n\r\n"].concat())),
        ("many fields", head(&b"Set-Cookie: a=b\r\n".repeat(60_000))),
        ("many fields that are read", head(&b"Trailer: b\r\n".repeat(80_000))),
        ("folds", head(&[b"A: b\r\n", &b" x\r\n".repeat(200_000)[..]].concat())),
        ("interim heads", b"HTTP/1.1 103 Early\r\nLink: <aaaaaaaaaaaaaaaaaaaaaaa>\r\n\r\n".repeat(20_000)),
        ("a long body", head(&[b"\r\n", &long[..]].concat())),
        ("a long chunk", chunked(&[b"100000\r\n", &long[..]].concat())),
        ("extensions of chunks", chunked(&b"1;abcdefghijklmnopqrstuvwxyz=x\r\nx\r\n".repeat(20_000))),
        ("a trailer", chunked(&[b"0\r\n", &b"A: b\r\n".repeat(80_000)[..]].concat())),
        ("a wrong line", head(&[b"A", &long[..], b"\r\n\r\n"].concat())),
    ] {
        let sent = answer.len();
        let (peak, rest) = peak_and_rest(&http(target(answer)));
        println!("{name}: {sent} bytes sent, {peak} at the peak, {rest} kept");
        if peak > ATTEMPT_BYTES_MAX || rest > KEPT_BYTES_MAX {
            failed.push(name);
        }
    }
    assert_eq!(failed, [""; 0]);
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;
/// An attempt in flight: what docs/security.md promises.
const ATTEMPT_BYTES_MAX: isize = 512 << 10;
/// A task that waits for its next attempt.
const KEPT_BYTES_MAX: isize = 48 << 10;
