//! `$(VAR)` against a second version of Kubernetes' own expansion loop, which works byte by byte.

use probelet_core::expand::expand;

/// Plays one input: `NAME=value`, a line feed, and the text.
pub fn play(bytes: &[u8]) {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let (variable, text) = input.split_once('\n').unwrap_or(("", input));
    let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
    let lookup = |asked: &str| (asked == name).then(|| value.to_owned());
    assert_eq!(expand(text, lookup), model(text, lookup));
}

/// The model: third_party/forked/golang/expansion/expand.go:Expand and tryReadVariableName, Kubernetes 1.36.
fn model(input: &str, lookup: impl Fn(&str) -> Option<String>) -> String {
    let bytes = input.as_bytes();
    let mut output = Vec::new();
    let (mut checkpoint, mut cursor) = (0, 0);
    while cursor < bytes.len() {
        if bytes[cursor] == b'$' && cursor + 1 < bytes.len() {
            output.extend_from_slice(&bytes[checkpoint..cursor]);
            let (read, is_variable, advance) = variable_name(&input[cursor + 1..]);
            if is_variable {
                let found = lookup(&read).unwrap_or_else(|| format!("$({read})"));
                output.extend_from_slice(found.as_bytes());
            } else {
                output.extend_from_slice(read.as_bytes());
            }
            cursor += advance;
            checkpoint = cursor + 1;
        }
        cursor += 1;
    }
    output.extend_from_slice(&bytes[checkpoint.min(bytes.len())..]);
    String::from_utf8(output).expect("pieces of texts, cut at ASCII")
}

/// The text after a dollar, whether it names a variable, and how many bytes it takes.
fn variable_name(input: &str) -> (String, bool, usize) {
    match input.as_bytes()[0] {
        b'$' => ("$".to_owned(), false, 1),
        b'(' => match input[1..].find(')') {
            Some(end) => (input[1..1 + end].to_owned(), true, end + 2),
            None => ("$(".to_owned(), false, 1),
        },
        _ => {
            let first = input.chars().next().expect("not empty");
            (format!("${first}"), false, first.len_utf8())
        }
    }
}
