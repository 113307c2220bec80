//! What the end of an attempt costs that a worker remembers: an attempt that went well, as nearly all do, and one that
//! failed, whose text is kept.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use probelet_benches::past;
use probelet_play::history::History;

fn history(criterion: &mut Criterion) {
    for (name, is_good) in [("attempt remembered", true), ("failed attempt remembered", false)] {
        let (mut history, mut number) = (History::default(), 0_u32);
        criterion.bench_function(name, |bench| {
            bench.iter(|| {
                number += 1;
                let text = if is_good { "" } else { "HTTP probe failed with statuscode: 503" };
                black_box(history.add(&past(number, is_good), text))
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
