//! The engine's side of the flight recorder: it notes what happens and hands it, some time after, to the thread that
//! writes. Probing never waits for the disk.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::{Prober, Settings, Update, WorkerId};
use probelet_core::status::Glue;
use probelet_core::time::{Instant, WallOffset};
use probelet_play::recording::{Attempt, Call, End, Entry, Event, Note, PodRecord, Start};

use super::super::attempts::EndedAttempt;
use super::super::batch::Notice;
use super::super::disk::{DiskThread, WriteWatch};
use super::checkpoint::Checkpoint;
use super::known_pods::KnownPods;
use crate::flight_recorder::{Pending, Ring, Tally};
use crate::stats::engine::RecorderTally;

/// Where an engine records what happens.
#[derive(Clone, Debug)]
pub struct RecorderOptions {
    /// The directory of the ring, made if it is missing. No other process may write it meanwhile.
    pub directory: PathBuf,
    /// Bytes that the ring may have.
    pub size: u64,
    /// The node's name.
    pub node: String,
}

/// What a recording says of its engine.
#[derive(Debug)]
pub(in super::super) struct Recorded {
    pub(in super::super) settings: Settings,
    pub(in super::super) glue: Glue,
    pub(in super::super) started: Instant,
}

/// How a write ended.
#[derive(Debug)]
struct Written {
    result: io::Result<()>,
    tally: Tally,
    is_full: bool,
    /// How many entries it had.
    entries: u64,
    /// The list, emptied, so that the next one needs no memory of its own.
    emptied: Vec<Entry>,
}

#[derive(Debug)]
pub(in super::super) struct FlightRecorder {
    pending: Pending,
    pods: KnownPods,
    checkpoint: Checkpoint,
    /// Workers that began since the last turn.
    begun: Vec<WorkerId>,
    thread: DiskThread<Vec<Entry>, Written>,
    watch: WriteWatch,
    emptied: Vec<Entry>,
    /// The start of the last segment.
    start: Start,
    wall_ns: i64,
    /// When what waits is due to be handed over.
    due: Option<Instant>,
    /// When the next pods of the checkpoint are due.
    checkpoint_due: Option<Instant>,
    /// Whether the open segment has had its share of the ring.
    is_full: bool,
    tally: Tally,
}

