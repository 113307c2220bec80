//! Fuzz targets for the code that reads foreign bytes. Each target is a function of bytes that panics when a promise is
//! broken.
//!
//! libFuzzer drives the targets (`fuzz/libfuzzer`, cargo-fuzz, nightly); on any machine, `cargo run -p probelet-fuzz`
//! and `make fuzz` drive them with seeded [`mutation`]s. The seeds, and inputs that once broke a promise, lie in
//! `fuzz/corpus/TARGET`.

pub mod mutation;
mod pieces;
mod response;
pub mod target;

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::time::Instant;

/// One target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The target's name, which is also its corpus's.
    pub name: &'static str,
    /// Plays one input. It panics if a promise is broken, and returns for every other input.
    pub play: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 10] = [
    Target { name: "certificate", play: target::certificate::play },
    Target { name: "expand", play: target::expand::play },
    Target { name: "grpc", play: target::grpc::play },
    Target { name: "journal", play: target::journal::play },
    Target { name: "pod", play: target::pod::play },
    Target { name: "port", play: target::port::play },
    Target { name: "prober", play: target::prober::play },
    Target { name: "reader", play: target::reader::play },
    Target { name: "recording", play: target::recording::play },
    Target { name: "status", play: target::status::play },
];

impl Target {
    /// The target's committed inputs with their files, ordered by path.
    ///
    /// # Errors
    /// If the files cannot be read.
    pub fn corpus(&self) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus")).join(self.name);
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        paths.sort();
        paths.into_iter().map(|path| Ok((path.clone(), std::fs::read(path)?))).collect()
    }

    /// Plays every committed input: seeds, and inputs that once broke a promise. Returns how many.
    ///
    /// # Panics
    /// If an input breaks a promise, or the files cannot be read. It first prints the file and how to replay it.
    pub fn play_corpus(&self) -> usize {
        let corpus = self.corpus().expect("a corpus");
        for (path, bytes) in &corpus {
            self.play_or_say(bytes, || format!("{} (in every run of cargo test -p probelet-fuzz)", path.display()));
        }
        corpus.len()
    }

    /// Plays the inputs of a seed by their numbers, until `end` if there is one. Returns how many.
    ///
    /// # Panics
    /// If an input breaks a promise. It first prints the input and the command that replays it.
    pub fn play_mutated(&self, seed: u64, numbers: RangeInclusive<u64>, end: Option<Instant>) -> u64 {
        let corpus: Vec<Vec<u8>> = self.corpus().expect("a corpus").into_iter().map(|(_, bytes)| bytes).collect();
        let mut played = 0;
        for number in numbers {
            if end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            let bytes = mutation::mutated(&corpus, seed, number);
            self.play_or_say(&bytes, || {
                let name = self.name;
                format!("FUZZ_SEED={seed} FUZZ_INPUT={number} cargo run -p probelet-fuzz -- {name}")
            });
            played += 1;
        }
        played
    }

    fn play_or_say(&self, bytes: &[u8], how: impl Fn() -> String) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.play)(bytes))) {
            let shown = &bytes[..bytes.len().min(SHOWN_BYTES_MAX)];
            eprintln!("target {}: \"{}\"\nreplay with: {}", self.name, shown.escape_ascii(), how());
            resume_unwind(panic);
        }
    }
}

/// How many bytes of an input that broke a promise are printed; a replay shows the rest.
const SHOWN_BYTES_MAX: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_is_reported_and_its_input_can_be_replayed() {
        let fussy = Target { name: "reader", play: |bytes| assert!(!bytes.ends_with(b"\n")) };
        let broken = |number| catch_unwind(|| fussy.play_mutated(7, number..=number, None)).is_err();
        let found = (0..200).find(|&number| broken(number)).expect("an input that ends with a line feed");
        assert!(broken(found), "the same number is the same input");
    }
}
