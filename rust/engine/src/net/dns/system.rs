//! The machine's files about names, read again when they are older than [`AGE_MAX`] (Go checks them as often).
//!
//! A thread of its own reads them, because a disk may hang. While it hangs, attempts go on with what was read before.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use probelet_golang::text;
use probelet_play::cause::Cause;
use tokio::sync::watch::{self, Receiver};
use tokio::time::{Instant, timeout_at};

use super::answer::ProberError;
use super::hosts::Hosts;
use super::nsswitch::{Machine, Nsswitch, Order};
use super::resolv_conf::ResolvConf;
use crate::net::connect::cause_of;

/// What the files say.
#[derive(Debug)]
pub(super) struct System {
    pub(super) hosts: Hosts,
    pub(super) conf: ResolvConf,
    nsswitch: Nsswitch,
    hostname: String,
    has_mdns_allow: bool,
    /// Whether something else than the order of nsswitch.conf makes Go ask the C library for every name.
    is_for_c_library: bool,
}

impl System {
    /// Reads the files. A file that is missing counts as empty.
    ///
    /// # Errors
    /// This machine has run out of a resource, so that nobody knows what the files say.
    fn read() -> io::Result<Self> {
        let [hosts, conf, nsswitch, hostname] =
            ["/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/proc/sys/kernel/hostname"].map(text_of);
        let is_lacking = |error: &io::Error| error.raw_os_error().is_some_and(|it| cause_of(it) == Cause::Starved);
        let [hosts, conf, nsswitch, hostname] = [hosts, conf, nsswitch, hostname].map(|text| match text {
            Err(error) if is_lacking(&error) => Err(error),
            text => Ok(text),
        });
        let (hosts, conf, nsswitch, hostname) = (hosts?, conf?, nsswitch?, hostname?);
        let is_unreadable = |error: &io::Error| !is_missing(error) && error.kind() != ErrorKind::PermissionDenied;
        let is_for_c_library = conf.as_ref().is_err_and(is_unreadable) || is_in_environment();
        let nsswitch = match nsswitch {
            Ok(text) => Nsswitch::parse(&text),
            Err(error) if is_missing(&error) => Nsswitch::Missing,
            Err(_) => Nsswitch::Unreadable,
        };
        let hostname = hostname.unwrap_or_default().trim_end().to_owned();
        let system = Self::of(&hosts.unwrap_or_default(), &conf.unwrap_or_default(), nsswitch, hostname);
        Ok(Self { has_mdns_allow: Path::new("/etc/mdns.allow").exists(), is_for_c_library, ..system })
    }

    pub(super) fn of(hosts: &str, conf: &str, nsswitch: Nsswitch, hostname: String) -> Self {
        let (hosts, conf) = (Hosts::parse(hosts), ResolvConf::parse(conf, &hostname));
        Self { hosts, conf, nsswitch, hostname, has_mdns_allow: false, is_for_c_library: false }
    }

    /// Who is asked for `name`.
    pub(super) fn order(&self, name: &str) -> Order {
        #[cfg(test)]
        if name.ends_with(super::c_library::tests::HANGING) {
            return Order::CLibrary;
        }
        let Self { hostname, has_mdns_allow, .. } = self;
        if self.is_for_c_library || self.conf.has_unknown {
            return Order::CLibrary;
        }
        self.nsswitch.order(name, Machine { hostname, has_mdns_allow: *has_mdns_allow })
    }
}

