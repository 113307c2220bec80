//! The engine's handle: each call reads or changes the shared state, and wakes the engine's thread if it must act.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use probelet_core::podstatus::PodStatus;
use probelet_core::prober::{Phasing, Prober, Settings};
use probelet_core::semantics::Semantics;
use probelet_core::spec::{PodSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::Instant;
use probelet_core::timer::TimerId;
use probelet_play::pods::PodCalls;
use probelet_play::recording::{Call, Note, PauseRecord};
use tokio::sync::Notify;

use super::attempts::{Network, PlanTable};
use super::batch::Batch;
use super::direct::{DirectExecs, HelperProcess};
use super::driver::drive;
use super::exec::{ExecEnd, Refusal};
use super::flight_recorder::{FlightRecorder, Recorded, RecorderOptions};
use super::journal::{Gone, JournalOptions, JournalSync};
use super::mailbox::Mailbox;
use super::starvation_log::StarvationLog;
use super::state::{Shared, State};
use super::suspects::Word;
#[cfg(test)]
use super::tests::trap::Trap;
use super::time::clock::Clock;
use super::time::wake_up::CallerTimers;
use crate::attempt::starvation::Starving;
use crate::net::descriptors;
use crate::net::namespace::{Namespace, SocketMaker};
use crate::stats::engine::EngineStats;
use crate::stats::worker::StatsTable;

/// How an engine starts.
#[derive(Clone, Debug)]
pub struct Options {
    /// The rules of the kubelet release.
    pub semantics: Semantics,
    /// Seeds the jitter.
    pub seed: u64,
    /// `User-Agent` of HTTP and gRPC probes.
    pub user_agent: String,
    /// Whether first runs are spread over a period while the engine is younger than it, as in a young kubelet.
    pub start_jitter: bool,
    /// Where runs fall.
    pub phasing: Phasing,
    /// [`Settings::extra_runs_per_second`].
    pub extra_runs_per_second: u32,
    /// How late a probe may begin so that it shares a wake-up with others; below a millisecond it changes nothing,
    /// because any probe may be so late (four milliseconds on a node of exec probes alone).
    pub wake_slack: Duration,
    /// Which fields of a status the engine sets from results.
    pub glue: Glue,
    /// How the engine judges an attempt while its own loop is late.
    pub starving: Starving,
    /// Where the engine keeps memories and reads them at the start; None: nothing outlives the engine.
    pub journal: Option<JournalOptions>,
    /// Where the engine records what happens; None: nowhere.
    pub recorder: Option<RecorderOptions>,
}

/// A running engine. Dropping it stops its thread.
#[derive(Debug)]
pub struct Engine {
    pub(super) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Starts an engine.
    ///
    /// # Errors
    /// The system has no thread or no file descriptor left.
    pub fn start(options: Options) -> std::io::Result<Self> {
        let clock = Clock::start();
        let settings = Settings {
            semantics: options.semantics,
            seed: options.seed,
            wall: clock.wall(),
            start_jitter: options.start_jitter,
            phasing: options.phasing,
            extra_runs_per_second: options.extra_runs_per_second,
            record: false,
        };
        let mut prober = Prober::new(settings, clock.now());
        let mut worker_stats = StatsTable::default();
        descriptors::reserve();
        let mailbox = Mailbox::new()?;
        let journal = match &options.journal {
            Some(journal) => {
                let (keeper, said) =
                    JournalSync::open(journal, &mut prober, &mut worker_stats, settings.wall, clock.now())?;
                mailbox.post(Batch::of_notices(said));
                mailbox.ring();
                Some(Mutex::new(keeper))
            }
            None => None,
        };
        let is_recording = options.recorder.is_some();
        let recorder = options.recorder.map(|recorder| {
            let settings = Recorded { settings, glue: options.glue, started: clock.now() };
            FlightRecorder::start(recorder, &settings).map(Box::new)
        });
        let state = State {
            manager: StatusManager::new(prober, options.glue),
            worker_stats,
            plans: PlanTable::default(),
            engine_stats: EngineStats::default(),
            starvation_log: StarvationLog::default(),
            outgoing: Batch::default(),
            watches_turns: false,
            execs: HashMap::new(),
            next_exec: 0,
            direct: DirectExecs::default(),
            planned: Vec::new(),
            starts: Vec::new(),
            looks_at: None,
            caller_timers: CallerTimers::default(),
            gone: Gone::default(),
            journal_tokens: Vec::new(),
            recorder: recorder.transpose()?,
        };
        let shared = Arc::new(Shared {
            clock,
            state: Mutex::new(state),
            mailbox,
            suspects: Arc::default(),
            journal,
            bell: Notify::new(),
            closing: AtomicBool::new(false),
            user_agent: options.user_agent.into(),
            starving: options.starving,
            wake_slack: options.wake_slack,
            is_recording,
            socket_maker: Mutex::default(),
            #[cfg(test)]
            trap: Trap::default(),
        });
        let driven = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("probelet-engine".into()).spawn(move || drive(&driven))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The mailbox.
    pub fn mailbox(&self) -> &Mailbox {
        &self.shared.mailbox
    }

    /// The engine's monotonic clock.
    pub fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    /// Puts both clocks forward, for tests; everything due in between is late. Timeouts of sockets use the machine's
    /// clock, so an attempt in flight keeps its time.
    pub fn advance(&self, by: Duration) {
        self.shared.clock.advance(by);
        self.shared.bell.notify_one();
    }

    /// The wall clock in Unix milliseconds.
    pub fn wall_ms(&self) -> i64 {
        self.shared.clock.wall().wall_ms(self.now())
    }

    /// Stops the thread and drops attempts in flight with their sockets. The journal gets the last changes if the disk
    /// takes them within two seconds; otherwise the mailbox has a notice.
    pub fn close(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        self.shared.bell.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the engine's thread printed its message when it happened.
            let _ = thread.join();
        }
    }

    /// Takes a pod whose status the caller keeps: defines it and adds it (AddPod).
    pub fn take_pod(&self, pod: PodSpec) {
        let defined = self.noted(|| Note::defined(&pod));
        let taken = self.noted(|| Note::called(&pod.uid, Call::Take));
        self.touch(|state| {
            state.note(defined);
            state.note(taken);
            let pod = Arc::new(pod);
            state.manager.supply(&pod.uid);
            state.manager.prober_mut().define_pod(Arc::clone(&pod));
            state.manager.prober_mut().add_pod(&pod.uid)
        });
    }

    /// Takes the status of a pod from the caller, who keeps it from now on.
    pub fn take_pod_status(&self, uid: &str, status: PodStatus) {
        let note = self.noted(|| Note::told(uid, Call::TakeStatus, &status));
        self.touch(|state| {
            state.note(note);
            state.manager.supply(uid);
            state.manager.prober_mut().set_pod_status(uid, status);
        });
    }

    /// Lets the workers that AddPod will make begin with what the pod's status says of containers that run.
    pub fn recall_status(&self, uid: &str) {
        self.touch(|state| state.manager.prober_mut().recall_status(uid));
    }

    /// Arms a timer of the caller.
    pub fn arm(&self, deadline: Instant, token: u64) -> TimerId {
        self.touch(|state| {
            let timer = state.manager.prober_mut().arm(deadline, token);
            state.caller_timers.armed(timer, deadline);
            timer
        })
    }

    /// Lets a probe make no attempt before `until`, and keep its result meanwhile; false if the pod was not defined.
    pub fn pause(&self, uid: &str, container: &str, probe_type: ProbeType, until: Instant) -> bool {
        let (now, until_us) = (self.now(), until.as_nanos() / 1_000);
        let pause = || PauseRecord { container: container.into(), probe_type, until_us };
        let note = self.noted(|| Note::called(uid, Call::Pause(pause())));
        self.touch(|state| {
            let is_defined = state.manager.prober_mut().pause(uid, container, probe_type, until, now);
            state.note(note.filter(|_| is_defined));
            is_defined
        })
    }

    /// Disarms a timer; false if it was not armed.
    pub fn cancel(&self, timer: TimerId) -> bool {
        self.touch(|state| {
            state.caller_timers.cancelled(timer);
            state.manager.prober_mut().cancel(timer)
        })
    }

    /// Puts `token` among the timers of a batch once the journal has on disk what the engine knows now: the changes that
    /// wait are handed over at once. The token comes without that if there is no journal, and if the disk refuses a write
    /// or takes longer than five seconds.
    pub fn when_journalled(&self, token: u64) {
        if self.shared.journal.is_some() {
            self.touch(|state| state.journal_tokens.push(token));
        } else {
            let mut batch = Batch::default();
            batch.timers.push(token);
            self.shared.mailbox.post(batch);
            self.shared.mailbox.ring();
        }
    }

    /// From now on a batch has each [`Turn`](super::Turn).
    pub fn watch_turns(&self) {
        self.shared.lock().watches_turns = true;
    }

    /// From now on an answer from one of these addresses counts only after [`Engine::judge`]. Any earlier word about
    /// them holds no more.
    pub fn doubt(&self, addresses: impl IntoIterator<Item = SocketAddr>) {
        self.shared.suspects.doubt(addresses);
    }

    /// Doubts no port of this address any more, because no pod has it.
    pub fn forget_doubts(&self, ip: IpAddr) {
        self.shared.suspects.forget(ip);
    }

    /// From now on the pod's probes with `network: pod` are made from inside the network namespace at `path`, which the
    /// engine keeps open until [`Engine::leave_network`]. False if it is the one of this process; then they go the
    /// ordinary way.
    ///
    /// # Errors
    /// There is no namespace at `path`, or this process may not enter it. Nothing has changed then.
    pub fn enter_network(&self, uid: &str, path: &Path) -> std::io::Result<bool> {
        // Without the state's lock, because another thread answers.
        let maker = {
            let mut maker = self.shared.socket_maker.lock().unwrap_or_else(PoisonError::into_inner);
            match &*maker {
                Some(maker) => maker.clone(),
                None => maker.insert(SocketMaker::start()?).clone(),
            }
        };
        let namespace = Namespace::open(path, &maker)?;
        let is_entered = namespace.is_some();
        self.set_network(uid, namespace.map_or(Network::Shared, |namespace| Network::Entered(namespace.into())));
        Ok(is_entered)
    }

    /// From now on the pod's probes with `network: pod` go the ordinary way, because it is on the node's network.
    pub fn share_network(&self, uid: &str) {
        self.set_network(uid, Network::Shared);
    }

    /// From now on the pod's probes with `network: pod` are prober errors, or go the ordinary way if they allow it,
    /// because its network cannot be entered for this reason.
    pub fn close_network(&self, uid: &str, why: &str) {
        self.set_network(uid, Network::Closed(why.into()));
    }

    /// Closes the pod's network namespace once no attempt is in flight in it.
    pub fn leave_network(&self, uid: &str) {
        self.shared.lock().plans.set_network(uid, None);
    }

    fn set_network(&self, uid: &str, network: Network) {
        self.shared.lock().plans.set_network(uid, Some(network));
    }

    /// Says whose a suspect answer is. Ignores unknown numbers. An answer of which nobody says anything for two seconds
    /// is a prober error.
    pub fn judge(&self, id: u64, word: Word) {
        self.shared.suspects.judge(id, word);
    }

    /// Takes the ends of exec attempts; ignores unknown numbers. This call also hands out what follows from them,
    /// because waking the engine's thread would cost more than the attempts.
    pub fn finish_execs(&self, finished: Vec<(u64, ExecEnd)>) {
        let mut state = self.shared.lock();
        let (now, wall) = (self.shared.clock.now(), self.shared.clock.wall());
        for (id, end) in finished {
            if let Some(flight) = state.execs.remove(&id) {
                let ended = flight.end(end);
                state.finish(ended, &self.shared.starving, now, wall.wall_ms(now));
            }
        }
        state.hand_out_all(&self.shared, now, wall);
        let rings = state.is_due_before_the_thread_looks() || self.shared.journal.is_some();
        drop(state);
        self.shared.mailbox.ring();
        if rings {
            self.shared.bell.notify_one();
        }
    }

    /// From now on exec attempts in containers that [`Engine::describe_container`] names go to this helper. It needs every
    /// description anew; the attempts of the one before end as prober errors.
    pub fn use_helper(&self, helper: HelperProcess) {
        self.touch(|state| state.direct.use_helper(helper));
    }

    /// There is no helper any more; its attempts in flight end as prober errors with `why`.
    pub fn lose_helper(&self, why: &str) {
        self.touch(|state| state.direct.lose_helper(why));
    }

    /// Gives the engine what the helper needs of a container. Without a helper it does nothing.
    pub fn describe_container(&self, container_id: &str, description: &[u8]) {
        self.shared.lock().direct.describe(container_id, description);
    }

    /// From now on the exec attempts of this container go to the caller.
    pub fn forget_container(&self, container_id: &str) {
        self.shared.lock().direct.forget(container_id);
    }

    /// Gives a command to the helper, in a container with this description. A batch says what becomes of it.
    ///
    /// # Errors
    /// Why no helper can have it; no batch mentions it then.
    pub fn enter_exec(
        &self,
        id: u64,
        description: &[u8],
        argv: Vec<Box<str>>,
        timeout_seconds: i32,
    ) -> Result<(), Refusal> {
        self.touch(|state| state.direct.enter(id, description, argv, timeout_seconds))
    }

    /// How many exec attempts the helper has carried out for the engine, and how many are in flight.
    pub fn direct_counts(&self) -> (u64, u64) {
        let state = self.shared.lock();
        (state.direct.attempts, state.direct.in_flight)
    }

    /// Changes the state and wakes the thread, which settles the core.
    fn touch<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let value = change(&mut self.shared.lock());
        self.shared.bell.notify_one();
        value
    }
}

/// For a reference, because the engine locks its own state.
impl PodCalls for &Engine {
    fn read<T>(&self, read: impl FnOnce(&StatusManager) -> T) -> T {
        read(&self.shared.lock().manager)
    }

    fn change<T>(&mut self, note: Option<Note>, change: impl FnOnce(&mut StatusManager) -> T) -> T {
        self.touch(|state| {
            state.note(note);
            change(&mut state.manager)
        })
    }

    fn is_noted(&self) -> bool {
        self.shared.is_recording
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.close();
    }
}
