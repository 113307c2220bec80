//! The look-ups that the C library makes: each on a thread of its own, because the C library blocks, and a bounded
//! number, because it may hang and cannot be stopped.
//!
//! All attempts that ask for one name share one look-up. An attempt that gives up leaves it; the thread goes on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::watch::{self, Receiver, Sender};

use super::answer::{Answer, ProberError};

/// A function that resolves a name and blocks meanwhile.
pub(super) type Resolver = Box<dyn Fn(&str) -> Answer + Send + Sync>;

/// The look-ups of one resolver.
pub(super) struct Lookups {
    resolver: Resolver,
    in_flight: Mutex<InFlight>,
}

#[derive(Default)]
struct InFlight {
    /// The receivers of the answers, by name.
    names: HashMap<Box<str>, Receiver<Option<Answer>>>,
    /// Threads by the pod that began their look-ups.
    of_pod: HashMap<Box<str>, usize>,
}

impl Lookups {
    pub(super) fn new(resolver: Resolver) -> Arc<Self> {
        Arc::new(Self { resolver, in_flight: Mutex::default() })
    }

    /// Asks for a name on behalf of `pod`, or waits for the answer that another attempt has asked for.
    pub(super) async fn ask(self: &Arc<Self>, pod: Option<&str>, name: &str) -> Result<Answer, ProberError> {
        let mut answer = self.join(pod, name)?;
        match answer.wait_for(Option::is_some).await {
            Ok(answer) => Ok(answer.clone().expect("it was waited for")),
            // No answer will come: the system gave no thread, or the thread panicked.
            Err(_) => Err(ProberError("the system has no thread left".to_owned())),
        }
    }

    fn join(self: &Arc<Self>, pod: Option<&str>, name: &str) -> Result<Receiver<Option<Answer>>, ProberError> {
        let mut in_flight = self.lock();
        if let Some(answer) = in_flight.names.get(name) {
            return Ok(answer.clone());
        }
        let of_pod = pod.and_then(|pod| in_flight.of_pod.get(pod)).copied().unwrap_or(0);
        if of_pod >= POD_THREADS_MAX {
            return Err(ProberError(format!("{POD_THREADS_MAX} other names of this pod are being looked up")));
        }
        if in_flight.names.len() >= threads_max(of_pod) {
            return Err(ProberError(format!("{} other names are being looked up", in_flight.names.len())));
        }
        if let Some(pod) = pod {
            in_flight.of_pod.insert(pod.into(), of_pod + 1);
        }
        let (tell, answer) = watch::channel(None);
        in_flight.names.insert(name.into(), answer.clone());
        drop(in_flight);
        let registration = Registration { lookups: Arc::clone(self), pod: pod.map(Into::into), name: name.into() };
        let thread = thread::Builder::new().name("probelet-lookup".to_owned()).stack_size(STACK_BYTES);
        // If the system gives no thread, this drops `registration` and `tell`, which frees the name and ends the wait.
        let _ = thread.spawn(move || registration.resolve(&tell));
        Ok(answer)
    }

    fn lock(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One look-up in flight. Dropping it removes the name and frees the pod's thread.
struct Registration {
    lookups: Arc<Lookups>,
    pod: Option<Box<str>>,
    name: Box<str>,
}

impl Registration {
    fn resolve(self, tell: &Sender<Option<Answer>>) {
        let answer = (self.lookups.resolver)(&self.name);
        // First, so that an attempt that asks from now on gets an answer no older than its question.
        drop(self);
        tell.send_replace(Some(answer));
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut in_flight = self.lookups.lock();
        in_flight.names.remove(&self.name);
        let Some(pod) = &self.pod else { return };
        if let Some(threads) = in_flight.of_pod.get_mut(pod) {
            *threads -= 1;
            if *threads == 0 {
                in_flight.of_pod.remove(pod);
            }
        }
    }
}

/// How many look-ups of the node may be in flight when a pod with `of_pod` of its own begins another one: the more a
/// pod has, the sooner it yields to pods that have none.
const fn threads_max(of_pod: usize) -> usize {
    THREADS_MAX / POD_THREADS_MAX * (POD_THREADS_MAX - of_pod)
}

/// Look-ups in flight on a node at most: half as many as Go makes with the C library at a time (`net.acquireThread`),
/// because each has descriptors of its own.
const THREADS_MAX: usize = 256;
/// Look-ups in flight of one pod at most: the probes of a pod seldom have more than one name.
const POD_THREADS_MAX: usize = 4;
/// Far more than `getaddrinfo` and the modules that it loads need. Only the part that a thread uses costs memory.
const STACK_BYTES: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Sender, channel};
    use std::task::{Context, Poll, Waker};

    use super::*;

