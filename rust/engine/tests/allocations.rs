//! A plain probe that succeeds allocates nothing once its buffers have been used.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpListener;

use probelet_core::prober::Outcome;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{Handler, HttpGet, IntOrString};
use probelet_engine::handler::{Asker, Buffers, probe_once};
use probelet_play::cause::Cause;

struct Counting;

thread_local! {
    /// The allocations of this thread only, because the target's thread may allocate.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system allocator with the caller's arguments; the count is separate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees `layout`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from the system allocator with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the pointer came from the system allocator with this layout; the caller guarantees `size`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A target that reads requests, answers each, and closes the connection.
fn target() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("the listener is bound").port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.expect("a connection");
            if connection.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {
                let _ = connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
            }
        }
    });
    port
}

/// How many allocations a hundred attempts make, after ten that fill the buffers.
fn allocations_of(handler: &Handler) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let asker = Asker { user_agent: "kube-probe/1.36", rules: Semantics::V1_36.handler_rules(), pod_uid: None };
    let mut buffers = Buffers::default();
    runtime.block_on(async {
        let mut before = 0;
        for number in 0..110 {
            if number == 10 {
                before = ALLOCATIONS.get();
            }
            let report = probe_once(handler, &[], "127.0.0.1", asker, 30, &mut buffers).await;
            assert_eq!((report.outcome, report.cause), (Outcome::Success, Cause::Ok));
        }
        ALLOCATIONS.get() - before
    })
}

#[test]
fn an_http_probe_that_succeeds_allocates_nothing() {
    let get = HttpGet {
        scheme: "HTTP".into(),
        host: "".into(),
        port: IntOrString::Int(target().into()),
        path: "/healthz?full=1".into(),
        headers: vec![],
        http2: false,
    };
    assert_eq!(allocations_of(&Handler::HttpGet(get)), 0);
}

#[test]
fn a_tcp_probe_that_succeeds_allocates_nothing() {
    let port = IntOrString::Int(target().into());
    assert_eq!(allocations_of(&Handler::TcpSocket { host: "".into(), port }), 0);
}