impl FlightRecorder {
    /// Starts the thread, and the first segment.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(in super::super) fn start(options: RecorderOptions, recorded: &Recorded) -> io::Result<Self> {
        let RecorderOptions { directory, size, node } = options;
        Self::with(node, recorded, move || {
            let mut ring = Ring::new(&directory, size);
            move |entries| write(&mut ring, entries)
        })
    }

    /// As [`Self::start`], with a thread that writes as `open` says.
    fn with<Do: FnMut(Vec<Entry>) -> Written>(
        node: String,
        recorded: &Recorded,
        open: impl FnOnce() -> Do + Send + 'static,
    ) -> io::Result<Self> {
        let Recorded { settings, glue, started } = recorded;
        let thread = DiskThread::start("probelet-recorder", Arc::default(), open)?;
        let start = Start {
            node: node.into(),
            engine: settings.wall.0.unsigned_abs(),
            at_us: micros(*started),
            wall_ns: settings.wall.0,
            started_us: micros(*started),
            started_wall_ms: settings.wall.wall_ms(*started),
            semantics: settings.semantics,
            glue: *glue,
            phasing: settings.phasing,
            ..Start::default()
        };
        let mut pending = Pending::default();
        pending.begin(start.clone());
        Ok(Self {
            pending,
            pods: KnownPods::default(),
            checkpoint: Checkpoint::default(),
            begun: Vec::new(),
            thread,
            watch: WriteWatch::new("flight recorder", "probing goes on, the recording may miss what happens now"),
            emptied: Vec::new(),
            wall_ns: start.wall_ns,
            start,
            due: None,
            checkpoint_due: None,
            is_full: false,
            tally: Tally::default(),
        })
    }

    /// Notes the end of an attempt.
    #[inline]
    pub(in super::super) fn attempt(&mut self, ended: &EndedAttempt, now: Instant) {
        let scheduled_us = micros(ended.ticket.scheduled);
        let began_us = micros(ended.began).max(scheduled_us);
        self.pending.attempt(Attempt {
            worker: ended.ticket.worker,
            end: End::of(&ended.report.outcome),
            cause: ended.report.cause,
            scheduled_us,
            began_us,
            ended_us: micros(now).max(began_us),
        });
    }

    /// Notes a call of a pod's owner.
    pub(in super::super) fn note(&mut self, note: Note) {
        match note {
            Note::Defined(record) => {
                let pod = self.pods.ensure(&record.uid).0.number;
                let images = Event::images(pod, &record);
                self.pending.call(Event::defined(pod, *record));
                if let Some(images) = images {
                    self.pending.call(images);
                }
            }
            Note::Called { uid, call } => self.called(&uid, call),
            Note::Cleanup(stay) => {
                let stays = |uid: &Arc<str>| stay.iter().any(|other| **other == **uid);
                let gone: Vec<Arc<str>> = self.pods.uids().filter(|uid| !stays(uid)).map(Arc::clone).collect();
                gone.iter().for_each(|uid| self.called(uid, Call::Remove));
            }
        }
    }

    fn called(&mut self, uid: &str, mut call: Call) {
        let (pod, is_new) = self.pods.ensure(uid);
        pod.shorten(&mut call);
        if let Call::Pause(pause) = &call {
            pod.keep(pause);
        }
        let pod = pod.number;
        if is_new {
            // A status may come before the pod that it is of.
            let record = PodRecord { uid: uid.into(), ..PodRecord::default() };
            self.pending.call(Event::Defined { pod, record });
        }
        if call == Call::Forget {
            self.pods.forget(uid);
        }
        self.pending.call(Event::Called { pod, call });
    }

    /// Notes a result that was published.
    pub(in super::super) fn result(&mut self, update: &Update, now: Instant) {
        if let Some(pod) = self.pods.get(&update.pod_uid) {
            let (probe_type, result) = (update.probe_type, update.result);
            let container_id = (&*update.container_id).into();
            self.pending.event(micros(now), Event::Result { pod: pod.number, probe_type, container_id, result });
        }
    }

    /// Notes that a worker began. Its first run is not over yet, so the next turn says when it is due.
    pub(in super::super) fn worker_started(&mut self, worker: WorkerId) {
        self.begun.push(worker);
    }

    fn note_begun(&mut self, prober: &Prober, now: Instant) {
        for worker in std::mem::take(&mut self.begun) {
            let Some(state) = prober.worker_state(worker) else { continue };
            if let Some(pod) = self.pods.get(&state.target.pod.uid) {
                let (container, probe_type) = ((&*state.target.container().name).into(), state.target.probe_type);
                let (pod, tick_us) = (pod.number, micros(state.next_tick));
                let event = Event::WorkerStarted { worker, pod, container, probe_type, tick_us };
                self.pending.event(micros(now), event);
            }
        }
    }

    /// Notes that a worker has ended.
    pub(in super::super) fn worker_ended(&mut self, worker: WorkerId, now: Instant) {
        self.pending.event(micros(now), Event::WorkerEnded { worker });
    }

    /// Takes the result of the last write, and hands over what waits if it is due. Returns lines for the log.
    pub(in super::super) fn turn(&mut self, prober: &Prober, now: Instant, wall: WallOffset) -> Vec<Notice> {
        let notices = self.hear(now);
        self.pending.turn(micros(now));
        if self.wall_ns.abs_diff(wall.0) >= WALL_STEP_NS {
            self.wall_ns = wall.0;
            self.pending.event(micros(now), Event::Wall(wall.0));
        }
        self.note_begun(prober, now);
        if self.pending.is_gapped() || self.is_full {
            self.next_segment(now);
        }
        self.checkpoint.go_on(prober, &self.pods, &mut self.pending, now, wall);
        self.checkpoint_due = self.checkpoint.deadline(now);
        if self.due.is_none() && !self.pending.is_empty() {
            self.due = Some(now + DELAY);
        }
        if self.watch.is_free() && (self.pending.is_crowded() || self.due.is_some_and(|due| due <= now)) {
            self.hand_over(now);
        }
        notices
    }

    /// When the recorder next needs a turn.
    pub(in super::super) fn deadline(&self) -> Option<Instant> {
        let writing = if self.watch.is_free() { self.due } else { self.watch.deadline() };
        writing.into_iter().chain(self.checkpoint_due).min()
    }

    pub(in super::super) const fn tally(&self) -> RecorderTally {
        RecorderTally { ring: self.tally, lost: self.pending.lost() }
    }

    /// Begins a segment. After a loss, what was noted before it is handed over first.
    fn next_segment(&mut self, now: Instant) {
        let continues = !self.pending.is_gapped();
        if !continues && (!self.watch.is_free() || self.due.is_some_and(|due| self.watch.is_failing() && now < due)) {
            return;
        }
        if !continues && !self.pending.is_empty() {
            self.hand_over(now);
            return;
        }
        self.is_full = false;
        self.start.number += 1;
        (self.start.continues, self.start.at_us, self.start.wall_ns) = (continues, micros(now), self.wall_ns);
        self.pending.begin(self.start.clone());
        self.checkpoint.begin(&self.pods, now);
    }

    fn hand_over(&mut self, now: Instant) {
        let entries = self.pending.take(std::mem::take(&mut self.emptied));
        self.thread.hand(entries);
        self.watch.handed(now);
        self.due = None;
    }

    fn hear(&mut self, now: Instant) -> Vec<Notice> {
        if self.watch.is_free() {
            return Vec::new();
        }
        let Some(Written { result, tally, is_full, entries, emptied }) = self.thread.result() else {
            return self.watch.goes_on(now).into_iter().collect();
        };
        (self.tally, self.is_full, self.emptied) = (tally, is_full, emptied);
        if result.is_err() {
            self.pending.lose(entries);
            self.due = Some(now + RETRY);
        }
        self.watch.ended(&result, now)
    }

    /// Hands over what is left and ends the thread. Waits for the disk for [`CLOSE_TIME_MAX`] at most; returns a warning
    /// if it is not written by then.
    pub(in super::super) fn close(&mut self, now: Instant) -> Option<Notice> {
        self.pending.turn(micros(now));
        let last = self.pending.take(Vec::new());
        let written = self.thread.close(last, |work, last| work.extend(last), CLOSE_TIME_MAX);
        let is_written = written.is_some_and(|written| written.result.is_ok());
        let text = "flight recorder: the last moments were not written before the end";
        (!is_written).then(|| Notice::warning(text.into()))
    }
}