    const ADDRESS: &str = "10.0.0.1:0";

    /// Look-ups whose resolver counts what it was asked; a name that begins with `hang` is answered once the returned
    /// sender is dropped.
    fn lookups() -> (Arc<Lookups>, Arc<AtomicUsize>, Sender<()>) {
        let (release, hang) = channel::<()>();
        let (asked, hang) = (Arc::new(AtomicUsize::new(0)), Mutex::new(hang));
        let counted = Arc::clone(&asked);
        let lookups = Lookups::new(Box::new(move |name| {
            counted.fetch_add(1, Ordering::SeqCst);
            if name.starts_with("hang") {
                // Each thread in turn waits for the sender to go.
                let _ = hang.lock().unwrap_or_else(PoisonError::into_inner).recv();
            }
            Ok(vec![ADDRESS.parse().unwrap()])
        }));
        (lookups, asked, release)
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    /// What an attempt that asks sees at once: an answer, no thread, or nothing yet.
    fn glance(lookups: &Arc<Lookups>, pod: &str, name: &str) -> Poll<Result<Answer, ProberError>> {
        let mut ask = Box::pin(lookups.ask(Some(pod), name));
        ask.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn names_of_one_pod_that_never_resolve_hold_up_no_other_pod() {
        let (lookups, _, _release) = lookups();
        let hanging: Vec<_> = (0..64).map(|number| glance(&lookups, "a", &format!("hang{number}"))).collect();
        assert!(hanging[..POD_THREADS_MAX].iter().all(Poll::is_pending));
        let refused = ProberError("4 other names of this pod are being looked up".into());
        assert!(
            hanging[POD_THREADS_MAX..].iter().all(|asked| *asked == Poll::Ready(Err(ProberError(refused.0.clone()))))
        );
        assert_eq!(run(lookups.ask(Some("b"), "web")), Ok(Ok(vec![ADDRESS.parse().unwrap()])));
    }

    #[test]
    fn pods_with_many_names_that_never_resolve_leave_room_for_pods_with_one() {
        let (lookups, _, _release) = lookups();
        let mut begun = 0;
        for pod in 0..THREADS_MAX {
            let hangs = |number| glance(&lookups, &format!("pod{pod}"), &format!("hang{pod}-{number}")).is_pending();
            begun += (0..POD_THREADS_MAX).filter(|&number| hangs(number)).count();
            if pod == THREADS_MAX / 2 {
                assert_eq!(run(lookups.ask(Some("healthy"), "web")), Ok(Ok(vec![ADDRESS.parse().unwrap()])));
            }
        }
        assert_eq!(begun, THREADS_MAX);
    }

    #[test]
    fn a_node_has_so_many_threads_and_no_more() {
        let (lookups, _, release) = lookups();
        for number in 0..THREADS_MAX {
            assert!(glance(&lookups, &format!("pod{number}"), &format!("hang{number}")).is_pending());
        }
        let refused = ProberError("256 other names are being looked up".into());
        assert_eq!(run(lookups.ask(None, "web")), Err(refused));
        assert!(glance(&lookups, "another", "hang7").is_pending(), "a name that is being looked up costs no thread");
        drop(release);
        assert!(run(lookups.ask(None, "hang7")).is_ok());
    }

    #[test]
    fn attempts_that_ask_for_one_name_share_its_look_up_and_may_leave_it() {
        let (lookups, asked, release) = lookups();
        assert!(glance(&lookups, "a", "hang").is_pending());
        run(async {
            let waits: Vec<_> = ["a", "b", "c"]
                .map(|pod| {
                    let lookups = Arc::clone(&lookups);
                    tokio::spawn(async move { lookups.ask(Some(pod), "hang").await })
                })
                .into();
            tokio::task::yield_now().await;
            drop(release);
            for wait in waits {
                assert_eq!(wait.await.unwrap(), Ok(Ok(vec![ADDRESS.parse().unwrap()])));
            }
        });
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_look_up_that_is_over_leaves_nothing_and_the_next_attempt_asks_anew() {
        let (lookups, asked, _release) = lookups();
        for round in 1..=2 {
            assert!(run(lookups.ask(Some("a"), "web")).is_ok());
            assert_eq!(asked.load(Ordering::SeqCst), round);
            assert!(lookups.lock().names.is_empty() && lookups.lock().of_pod.is_empty());
        }
    }

    #[test]
    fn a_resolver_that_panics_is_no_answer_and_keeps_no_name() {
        let lookups = Lookups::new(Box::new(|_| panic!("a resolver's own fault")));
        assert_eq!(run(lookups.ask(Some("a"), "web")), Err(ProberError("the system has no thread left".into())));
        assert!(lookups.lock().names.is_empty());
    }
}