fn text_of(path: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

/// Whether a variable changes what the C library does (`net.initConfVal`).
fn is_in_environment() -> bool {
    let has_text = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::env::var_os("LOCALDOMAIN").is_some() || has_text("RES_OPTIONS") || has_text("HOSTALIASES")
}

/// The latest reading of the files.
#[derive(Debug)]
pub(super) struct Cache {
    read: fn() -> io::Result<System>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    latest: Option<(Arc<System>, Instant)>,
    reading: Option<Reading>,
}

/// A reading in progress.
#[derive(Clone, Debug)]
struct Reading {
    result: Receiver<Option<Result<Arc<System>, String>>>,
    since: Instant,
}

/// The machine's files.
pub(super) static FILES: Cache = Cache::new(System::read);

impl Cache {
    const fn new(read: fn() -> io::Result<System>) -> Self {
        Self { read, state: Mutex::new(State { latest: None, reading: None }) }
    }

    /// What the files say: now, or a moment ago.
    ///
    /// # Errors
    /// The system has no thread to read them on, or no descriptor to read them with, and nobody has read them before.
    pub(super) async fn get(&'static self) -> Result<Arc<System>, ProberError> {
        let (latest, mut reading) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let latest = match &state.latest {
                Some((latest, at)) if at.elapsed() < AGE_MAX => return Ok(Arc::clone(latest)),
                latest => latest.as_ref().map(|(latest, _)| Arc::clone(latest)),
            };
            // The sender of a reading in progress is alive, unless its thread panicked.
            if state.reading.as_ref().is_none_or(|reading| reading.result.has_changed().is_err()) {
                state.reading = self.begin();
            }
            (latest, state.reading.clone())
        };
        let patience = reading.as_ref().map_or_else(Instant::now, |reading| reading.since + READING_TIME_MAX);
        let result = async {
            let Reading { result, .. } = reading.as_mut()?;
            result.wait_for(Option::is_some).await.ok().and_then(|result| result.clone())
        };
        let no_thread = || Err("the system has no thread left".to_owned());
        match latest {
            Some(latest) => {
                Ok(timeout_at(patience, result).await.ok().flatten().and_then(Result::ok).unwrap_or(latest))
            }
            None => result.await.unwrap_or_else(no_thread).map_err(ProberError),
        }
    }

    /// Begins to read; None if the system has no thread.
    fn begin(&'static self) -> Option<Reading> {
        let (tell, result) = watch::channel(None);
        let thread = thread::Builder::new().name("probelet-names".to_owned()).stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            let result = (self.read)().map(Arc::new).map_err(|error| text::errno(error.raw_os_error().unwrap_or(0)));
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(system) = &result {
                state.latest = Some((Arc::clone(system), Instant::now()));
            }
            state.reading = None;
            drop(state);
            tell.send_replace(Some(result));
        });
        spawned.ok().map(|_| Reading { result, since: Instant::now() })
    }
}

/// How old a reading may be (`net.resolverConfig.tryUpdate`, `net.cacheMaxAge`).
const AGE_MAX: Duration = Duration::from_secs(5);
/// How long attempts wait for a new reading if there is an old one.
const READING_TIME_MAX: Duration = Duration::from_millis(100);
/// More than any such file has.
const FILE_BYTES_MAX: u64 = 16 << 20;
const STACK_BYTES: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn named(hostname: &str) -> System {
        System::of("", "", Nsswitch::Missing, hostname.to_owned())
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn the_files_are_read_again_when_they_are_old_and_a_disk_that_hangs_changes_nothing() {
        static READINGS: AtomicUsize = AtomicUsize::new(0);
        static CACHE: Cache = Cache::new(|| match READINGS.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(named("first")),
            1 => Err(io::Error::from_raw_os_error(libc::EMFILE)),
            2 => Ok(named("second")),
            _ => loop {
                std::thread::park();
            },
        });
        let hostname = || run(CACHE.get()).expect("a thread").hostname.clone();
        assert_eq!((hostname(), hostname()), ("first".to_owned(), "first".to_owned()));
        assert_eq!(READINGS.load(Ordering::SeqCst), 1);
        CACHE.state.lock().unwrap().latest.as_mut().unwrap().1 -= AGE_MAX;
        // On a busy machine a reading takes longer than an attempt waits.
        while hostname() != "second" {}
        CACHE.state.lock().unwrap().latest.as_mut().unwrap().1 -= AGE_MAX;
        for _ in 0..3 {
            assert_eq!(hostname(), "second");
        }
        while READINGS.load(Ordering::SeqCst) < 4 {}
        assert_eq!(hostname(), "second");
        assert_eq!(READINGS.load(Ordering::SeqCst), 4, "one reading hangs, and no other begins");
    }

    #[test]
    fn a_reading_that_panics_is_no_answer_and_the_next_attempt_reads_anew() {
        static READINGS: AtomicUsize = AtomicUsize::new(0);
        static CACHE: Cache = Cache::new(|| match READINGS.fetch_add(1, Ordering::SeqCst) {
            0 => panic!("a reading's own fault"),
            _ => Ok(named("second")),
        });
        assert!(run(CACHE.get()).is_err());
        assert_eq!(run(CACHE.get()).expect("a thread").hostname, "second");
    }

    #[test]
    fn files_that_cannot_be_read_for_lack_of_a_descriptor_are_the_probers_error() {
        static CACHE: Cache = Cache::new(|| Err(io::Error::from_raw_os_error(libc::EMFILE)));
        assert_eq!(run(CACHE.get()).unwrap_err(), ProberError("too many open files".to_owned()));
    }

    #[test]
    fn this_machine_has_files() {
        assert!(run(FILES.get()).is_ok());
    }
}
