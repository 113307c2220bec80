//! The flight recorder's ring on a real disk: its size, what a kill leaves, and what a reader refuses.

use std::fs;
use std::path::{Path, PathBuf};

use probelet_core::podstatus::{Phase, State};
use probelet_core::spec::ProbeType;
use probelet_engine::recorder::{Ring, read_path};
use probelet_play::cause::Cause;
use probelet_play::recording::{
    Attempt, Call, ContainerRecord, End, Entry, Event, Facts, PodRecord, PodState, Start, StatusRecord, WorkerState,
    read_files,
};

/// A directory of its own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("probelet-ring-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    fn ring(&self) -> PathBuf {
        self.0.join("ring")
    }

    fn segments(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(self.ring()).expect("the ring").map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        paths
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn start(number: u64) -> Entry {
    let (node, continues) = ("node-a".into(), number > 1);
    Entry::Segment(Box::new(Start { node, engine: 7, number, continues, at_us: number * HOUR, ..Start::default() }))
}

/// A pod with one container and a liveness probe of worker 3.
fn pod(at_us: u64) -> Entry {
    let container = ContainerRecord {
        name: "app".into(),
        id: "c://1".into(),
        state: State::Running { started_at_ms: Some(0) },
        ready: true,
        started: Some(true),
    };
    let status = StatusRecord { phase: Phase::Running, containers: vec![container], regular: 1, ..Default::default() };
    let workers =
        vec![WorkerState { worker: 3, container: "app".into(), probe_type: ProbeType::Liveness, memory: None }];
    let record = PodRecord { uid: "u".into(), namespace: "default".into(), name: "web".into(), ..Default::default() };
    let state = PodState { pod: 1, record, status: Some(status), workers, ..PodState::default() };
    Entry::Event { at_us, event: Box::new(Event::Pod(state)) }
}

fn attempt(ended_us: u64) -> Entry {
    let (end, cause) = (End::Success, Cause::Ok);
    Entry::Attempt(Attempt {
        worker: 3,
        end,
        cause,
        scheduled_us: ended_us - 1_000,
        began_us: ended_us - 900,
        ended_us,
    })
}

/// Segments of a hundred attempts each, every attempt in a block of its own.
fn recorded(ring: &Path, segments: u64) -> u64 {
    let mut ring = Ring::new(ring, 1 << 20);
    for number in 1..=segments {
        let at = number * HOUR;
        ring.write(&[start(number), pod(at)]).expect("room on the disk");
        for second in 1..=100 {
            ring.write(&[attempt(at + second * 1_000_000)]).expect("room on the disk");
        }
    }
    ring.tally().bytes
}

fn attempts(path: &Path) -> usize {
    let recording = read_path(path).expect("a recording");
    recording
        .stretches
        .iter()
        .flat_map(|stretch| &stretch.pods)
        .flat_map(|pod| pod.attempts.values())
        .map(Vec::len)
        .sum()
}

#[test]
fn what_was_written_is_read_as_one_stretch() {
    let folder = Folder::new("whole");
    recorded(&folder.ring(), 3);
    let recording = read_path(&folder.ring()).expect("a recording");
    assert_eq!((&*recording.node, recording.stretches.len(), recording.lost), ("node-a", 1, 0));
    assert_eq!(recording.stretches[0].pods.len(), 1, "the pod's state is repeated, the pod is not");
    assert_eq!((attempts(&folder.ring()), recording.cuts.len()), (300, 0));
}

#[test]
fn every_suffix_of_the_ring_can_be_read() {
    let folder = Folder::new("suffix");
    recorded(&folder.ring(), 4);
    for left in (1..=4).rev() {
        assert_eq!(attempts(&folder.ring()), left * 100);
        fs::remove_file(&folder.segments()[0]).expect("the oldest");
    }
}

#[test]
fn segments_that_are_joined_to_one_file_are_a_recording() {
    let folder = Folder::new("joined");
    recorded(&folder.ring(), 3);
    let joined = folder.0.join("one");
    let bytes: Vec<u8> = folder.segments().iter().flat_map(|path| fs::read(path).expect("a segment")).collect();
    fs::write(&joined, bytes).expect("room");
    assert_eq!(attempts(&joined), 300);
}

#[test]
fn the_ring_keeps_its_size_and_the_newest_segments() {
    let folder = Folder::new("size");
    let bytes = recorded(&folder.ring(), 900);
    let on_disk: u64 = folder.segments().iter().map(|path| fs::metadata(path).expect("a segment").len()).sum();
    assert_eq!(bytes, on_disk);
    assert!(on_disk <= 1 << 20 && on_disk > (1 << 20) - 10_000, "{on_disk} bytes");
    let recording = read_path(&folder.ring()).expect("a recording");
    assert_eq!(recording.stretches.last().expect("a stretch").end_us, 900 * HOUR + 100_000_000);
}

#[test]
fn the_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("mode");
    recorded(&folder.ring(), 1);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&folder.ring()), mode(&folder.segments()[0])), (0o700, 0o600));
}

