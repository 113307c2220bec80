//! Expands `$(VAR)` in a command, an argument or a variable (Kubernetes third_party/forked/golang/expansion, 1.36).

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