/// Writes entries, in the recorder's thread.
fn write(ring: &mut Ring, mut entries: Vec<Entry>) -> Written {
    let (result, count) = (ring.write(&entries), entries.len() as u64);
    entries.clear();
    Written { result, tally: ring.tally(), is_full: ring.is_full(), entries: count, emptied: entries }
}

const fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1_000
}

/// From an entry to its write: what a kill may lose, and how many attempts of a small node share a block.
const DELAY: Duration = Duration::from_secs(1);

/// From a write that failed to the next one: asking a full disk more often does not empty it.
const RETRY: Duration = Duration::from_secs(1);

/// How long [`FlightRecorder::close`] waits for the disk.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(2);

/// A change of the wall clock that is noted: less than what decides whether an initial delay is over.
const WALL_STEP_NS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// A keeper whose disk answers only when the test says so, with an error if it says that.
    #[test]
    fn a_disk_that_hangs_costs_what_does_not_fit_and_the_recording_goes_on_in_another_segment() {
        let (answer, answers) = channel::<io::Result<()>>();
        let (tell, written) = channel::<Vec<Entry>>();
        let open = move || {
            move |entries: Vec<Entry>| {
                let result = answers.recv().expect("the test answers");
                let count = entries.len() as u64;
                tell.send(entries).expect("the test listens");
                Written { result, tally: Tally::default(), is_full: false, entries: count, emptied: Vec::new() }
            }
        };
        let started = Instant::ZERO + Duration::from_secs(86_400);
        let recorded = Recorded { settings: Settings::default(), glue: Glue::KUBELET, started };
        let mut keeper = FlightRecorder::with("node".into(), &recorded, open).expect("a thread");
        let prober = Prober::new(Settings::default(), started);
        let turn = |keeper: &mut FlightRecorder, seconds: u64| {
            let notices = keeper.turn(&prober, started + Duration::from_secs(seconds), WallOffset(0));
            notices.into_iter().map(|notice| notice.text).collect::<Vec<_>>()
        };
        // The first hand-over hangs; attempts go on.
        assert!(turn(&mut keeper, 0).is_empty());
        assert!(turn(&mut keeper, 1).is_empty());
        (0..100_000).for_each(|number| keeper.pending.attempt(attempt(number)));
        assert_eq!(
            turn(&mut keeper, 7),
            [
                "flight recorder: the disk hangs, a write has not ended; probing goes on, the recording may miss what happens now"
            ]
        );
        assert_eq!(keeper.tally().lost, 100_000 - 65_536);
        // It answers: what fitted is written, then a segment begins that says what is missing.
        answer.send(Ok(())).expect("the thread waits");
        assert_eq!(written.recv().expect("a write").len(), 1, "the start of the recording");
        let until = |keeper: &mut FlightRecorder, seconds| {
            while !keeper.watch.is_free() {
                turn(keeper, seconds);
                std::thread::yield_now();
            }
        };
        while keeper.pending.is_gapped() {
            turn(&mut keeper, 8);
            let _ = answer.send(Ok(()));
            std::thread::yield_now();
        }
        until(&mut keeper, 9);
        assert_eq!(written.recv().expect("a write").len(), 65_536);
        turn(&mut keeper, 20);
        let _ = answer.send(Ok(()));
        let entries = written.recv().expect("a write");
        let Some(Entry::Segment(start)) = entries.first() else { panic!("{:?}", entries.first()) };
        assert_eq!((start.lost, start.continues, start.number), (100_000 - 65_536, false, 2));
    }

    fn attempt(ended_us: u64) -> Attempt {
        let (end, cause) = (End::Success, probelet_play::cause::Cause::Ok);
        Attempt { worker: 1, end, cause, scheduled_us: ended_us, began_us: ended_us, ended_us }
    }
}
