//! What the end of an attempt costs that a worker remembers: an attempt that went well, as nearly all do, and one that
//! failed, whose text is kept.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use probelet_benches::past;
use probelet_play::history::{History, PastAttempt};

fn history(criterion: &mut Criterion) {
    for (name, is_good) in [("attempt remembered", true), ("failed attempt remembered", false)] {
        let text = if is_good { "" } else { "HTTP probe failed with statuscode: 503" };
        let attempts: Vec<PastAttempt> = (0..1_024).map(|number| past(number, is_good)).collect();
        let mut attempts = attempts.iter().cycle();
        let (mut history, mut at_ms) = (History::default(), 0);
        criterion.bench_function(name, |bench| {
            bench.iter(|| {
                at_ms += 10_000;
                let attempt = attempts.next().expect("they begin anew");
                black_box(history.add(&PastAttempt { at_ms, ..*attempt }, text))
            });
        });
    }
}

fn main() {
    let configured = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(100));
    let mut criterion = configured.measurement_time(Duration::from_millis(300)).configure_from_args();
    history(&mut criterion);
    criterion.final_summary();
}