#[test]
fn another_engine_goes_on_in_the_same_ring_with_a_stretch_of_its_own() {
    let folder = Folder::new("engines");
    recorded(&folder.ring(), 2);
    let mut ring = Ring::new(&folder.ring(), 1 << 20);
    let other = Start { node: "node-a".into(), engine: 8, number: 1, at_us: HOUR, ..Start::default() };
    ring.write(&[Entry::Segment(Box::new(other)), pod(HOUR), attempt(HOUR + 5_000)]).expect("room on the disk");
    let recording = read_path(&folder.ring()).expect("a recording");
    assert_eq!(recording.stretches.len(), 2);
    assert_eq!(attempts(&folder.ring()), 201);
}

#[test]
fn entries_that_were_lost_are_counted_and_begin_a_stretch() {
    let folder = Folder::new("lost");
    recorded(&folder.ring(), 1);
    let mut ring = Ring::new(&folder.ring(), 1 << 20);
    let gap = Start { node: "node-a".into(), engine: 7, number: 2, lost: 12, at_us: 2 * HOUR, ..Start::default() };
    ring.write(&[Entry::Segment(Box::new(gap)), pod(2 * HOUR)]).expect("room on the disk");
    let recording = read_path(&folder.ring()).expect("a recording");
    assert_eq!((recording.stretches.len(), recording.lost), (2, 12));
}

#[test]
fn a_call_that_says_the_same_again_has_the_facts_of_the_call_before() {
    let folder = Folder::new("facts");
    let mut ring = Ring::new(&folder.ring(), 1 << 20);
    let call =
        |at_us, facts| Entry::Event { at_us, event: Box::new(Event::Called { pod: 1, call: Call::Sync(facts) }) };
    let status = StatusRecord { regular: 4, ..StatusRecord::default() };
    let entries = [start(1), pod(HOUR), call(HOUR + 1, Facts::New(status)), call(HOUR + 2, Facts::Same)];
    ring.write(&entries).expect("room on the disk");
    let recording = read_path(&folder.ring()).expect("a recording");
    let inputs = &recording.stretches[0].pods[0].inputs;
    let regular: Vec<_> = inputs.iter().map(|it| (it.at_us, it.input.facts().map(|facts| facts.regular))).collect();
    assert_eq!(regular, [(HOUR + 1, Some(4)), (HOUR + 2, Some(4))]);
}

/// The last file, cut anywhere, loses its end and no more.
#[test]
fn a_kill_costs_the_end_of_the_last_segment() {
    let folder = Folder::new("torn");
    recorded(&folder.ring(), 2);
    let paths = folder.segments();
    let [first, last] = [0, 1].map(|index| fs::read(&paths[index]).expect("a segment"));
    let mut before = 0;
    for length in 0..last.len() {
        let recording = read_files(&[("1", &first), ("2", &last[..length])]).expect("a recording");
        let found = recording.stretches[0].pods[0].attempts.values().map(Vec::len).sum::<usize>();
        assert!((100..=200).contains(&found) && found >= before, "{found} attempts of {length} bytes");
        assert!(recording.cuts.len() <= 1);
        before = found;
    }
    assert_eq!(before, 199);
}

