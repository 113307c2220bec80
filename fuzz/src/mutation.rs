//! Inputs that are nearly valid: a seeded generator changes committed inputs in a few places.

use probelet_core::rng::Rng;

/// Input `number` of a seed: the same for the same corpus, whatever inputs came before it.
pub fn mutated(corpus: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let mut chance = Rng::new(seed.rotate_left(32) ^ number);
    let mut bytes = pick(corpus, &mut chance).cloned().unwrap_or_default();
    for _ in 0..=chance.below(CHANGES_MAX) {
        change(&mut bytes, corpus, &mut chance);
        bytes.truncate(BYTES_MAX);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], chance: &mut Rng) {
    let place = chance.below(bytes.len() as u64 + 1) as usize;
    let end = place + chance.below((bytes.len() - place) as u64 + 1) as usize;
    match chance.below(8) {
        0 => bytes.insert(place, chance.below(256) as u8),
        1 => drop(bytes.drain(place..end)),
        2 => bytes.truncate(place),
        3 => {
            let copy = bytes[place..end].to_vec();
            bytes.splice(place..place, copy.repeat(1 + chance.below(REPEATS_MAX) as usize));
        }
        4 => {
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 1 << chance.below(8);
            }
        }
        5 => {
            let token = TOKENS[chance.below(TOKENS.len() as u64) as usize];
            bytes.splice(place..place, token.bytes());
        }
        6 => {
            let token = TOKENS[chance.below(TOKENS.len() as u64) as usize];
            bytes.splice(place..end, token.bytes());
        }
        _ => {
            let other = pick(corpus, chance).cloned().unwrap_or_default();
            let from = chance.below(other.len() as u64 + 1) as usize;
            bytes.splice(place..end, other[from..].iter().copied());
        }
    }
}

fn pick<'a>(corpus: &'a [Vec<u8>], chance: &mut Rng) -> Option<&'a Vec<u8>> {
    corpus.get(chance.below(corpus.len() as u64) as usize)
}

const CHANGES_MAX: u64 = 6;
const REPEATS_MAX: u64 = 40;
/// Longer inputs take long and find nothing else.
const BYTES_MAX: usize = 64 * 1024;
/// Texts that one reader of numbers, lines, chunks, JSON or `$(VAR)` may treat differently from another.
const TOKENS: [&str; 48] = [
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\n\n",
    " ",
    "\t",
    ":",
    ",",
    ";",
    "\0",
    "\u{7f}",
    "\u{e9}",
    "HTTP/1.1 ",
    "HTTP/1.0 ",
    "100 Continue",
    "101 ",
    "204 ",
    "304 ",
    "Content-Length: ",
    "Transfer-Encoding: chunked\r\n",
    "Location: /\r\n",
    "Trailer: a\r\n",
    "0\r\n",
    "0\r\n\r\n",
    "ffffffffffffffff",
    "10000000000000000",
    "-1",
    "+1",
    "00",
    "0x10",
    "1e9",
    "2147483648",
    "9223372036854775807",
    "18446744073709551616",
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[[[",
    "{\"a\":",
    "\\u0000",
    "\\ud800",
    "$(",
    "$$",
    "$(A)",
    ")",
];
