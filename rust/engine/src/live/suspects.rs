//! Suspect addresses: an answer from one counts only when the caller has said that it is the pod's own.
//!
//! Pods that share a machine's network may answer for each other, and a connection does not tell who answered. The
//! caller can find that out, but not for every probe. So an address is suspect until the caller has vouched for one
//! answer; from then on its probes cost nothing more. An attempt that was answered waits for the caller's word.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// An answer from a suspect address. The attempt waits for [`super::Engine::judge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspectAnswer {
    /// Identifies the answer.
    pub id: u64,
    /// Where it came from.
    pub address: SocketAddr,
}

/// What the caller says about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The pod itself answered: the answer counts.
    Own,
    /// Another program answered, whose name the text has: the attempt counts as a refused connection.
    Foreign(Box<str>),
    /// It cannot be found out, for this reason: the attempt is a prober error.
    Unknown(Box<str>),
}

/// The suspect addresses, and the answers that wait.
#[derive(Debug, Default)]
pub(super) struct SuspectAddresses {
    /// Whether any address is in doubt: without one an attempt costs one load.
    any: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// When each address came into doubt, as a number that only grows.
    suspected: HashMap<SocketAddr, u64>,
    waiting: HashMap<u64, Waiting>,
    /// Answers that the caller does not know of yet.
    unsaid: Vec<SuspectAnswer>,
    count: u64,
}

#[derive(Debug)]
struct Waiting {
    address: SocketAddr,
    since: u64,
    word: oneshot::Sender<Word>,
}

impl SuspectAddresses {
    /// The next answer of these addresses waits for the caller.
    pub(super) fn doubt(&self, addresses: impl IntoIterator<Item = SocketAddr>) {
        let mut inner = self.lock();
        inner.count += 1;
        let since = inner.count;
        inner.suspected.extend(addresses.into_iter().map(|address| (address, since)));
        self.any.store(!inner.suspected.is_empty(), Ordering::Release);
    }

    /// Takes every port of an IP address out of doubt, because no pod has it any more.
    pub(super) fn forget(&self, ip: IpAddr) {
        let mut inner = self.lock();
        inner.suspected.retain(|address, _| address.ip() != ip);
        self.any.store(!inner.suspected.is_empty(), Ordering::Release);
    }

    /// Ends the wait of an answer. An answer that is the pod's own takes its address out of doubt, unless the address
    /// came into doubt again after the answer. Ignores unknown numbers.
    pub(super) fn judge(&self, id: u64, said: Word) {
        let mut inner = self.lock();
        let Some(Waiting { address, since, word }) = inner.waiting.remove(&id) else { return };
        if said == Word::Own && inner.suspected.get(&address) == Some(&since) {
            inner.suspected.remove(&address);
            self.any.store(!inner.suspected.is_empty(), Ordering::Release);
        }
        // The attempt may have ended in the same moment.
        let _ = word.send(said);
    }

    /// Whether an answer from an address has to wait. `address` is called only if any address is in doubt.
    pub(super) fn covers(&self, address: impl FnOnce() -> Option<SocketAddr>) -> Option<SocketAddr> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        address().filter(|address| self.lock().suspected.contains_key(address))
    }

    /// Waits at most `patience` for the caller's word about an answer that has just come. `bell` is called once the
    /// answer can be taken.
    pub(super) async fn word(&self, address: SocketAddr, patience: Duration, bell: impl FnOnce()) -> Word {
        let Some((pending, word)) = self.ask(address) else { return Word::Own };
        bell();
        let said = timeout(patience, word).await;
        drop(pending);
        said.ok().and_then(Result::ok).unwrap_or_else(|| Word::Unknown(SILENCE.into()))
    }

    fn ask(&self, address: SocketAddr) -> Option<(Pending<'_>, oneshot::Receiver<Word>)> {
        let mut inner = self.lock();
        let since = *inner.suspected.get(&address)?;
        inner.count += 1;
        let id = inner.count;
        let (word, said) = oneshot::channel();
        inner.waiting.insert(id, Waiting { address, since, word });
        inner.unsaid.push(SuspectAnswer { id, address });
        Some((Pending { suspects: self, id }, said))
    }

    /// The answers of which the caller does not know yet.
    pub(super) fn take(&self) -> Vec<SuspectAnswer> {
        std::mem::take(&mut self.lock().unsaid)
    }

    /// Ignores poisoning: no code here can panic halfway through a change under the lock.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets an answer when its attempt no longer waits, also when the loop has panicked.
struct Pending<'a> {
    suspects: &'a SuspectAddresses,
    id: u64,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.suspects.lock().waiting.remove(&self.id);
    }
}

/// How long an answer waits. A look at a machine takes milliseconds, and a second at most.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
const SILENCE: &str = "the node did not find out in time";

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 64, 1, 2], port))
    }

    fn is_suspect(suspects: &SuspectAddresses, port: u16) -> bool {
        suspects.covers(|| Some(address(port))).is_some()
    }

    #[test]
    fn without_a_doubt_nobody_looks_at_the_address() {
        let suspects = SuspectAddresses::default();
        assert_eq!(suspects.covers(|| panic!("nobody asks")), None);
        suspects.doubt([address(80)]);
        suspects.forget(address(80).ip());
        assert_eq!(suspects.covers(|| panic!("nobody asks")), None);
    }

    #[test]
    fn one_answer_that_is_the_pods_own_ends_the_doubt_about_its_port() {
        let suspects = SuspectAddresses::default();
        suspects.doubt([address(80), address(81)]);
        let (pending, mut word) = suspects.ask(address(80)).expect("in doubt");
        let answer = suspects.take()[0];
        assert_eq!(answer.address, address(80));
        suspects.judge(answer.id, Word::Own);
        assert_eq!(word.try_recv(), Ok(Word::Own));
        drop(pending);
        assert_eq!((is_suspect(&suspects, 80), is_suspect(&suspects, 81)), (false, true));
        assert!(suspects.ask(address(80)).is_none() && suspects.take().is_empty());
    }

    #[test]
    fn a_foreign_answer_and_a_container_that_has_started_since_keep_the_doubt() {
        let suspects = SuspectAddresses::default();
        for (word, again) in
            [(Word::Foreign("other".into()), false), (Word::Unknown("".into()), false), (Word::Own, true)]
        {
            suspects.doubt([address(80)]);
            let (_pending, _word) = suspects.ask(address(80)).expect("in doubt");
            if again {
                suspects.doubt([address(80)]);
            }
            suspects.judge(suspects.take()[0].id, word);
            assert!(is_suspect(&suspects, 80), "{again}");
        }
    }

    #[test]
    fn an_answer_about_which_nobody_says_anything_is_unknown() {
        let suspects = SuspectAddresses::default();
        suspects.doubt([address(80)]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut rung = 0;
        let word = runtime.block_on(suspects.word(address(80), Duration::ZERO, || rung += 1));
        assert!(matches!(word, Word::Unknown(why) if &*why == SILENCE));
        assert_eq!((rung, suspects.take().len(), suspects.lock().waiting.len()), (1, 1, 0));
        let word = runtime.block_on(suspects.word(address(81), Duration::ZERO, || rung += 1));
        assert_eq!((word, rung), (Word::Own, 1));
    }

    #[test]
    fn an_attempt_that_no_longer_waits_leaves_nothing() {
        let suspects = SuspectAddresses::default();
        suspects.doubt([address(80)]);
        drop(suspects.ask(address(80)));
        assert!(suspects.lock().waiting.is_empty());
        suspects.judge(suspects.take()[0].id, Word::Own);
        assert!(is_suspect(&suspects, 80), "nobody saw that word");
    }
}