/// The error of files that were damaged by `damage`, which gets the bytes of two segments.
fn refusal(name: &str, damage: impl FnOnce(&mut Vec<Vec<u8>>)) -> String {
    let folder = Folder::new(name);
    recorded(&folder.ring(), 2);
    let mut files: Vec<Vec<u8>> = folder.segments().iter().map(|path| fs::read(path).expect("a segment")).collect();
    damage(&mut files);
    let names = ["first", "second", "third"];
    let files: Vec<(&str, &[u8])> = names.into_iter().zip(files.iter().map(Vec::as_slice)).collect();
    read_files(&files).expect_err("it is damaged").to_string()
}

/// Where the blocks of a segment begin: after the header and the start's frame.
fn blocks(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut at = 12;
    let mut found = Vec::new();
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize + 12;
        found.push((at, length));
        at += length;
    }
    found.split_off(1)
}

#[test]
fn a_damaged_recording_is_one_line_with_the_place() {
    let cut = refusal("cut", |files| files[0].truncate(700));
    assert!(cut.starts_with("second: byte 0: this segment goes on after one that is damaged, first: byte "), "{cut}");
    let flipped = refusal("flipped", |files| files[0][900] ^= 4);
    assert!(flipped.starts_with("first: byte "), "{flipped}");
    assert!(flipped.ends_with("does not fit") || flipped.ends_with("is damaged"), "{flipped}");
    let other = refusal("version", |files| files[1][10] = b'9');
    assert_eq!(other, "second: byte 0: another version of probelet wrote it, with another format");
    let foreign = refusal("foreign", |files| files[0] = b"PK\x03\x04 and so on".to_vec());
    assert_eq!(foreign, "first: byte 0: it is not a recording of probelet's flight recorder");
    let twice = refusal("twice", |files| files.push(files[1].clone()));
    assert_eq!(twice, "third: byte 0: segment 2 of this engine comes after its segment 2");
    let doubled = refusal("doubled", |files| {
        let (at, length) = blocks(&files[0])[5];
        let block = files[0][at..at + length].to_vec();
        drop(files[0].splice(at..at, block));
    });
    assert!(doubled.ends_with("block 6 comes twice: block 7 should be here"), "{doubled}");
    let missing = refusal("missing", |files| {
        let (at, length) = blocks(&files[0])[5];
        drop(files[0].drain(at..at + length));
    });
    assert!(missing.ends_with("block 7 comes too soon: block 6 should be here"), "{missing}");
}

#[test]
fn segments_of_two_nodes_are_no_recording() {
    let folder = Folder::new("nodes");
    recorded(&folder.ring(), 1);
    let mut ring = Ring::new(&folder.ring(), 1 << 20);
    let other = Start { node: "node-b".into(), engine: 9, at_us: HOUR, ..Start::default() };
    ring.write(&[Entry::Segment(Box::new(other))]).expect("room on the disk");
    let error = read_path(&folder.ring()).expect_err("two nodes").to_string();
    assert!(error.ends_with("byte 0: it is of the node \"node-b\", and what came before of \"node-a\""), "{error}");
}

#[test]
fn what_is_no_recording_is_said_so() {
    let folder = Folder::new("nothing");
    let error = read_path(&folder.0).expect_err("an empty directory").to_string();
    assert!(error.ends_with("no segment of a flight recorder is in this directory"), "{error}");
    let error = read_path(&folder.0.join("missing")).expect_err("no file").to_string();
    assert!(error.contains("missing: it cannot be read: "), "{error}");
}

#[test]
fn a_ring_in_whose_place_another_thing_is_cannot_be_written() {
    let folder = Folder::new("link");
    fs::create_dir(folder.0.join("elsewhere")).expect("a directory");
    std::os::unix::fs::symlink(folder.0.join("elsewhere"), folder.ring()).expect("a link");
    let mut ring = Ring::new(&folder.ring(), 1 << 20);
    let error = ring.write(&[start(1)]).expect_err("a link").to_string();
    assert_eq!((&*error, ring.tally().errors), ("it is not a directory", 1));
    assert_eq!(fs::read_dir(folder.0.join("elsewhere")).expect("it is there").count(), 0);
    fs::remove_file(folder.ring()).expect("the link");
    ring.write(&[start(2), attempt(2 * HOUR)]).expect("it goes on once it can");
}

/// Microseconds: a segment begins every hour.
const HOUR: u64 = 3_600_000_000;
