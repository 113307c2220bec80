//! What callers learn of the journal: a token once it has what they know. And a journal on a disk that hangs: probes go on
//! in time, and the log says so. A named pipe is such a disk, because opening it for writing waits for a reader.

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::backoff::Curve;
use probelet_core::results::ProbeResult;
use serde_json::Value;

use super::super::backoff_table::BackoffTable;
use super::super::journal::JournalOptions;
use super::rig::{Rig, container_id, uid};
use crate::journal::{read, read_file};

/// A directory of its own for a journal.
struct Disk(PathBuf);

impl Disk {
    fn that_works(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("probelet-disk-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    /// The journal cannot be written: something that is no file has its place.
    fn that_refuses(name: &str) -> Self {
        let disk = Self::that_works(name);
        std::fs::create_dir(disk.pipe()).expect("a directory");
        disk
    }

    /// The journal cannot be written until somebody reads the pipe in its place.
    fn that_hangs(name: &str) -> Self {
        let disk = Self::that_works(name);
        let pipe = CString::new(disk.pipe().as_os_str().as_bytes()).expect("a path");
        // SAFETY: the pointer is to a string that ends in NUL and lives until the call returns.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        disk
    }

    /// Where a whole new journal is written before it is renamed.
    fn pipe(&self) -> PathBuf {
        self.0.join("journal.new")
    }

    fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }

    fn options(&self) -> JournalOptions {
        JournalOptions { path: self.journal(), table: Arc::new(BackoffTable::new(Curve::default())) }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn probes_go_on_while_the_disk_hangs_and_the_journal_goes_on_after_it() {
    let disk = Disk::that_hangs("goes-on");
    let rig = Rig::new(2, 1, Some(disk.options()));
    rig.probed(3, 2);
    // The first write was due 100 ms after the first result; so much later the engine says that it hangs.
    rig.engine.advance(Duration::from_secs(6));
    rig.noticed("journal: the disk hangs");
    rig.probed(3, 3);
    let mut pipe = File::open(disk.pipe()).expect("the thread waits to write");
    rig.noticed("journal: the write that hung has ended");
    rig.probed(3, 1);
    rig.into_engine().close();
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).expect("all that was written");
    let kept = read(&bytes).expect("a journal").contents;
    let results: Vec<_> = kept.workers.values().map(|worker| worker.result).collect();
    assert_eq!(results, [Some(ProbeResult::Success); 3]);
}

/// The ends of the last attempts of a pod's worker.
fn ends(rig: &Rig, pod: usize) -> Vec<i64> {
    let states: Value = serde_json::from_slice(&rig.engine.probe_states(Some(&uid(pod)), 64)).expect("JSON");
    let attempts = states[0]["history"]["attempts"].as_array().expect("a list of attempts");
    attempts.iter().map(|attempt| attempt["at_ms"].as_i64().expect("a number")).collect()
}

#[test]
fn a_worker_goes_on_with_its_history_after_the_end_of_an_engine_and_of_a_container() {
    let disk = Disk::that_works("history");
    let rig = Rig::new(1, 0, Some(disk.options()));
    rig.probed(1, 5);
    rig.restart(1, 1);
    rig.probed(1, 2);
    let before = ends(&rig, 0);
    assert!(before.len() >= 6, "{before:?}");
    rig.into_engine().close();
    let rig = Rig::new(1, 0, Some(disk.options()));
    rig.probed(1, 2);
    let after = ends(&rig, 0);
    assert_eq!(after[..before.len()], before);
    assert!(after.len() > before.len() && after.is_sorted(), "{after:?}");
}

#[test]
fn pods_that_come_and_go_by_the_thousand_while_the_disk_hangs_are_not_in_the_journal_after_it() {
    let disk = Disk::that_hangs("churn");
    let rig = Rig::new(1, 1, Some(disk.options()));
    rig.probed(2, 2);
    let others = 2..2 + MANY;
    rig.add_execs(others.clone());
    rig.probed(2 + MANY, 1);
    rig.remove(others);
    rig.gone(MANY);
    let mut pipe = File::open(disk.pipe()).expect("the thread waits to write");
    rig.probed(2, 2);
    rig.into_engine().close();
    let mut bytes = Vec::new();
    // The pipe has what the first write was to say; what followed is in a file.
    pipe.read_to_end(&mut bytes).expect("all that was written");
    let kept = read_file(&disk.journal()).expect("a journal").contents;
    let uids: Vec<_> = kept.workers.keys().map(|key| key.pod_uid.to_string()).collect();
    assert_eq!(uids, [uid(0), uid(1)]);
}

#[test]
fn the_end_does_not_wait_for_a_disk_that_hangs_and_says_what_is_missing() {
    let disk = Disk::that_hangs("end");
    let rig = Rig::new(1, 0, Some(disk.options()));
    rig.probed(1, 2);
    let mut engine = rig.into_engine();
    engine.close();
    let notices: Vec<String> = engine.mailbox().drain().notices.into_iter().map(|notice| notice.text).collect();
    let missing = "journal: the last changes were not written before the end; the next start does not know them";
    assert_eq!(notices, [missing]);
}

#[test]
fn a_token_comes_once_the_file_has_every_result_that_is_known() {
    let disk = Disk::that_works("tokens");
    let rig = Rig::new(PODS, 0, Some(disk.options()));
    for life in 0..10 {
        if life > 0 {
            rig.restart(PODS, life);
            rig.engine.advance(Duration::from_secs(1));
        }
        rig.known(PODS);
        rig.engine.when_journalled(life as u64);
        rig.token(life as u64);
        // A process that is killed now has told nobody of more than the file has.
        let kept = read_file(&disk.journal()).expect("a journal").contents;
        let found: Vec<_> = kept.workers.values().map(|worker| (&*worker.container_id, worker.result)).collect();
        let ids: Vec<_> = (0..PODS).map(|pod| container_id(pod, life)).collect();
        assert_eq!(found, ids.iter().map(|id| (&**id, Some(ProbeResult::Success))).collect::<Vec<_>>());
    }
}

#[test]
fn a_token_comes_at_once_if_nothing_waits_to_be_written() {
    let disk = Disk::that_works("nothing");
    let rig = Rig::new(0, 0, Some(disk.options()));
    rig.engine.when_journalled(7);
    rig.token(7);
    let without = Rig::new(0, 0, None);
    without.engine.when_journalled(8);
    without.token(8);
}

#[test]
fn a_token_does_not_wait_for_a_disk_that_hangs_or_refuses() {
    let disk = Disk::that_hangs("token");
    let rig = Rig::new(1, 0, Some(disk.options()));
    rig.probed(1, 1);
    rig.engine.when_journalled(1);
    rig.probed(1, 1);
    rig.engine.when_journalled(2);
    rig.engine.advance(Duration::from_secs(6));
    rig.token(1);
    rig.token(2);
    rig.engine.when_journalled(3);
    rig.token(3);
    let refusing = Disk::that_refuses("refused-token");
    let rig = Rig::new(1, 0, Some(refusing.options()));
    rig.probed(1, 1);
    rig.engine.when_journalled(4);
    rig.token(4);
    rig.engine.when_journalled(5);
    rig.token(5);
}

const PODS: usize = 3;

/// More than the journal notes one by one.
const MANY: usize = 10_001;
