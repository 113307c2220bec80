//! What is thrown at the parts that read what others wrote: targets, each a function of bytes that panics when a
//! promise is broken.
//!
//! libFuzzer drives them (`fuzz/libfuzzer`, cargo-fuzz, nightly), and on any machine the seeded [`mutation`]s of
//! `cargo run -p probelet-fuzz` and `make fuzz` do. Their seeds, and whatever once broke one, lie in `fuzz/corpus/TARGET`.

pub mod mutation;
mod pieces;
pub mod target;

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::time::Instant;

/// One target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    /// Plays one input. It panics if a promise is broken, and returns for every other input.
    pub play: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 8] = [
    Target { name: "expand", play: target::expand::play },
    Target { name: "grpc", play: target::grpc::play },
    Target { name: "journal", play: target::journal::play },
    Target { name: "pod", play: target::pod::play },
    Target { name: "port", play: target::port::play },
    Target { name: "prober", play: target::prober::play },
    Target { name: "reader", play: target::reader::play },
    Target { name: "status", play: target::status::play },
];

impl Target {
    /// The target's committed inputs by the names of their files, in order.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn corpus(&self) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus")).join(self.name);
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        paths.sort();
        paths.into_iter().map(|path| Ok((path.clone(), std::fs::read(path)?))).collect()
    }

    /// Plays every committed input: seeds, and what once broke a promise. Returns how many.
    ///
    /// # Panics
    /// One breaks a promise, or they cannot be read. The file is printed, and how to see it again.
    pub fn play_corpus(&self) -> usize {
        let corpus = self.corpus().expect("a corpus");
        for (path, bytes) in &corpus {
            self.play_or_say(bytes, || format!("{} (in every run of cargo test -p probelet-fuzz)", path.display()));
        }
        corpus.len()
    }

    /// Plays the inputs of a seed by their numbers, until the time if there is one. Returns how many.
    ///
    /// # Panics
    /// One breaks a promise. It is printed, and how to see it again.
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

/// Of an input that broke a promise; the rest is seen by playing it again.
const SHOWN_BYTES_MAX: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_is_not_passed_over_and_its_input_is_found_again() {
        let fussy = Target { name: "reader", play: |bytes| assert!(!bytes.ends_with(b"\n")) };
        let broken = |number| catch_unwind(|| fussy.play_mutated(7, number..=number, None)).is_err();
        let found = (0..200).find(|&number| broken(number)).expect("an input that ends so");
        assert!(broken(found), "the same number is the same input");
    }
}
