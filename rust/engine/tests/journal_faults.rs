//! A disk that takes a part of a write and refuses the rest, at every byte of it. The limit of a process's files is such
//! a disk; it counts for the whole process, so this test has a program of its own.

use std::time::Duration;

use probelet_engine::journal::{BackoffRecord, Contents, Record, Writer, read_file};

fn entry(name: &str, step: u32) -> Record {
    Record::Backoff(name.into(), BackoffRecord { delay: Duration::from_secs(10), last_start_ns: 1, step })
}

/// Lets no file of this process grow beyond so many bytes.
fn limit_files(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is to a structure of the right type, which lives until the call returns.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
}

fn contents(records: &[Record]) -> Contents {
    let mut contents = Contents::default();
    for record in records {
        contents.apply(record.clone());
    }
    contents
}

#[test]
fn a_write_that_is_cut_short_leaves_each_entry_as_it_was_or_as_it_is() {
    // SAFETY: to ignore a signal needs no care. With it the system reports EFBIG instead.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let directory = std::env::temp_dir().join(format!("probelet-faults-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir(&directory).expect("a directory");
    let path = directory.join("journal");
    let old = [entry("a", 1), entry("b", 1), entry("gone", 1)];
    let change = [Record::BackoffGone("gone".into()), entry("a", 2), entry("c", 2)];
    let [before, after] = [contents(&old), contents(&[&old[..], &change].concat())];
    for is_snapshot in [false, true] {
        for room in 0.. {
            let _ = std::fs::remove_file(&path);
            let mut writer = Writer::new(&path, Contents::default(), 0);
            writer.write(old.clone()).expect("room on the disk");
            if is_snapshot {
                // A file that was not read to its end is never appended to.
                writer = Writer::new(&path, before.clone(), 0);
            }
            let length = if is_snapshot { 0 } else { std::fs::metadata(&path).expect("a file").len() };
            limit_files(length + room);
            let is_written = writer.write(change.clone()).is_ok();
            limit_files(libc::RLIM_INFINITY);
            let found = read_file(&path).expect("a journal that is believed").contents;
            for (key, entry) in &found.backoff {
                assert!(before.backoff.get(key) == Some(entry) || after.backoff.get(key) == Some(entry), "{key}");
            }
            let untouched = |key: &str| found.backoff.contains_key(key);
            assert!(untouched("a") && untouched("b"), "{found:?}");
            assert!(!is_snapshot || found == before || found == after, "a whole new file is there, or it is not");
            // The disk comes back. A process that is killed meanwhile reads what was just read.
            writer.write([]).expect("room on the disk");
            assert_eq!(read_file(&path).expect("a journal").contents, after);
            assert_eq!(*writer.contents(), after);
            assert!(!path.with_extension("new").exists());
            if is_written {
                assert_eq!(found, after);
                break;
            }
        }
    }
    std::fs::remove_dir_all(&directory).expect("the directory");
}
