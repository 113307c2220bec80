//! Plays one pod of a stretch.

use std::time::Duration;

use super::answers::{Answers, Assumption, Counts};
use super::change::Change;
use super::lives::{Kill, Lives};
use super::player::{Player, Script};
use crate::recording::{Begun, Input, PodLog, Published, Stretch};

/// What a play came to.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// The results that were published, in order.
    pub published: Vec<Published>,
    /// The verdicts that end containers. One that comes after the container's real end is of a container that would have
    /// lived on.
    pub kills: Vec<Kill>,
    /// How attempts were answered.
    pub counts: Counts,
}

/// Something that the recording says, at its time.
enum Moment<'a> {
    Wall(i64),
    Begun(&'a Begun),
    Input(&'a Input),
}

/// Plays a pod with other probes; without changes this gives what really happened.
pub fn play(stretch: &Stretch, log: &PodLog, changes: &[Change], assumption: Assumption) -> Played {
    let lives = Lives::of(log);
    let real = lives.kills(&log.results);
    let script = Script { start: &stretch.start, log, changes, lives: &lives, kills: &real, end_us: stretch.end_us };
    let mut player = Player::new(script, answers(log, assumption));
    let mut kills = Vec::new();
    player.settle();
    let moments = moments(stretch, log);
    let mut next = 0;
    while let Some(&(at_us, turned_us, _)) = moments.get(next) {
        player.play_until(turned_us, at_us);
        for (.., moment) in moments[next..].iter().take_while(|(at, ..)| *at == at_us) {
            next += 1;
            match moment {
                Moment::Wall(wall_ns) => player.set_wall(*wall_ns),
                Moment::Begun(begun) => {
                    if has_phase(log, begun) {
                        player.expect(&begun.container, begun.probe_type, begun.tick_us);
                    }
                }
                Moment::Input(input) => {
                    if assumption == Assumption::Failing {
                        kills.extend(overdue(&player, &lives, &real, at_us, false));
                    }
                    player.apply(input);
                }
            }
        }
        player.settle();
    }
    player.play_until(stretch.end_us, stretch.end_us);
    player.settle();
    if assumption == Assumption::Failing {
        kills.extend(overdue(&player, &lives, &real, stretch.end_us, true));
    }
    let mut known = lives.kills(&player.published);
    kills.retain(|kill| !known.iter().any(|other| other.container_id == kill.container_id));
    kills.dedup_by(|one, other| one.container_id == other.container_id);
    known.extend(kills);
    Played { published: player.published, kills: known, counts: player.answers.counts }
}

/// The containers that a probe really ended, that this play has not ended, and whose end comes now: when this play would
/// have ended them if they had gone on failing.
fn overdue(player: &Player<'_>, lives: &Lives, real: &[Kill], now_us: u64, is_end: bool) -> Vec<Kill> {
    let played = lives.kills(&player.published);
    let ends_now = |kill: &&Kill| {
        let ended = lives.get(&kill.container_id).and_then(|life| life.ended_us);
        let is_over = ended == Some(now_us) || ended.is_none() && is_end;
        is_over && !played.iter().any(|other| other.container_id == kill.container_id)
    };
    let living = real.iter().filter(ends_now);
    living.filter_map(|kill| player.clone().play_to_the_kill(&kill.container_id, LIMIT)).collect()
}

fn answers(log: &PodLog, assumption: Assumption) -> Answers<'_> {
    let attempts = log.attempts.iter().map(|((container, probe_type), attempts)| {
        let definition = log.record.containers.iter().find(|it| it.name == *container);
        let probe = definition.and_then(|it| it.probes[*probe_type as usize]);
        ((&**container, *probe_type), &attempts[..], probe.map_or(1, |probe| probe.timeout_seconds))
    });
    Answers::new(attempts, assumption)
}

/// All that the recording says of a pod, by time, with the engine's last turn before.
fn moments<'a>(stretch: &'a Stretch, log: &'a PodLog) -> Vec<(u64, u64, Moment<'a>)> {
    let walls = stretch.walls.iter().map(|(at, wall)| ((*at).max(log.from_us), Moment::Wall(*wall)));
    let begun = log.workers.iter().map(|begun| (begun.at_us, Moment::Begun(begun)));
    let others = walls.chain(begun).map(|(at, moment)| (at, at, moment));
    let inputs = log.inputs.iter().map(|told| (told.at_us, told.turned_us, Moment::Input(&told.input)));
    // Calls come first at their moment, because their last turn counts for it.
    let mut moments: Vec<_> = inputs.chain(others).collect();
    moments.sort_by_key(|(at, ..)| *at);
    moments
}

/// Whether the jitter of a young prober chose when the worker began: its tick is then sooner than a period away.
fn has_phase(log: &PodLog, begun: &Begun) -> bool {
    let definition = log.record.containers.iter().find(|it| it.name == begun.container);
    let probe = definition.and_then(|it| it.probes[begun.probe_type as usize]);
    let period = probe.map_or(0, |probe| u64::try_from(probe.period_seconds.max(1)).unwrap_or(1) * 1_000_000);
    begun.tick_us < begun.at_us.saturating_add(period)
}

/// For how long a container is taken to go on failing: more than any probe waits.
const LIMIT: Duration = Duration::from_secs(7 * 86_400);
