//! Which characters Go prints and which it escapes: it prints the graphic ones of Unicode 15.0, while Rust's tables are
//! newer.

/// Whether `%q` prints a character beyond ASCII unescaped (`strconv.IsPrint`, Go 1.26).
pub(crate) fn is_print(c: char) -> bool {
    // Rust escapes the same characters after another one (where it leaves marks alone), except those of newer Unicode
    // versions.
    let after_another: String = ['a', c].into_iter().collect();
    after_another.escape_debug().eq(after_another.chars()) && !is_younger(u32::from(c))
}

fn is_younger(c: u32) -> bool {
    let behind = YOUNGER.partition_point(|&(first, _)| first <= c);
    behind > 0 && c <= YOUNGER[behind - 1].1
}

/// Ranges that hold no graphic character of Unicode 15.0, but some of 15.1 to 17.0.
#[rustfmt::skip]
const YOUNGER: [(u32, u32); 53] = [
    (0x88f, 0x897), (0xc5c, 0xc5c), (0xcdc, 0xcdc), (0x1acf, 0x1aeb), (0x1b4e, 0x1b4f), (0x1b7f, 0x1b7f),
    (0x1c89, 0x1c8a), (0x20c1, 0x20c1), (0x2427, 0x2429), (0x2b96, 0x2b96), (0x2ffc, 0x2fff), (0x31e4, 0x31ef),
    (0xa7cb, 0xa7cf), (0xa7d2, 0xa7d2), (0xa7d4, 0xa7d4), (0xa7da, 0xa7f1), (0xfbc3, 0xfbd2), (0xfd90, 0xfd91),
    (0xfdc8, 0xfdce), (0x105c0, 0x105f3), (0x10940, 0x10959), (0x10d40, 0x10d8f), (0x10ec2, 0x10efc),
    (0x11380, 0x113e2), (0x116d0, 0x116e3), (0x11b60, 0x11bf9), (0x11db0, 0x11de9), (0x11f5a, 0x11f5a),
    (0x13460, 0x143fa), (0x16100, 0x16139), (0x16d40, 0x16d79), (0x16ea0, 0x16ed3), (0x16ff2, 0x16ff6),
    (0x187f8, 0x187ff), (0x18cff, 0x18cff), (0x18d09, 0x18df2), (0x1cc00, 0x1cef0), (0x1e5d0, 0x1e6ff),
    (0x1f6d8, 0x1f6d8), (0x1f777, 0x1f77a), (0x1f8b2, 0x1f8d8), (0x1fa54, 0x1fa57), (0x1fa89, 0x1fa8f),
    (0x1fabe, 0x1fabe), (0x1fac6, 0x1facd), (0x1fadc, 0x1fadf), (0x1fae9, 0x1faef), (0x1fbcb, 0x1fbef),
    (0x1fbfa, 0x1fbfa), (0x2b73a, 0x2b73f), (0x2cea2, 0x2cead), (0x2ebf0, 0x2ee5d), (0x323b0, 0x33479),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_younger_than_go_are_escaped() {
        for c in ['\u{88f}', '\u{c5c}', '\u{1fae9}', '\u{33479}', '\u{200b}', '\u{10ffff}', '\u{1f98b}'] {
            assert_eq!(is_print(c), c == '\u{1f98b}', "{:x}", u32::from(c));
        }
        assert!(is_print('\u{88e}') && is_print('\u{898}'), "the neighbours of a range");
    }

    #[test]
    fn ranges_in_order() {
        assert!(YOUNGER.windows(2).all(|two| two[0].1 < two[1].0) && YOUNGER.iter().all(|(first, last)| first <= last));
    }
}
