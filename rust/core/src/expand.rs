//! Expands `$(VAR)` in a command, an argument or a variable (Kubernetes third_party/forked/golang/expansion, 1.36).

/// How many bytes the values of variables may have in the text of one field, or in all exec commands of a pod. Linux
/// passes no longer text than 128 KiB to a program, and a few short variables can ask for more than a machine has.
pub const VALUES_BYTES_MAX: usize = 1 << 20;

/// Counts the values that an expansion puts in.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    left: Option<usize>,
}

impl Room {
    /// Room for so many bytes.
    pub const fn new(bytes: usize) -> Self {
        Self { left: Some(bytes) }
    }

    /// Whether there is room for a value. After the first that has none, there is none for any.
    pub fn take(&mut self, bytes: usize) -> bool {
        self.left = self.left.and_then(|left| left.checked_sub(bytes));
        self.left.is_some()
    }

    /// Whether a value had no room.
    pub const fn is_exceeded(self) -> bool {
        self.left.is_none()
    }
}

/// Replaces `$(NAME)` by `lookup(NAME)`. A name without a value stays as written, and `$$(NAME)` becomes `$(NAME)`.
pub fn expand(input: &str, mut lookup: impl FnMut(&str) -> Option<String>) -> String {
    let mut output = String::with_capacity(input.len());
    let mut rest = input;
    while let Some(dollar) = rest.find('$') {
        output.push_str(&rest[..dollar]);
        let after = &rest[dollar + 1..];
        rest = if let Some(tail) = after.strip_prefix('$') {
            output.push('$');
            tail
        } else if let Some((name, tail)) = after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            match lookup(name) {
                Some(value) => output.push_str(&value),
                None => output.extend(["$(", name, ")"]),
            }
            tail
        } else {
            output.push('$');
            after
        };
    }
    output.push_str(rest);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(input: &str) -> String {
        expand(input, |name| match name {
            "A" => Some("a".into()),
            "REF" => Some("$(A)".into()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn known_names_are_replaced_once() {
        assert_eq!(run("x$(A)y$(A)$(EMPTY)"), "xaya");
        assert_eq!(run("$(REF)"), "$(A)", "values are not themselves expanded");
    }

    #[test]
    fn room_that_is_exceeded_stays_so() {
        let mut room = Room::new(3);
        assert!(room.take(2) && room.take(1) && !room.is_exceeded());
        assert!(!room.take(1) && !room.take(0) && room.is_exceeded());
    }

    #[test]
    fn unknown_names_stay() {
        assert_eq!(run("$(NOPE)$()"), "$(NOPE)$()");
    }

    #[test]
    fn two_dollars_escape() {
        assert_eq!(run("$$(A)"), "$(A)");
        assert_eq!(run("$$$(A)"), "$a");
        assert_eq!(run("$$$$"), "$$");
    }

    #[test]
    fn text_that_is_no_reference_stays() {
        assert_eq!(run("$A $ $(A"), "$A $ $(A");
        assert_eq!(run("cost: 5$"), "cost: 5$");
    }
}
