//! Connections to servers of rustls, and to one that only refuses.

use std::io::{Read, Write};
use std::net::{self, TcpListener};
use std::thread::{JoinHandle, spawn};

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Runs `serve` with each connection that comes, `connections` times.
fn listen<T: Send + 'static>(
    connections: usize,
    serve: impl Fn(net::TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<Vec<T>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (address, spawn(move || listener.incoming().take(connections).map(|stream| serve(stream.unwrap())).collect()))
}

/// A server that has `more` certificates beside its own, and calls `answer` when the handshake is over.
fn server(
    more: Vec<CertificateDer<'static>>,
    answer: impl Fn(&mut ServerConnection, &mut net::TcpStream) + Send + 'static,
) -> SocketAddr {
    let made = rcgen::generate_simple_self_signed(["target".to_owned()]).unwrap();
    let chain = std::iter::once(made.cert.der().clone()).chain(more).collect();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let serve = move |mut stream: net::TcpStream| {
        let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
        while session.is_handshaking() {
            if session.complete_io(&mut stream).is_err() {
                return;
            }
        }
        answer(&mut session, &mut stream);
        // The client closes first.
        while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    };
    listen(1, serve).0
}

/// Connects, and reads what the server sends first.
fn read(peer: SocketAddr) -> Result<Vec<u8>, AttemptError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let tcp = TcpStream::connect(peer).await.unwrap();
        let mut stream = connect(tcp, peer, "127.0.0.1", Offer::Nothing).await?;
        stream.write_all(b"GET").await.unwrap();
        let mut bytes = vec![0; 64];
        match stream.read(&mut bytes).await {
            Ok(count) => Ok(bytes[..count].to_vec()),
            Err(error) => Err(attempt_error(&stream, &error).unwrap()),
        }
    })
}

/// Reads from a server that changes its keys before its answer, and does not answer after too many changes.
fn updated_keys(times: u32) -> Result<Vec<u8>, AttemptError> {
    read(server(vec![], move |session, stream| {
        (0..times).for_each(|_| session.refresh_traffic_keys().unwrap());
        if times <= 16 {
            session.writer().write_all(b"ok").unwrap();
        }
        while session.wants_write() {
            session.write_tls(stream).unwrap();
        }
    }))
}

#[test]
fn a_server_may_change_its_keys_sixteen_times_without_data() {
    assert_eq!(updated_keys(16), Ok(b"ok".to_vec()));
    assert_eq!(updated_keys(17), Err(AttemptError::new(Cause::Tls, "tls: too many non-advancing records")));
}

#[test]
fn a_server_that_refuses_is_offered_post_quantum_groups_as_well() {
    let (peer, hellos) = listen(2, |mut stream| {
        let mut hello = vec![0; 4096];
        let count = stream.read(&mut hello).unwrap();
        stream.write_all(&[21, 3, 3, 0, 2, 2, 40]).unwrap();
        hello[..count].windows(6).any(|groups| groups == [0x11, 0xec, 0x11, 0xeb, 0x11, 0xed])
    });
    assert_eq!(read(peer), Err(AttemptError::new(Cause::Tls, "remote error: tls: handshake failure")));
    assert_eq!(hellos.join().unwrap(), [false, true]);
}

#[test]
fn a_chain_that_is_too_long_for_the_prober_is_no_failure_of_the_container() {
    for certificates in [6, 7, 8, 20] {
        let more = vec![CertificateDer::from(vec![0x30; 10_000]); certificates];
        let error = read(server(more, |_, _| {})).unwrap_err();
        let is_ours = error.is_prober_error();
        let is_refused = error.text.starts_with("tls: failed to parse certificate from server: x509: malformed");
        assert_eq!((is_ours, is_refused), if certificates == 6 { (false, true) } else { (true, false) }, "{error:?}");
    }
}

#[test]
fn a_server_that_does_not_speak_tls_is_judged_by_the_five_bytes_of_a_records_header() {
    let answered = |pieces: &'static [&'static [u8]]| {
        let serve = move |mut stream: net::TcpStream| {
            assert!(stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0));
            stream.set_nodelay(true).unwrap();
            pieces.iter().for_each(|piece| stream.write_all(piece).unwrap());
            stream.shutdown(net::Shutdown::Write).unwrap();
            while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
        };
        read(listen(1, serve).0).unwrap_err()
    };
    assert_eq!(answered(&[b"abc"]), AttemptError::new(Cause::Eof, "unexpected EOF"));
    assert_eq!(answered(&[]), AttemptError::new(Cause::Eof, "EOF"));
    let text = "tls: first record does not look like a TLS handshake";
    assert_eq!(answered(&[b"abc", b"defghijkl"]), AttemptError::new(Cause::Tls, text));
    let text = "http: server gave HTTP response to HTTPS client";
    assert_eq!(answered(&[b"HTT", b"P/1.1 400"]), AttemptError::new(Cause::Tls, text));
}
