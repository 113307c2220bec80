//! Bytes on disk for an attempt that the flight recorder writes, with a block a second as on a node.
//!
//! Not a criterion benchmark, since nothing is timed. `--test` takes a hundredth of the attempts.

use probelet_benches::recorded;
use probelet_engine::recorder::Ring;
use probelet_play::recording::Entry;

fn main() {
    let attempts = if std::env::args().any(|argument| argument == "--test") { ATTEMPTS / 100 } else { ATTEMPTS };
    for per_second in [1, 10, 100] {
        let folder = std::env::temp_dir().join(format!("probelet-bench-{}", std::process::id()));
        let mut ring = Ring::new(&folder, 1 << 30);
        ring.write(&[Entry::Segment(Box::default())]).expect("room on the disk");
        let head = ring.tally().written;
        let entries: Vec<Entry> = (0..attempts).map(|number| Entry::Attempt(recorded(number))).collect();
        entries.chunks(per_second).for_each(|second| ring.write(second).expect("room on the disk"));
        let bytes = (ring.tally().written - head) as f64 / attempts as f64;
        println!("recording: {bytes:.1} bytes for an attempt, at {per_second} a second");
        std::fs::remove_dir_all(folder).expect("the ring");
    }
}

const ATTEMPTS: u64 = 100_000;
