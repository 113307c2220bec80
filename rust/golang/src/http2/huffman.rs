//! HPACK's Huffman code (RFC 7541, 5.2 and appendix B).

use std::sync::LazyLock;

/// A text whose code is undone byte by byte.
#[derive(Debug)]
pub(super) struct Huffman {
    node: usize,
    /// Bits since the last whole symbol, and whether all of them are ones.
    bits: u32,
    are_ones: bool,
}

impl Default for Huffman {
    fn default() -> Self {
        Self { node: ROOT, bits: 0, are_ones: true }
    }
}

impl Huffman {
    /// Undoes the code of one more byte and calls `emit` for each byte of the text; None for the symbol that ends a
    /// text.
    pub(super) fn decode(&mut self, coded: u8, mut emit: impl FnMut(u8)) -> Option<()> {
        for shift in (0..8).rev() {
            let bit = usize::from(coded >> shift & 1);
            self.bits += 1;
            self.are_ones &= bit == 1;
            match TREE[self.node][bit] {
                Branch::Node(next) => self.node = next,
                Branch::Symbol(symbol) => {
                    emit(symbol);
                    *self = Self::default();
                }
                Branch::End => {
                    *self = Self::default();
                    return None;
                }
            }
        }
        Some(())
    }

    /// Whether the text may end here: the rest must be the beginning of the end symbol, which consists of ones.
    pub(super) const fn may_end(self) -> bool {
        self.bits < 8 && self.are_ones
    }
}

#[derive(Clone, Copy, Debug)]
enum Branch {
    Node(usize),
    Symbol(u8),
    End,
}

/// The code is canonical: among symbols of one length the codes follow each other, so the lengths define all codes.
static TREE: LazyLock<Vec<[Branch; 2]>> = LazyLock::new(|| {
    let mut symbols: Vec<usize> = (0..LENGTHS.len()).collect();
    symbols.sort_by_key(|&symbol| LENGTHS[symbol]);
    let mut tree = vec![[Branch::End; 2]];
    let (mut code, mut length) = (0u32, LENGTHS[symbols[0]]);
    for symbol in symbols {
        code <<= LENGTHS[symbol] - length;
        length = LENGTHS[symbol];
        let mut node = ROOT;
        for shift in (1..length).rev() {
            let bit = (code >> shift & 1) as usize;
            if let Branch::End = tree[node][bit] {
                tree.push([Branch::End; 2]);
                tree[node][bit] = Branch::Node(tree.len() - 1);
            }
            let Branch::Node(next) = tree[node][bit] else { unreachable!("no code begins with another") };
            node = next;
        }
        // The last symbol is the one that ends a text; it stands for no byte.
        tree[node][(code & 1) as usize] = u8::try_from(symbol).map_or(Branch::End, Branch::Symbol);
        code += 1;
    }
    tree
});

const ROOT: usize = 0;
/// The bits of each byte's code, and of the end symbol's.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(coded: &[u8]) -> Option<Vec<u8>> {
        let (mut huffman, mut plain) = (Huffman::default(), Vec::new());
        coded.iter().try_for_each(|&byte| huffman.decode(byte, |symbol| plain.push(symbol)))?;
        huffman.may_end().then_some(plain)
    }

    #[test]
    fn examples_of_the_standard() {
        let coded = [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
        assert_eq!(decode(&coded).as_deref(), Some(&b"www.example.com"[..]));
        assert_eq!(decode(&[0x64, 0x02]).as_deref(), Some(&b"302"[..]));
        assert_eq!(decode(&[]).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn bad_ends() {
        assert_eq!(decode(&[0xff]), None, "eight bits of padding");
        assert_eq!(decode(&[0x1c]), None, "padding of zeros");
        assert_eq!(decode(&[0xff, 0xff, 0xff, 0xff]), None, "the symbol that ends a text");
    }
}
