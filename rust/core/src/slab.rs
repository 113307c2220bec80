//! A vector with holes, which stores pods and workers. An index stays valid until its value is removed.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// Values under small numbers. A new value may get the number of a removed one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Slab<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }

    pub(crate) const fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.values[index as usize] = Some(value);
            return index;
        }
        self.values.push(Some(value));
        u32::try_from(self.values.len() - 1).expect("fewer than 2^32 values")
    }

    pub(crate) fn remove(&mut self, index: u32) -> Option<T> {
        let value = self.values.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(value)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        self.values.get(index as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.values.get_mut(index as usize)?.as_mut()
    }

    /// Where the value under a number lies, without a look at it.
    pub(crate) fn place(&self, index: u32) -> Option<&Option<T>> {
        self.values.get(index as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        #[cfg(test)]
        crate::visits::count(self.len());
        self.values.iter().enumerate().filter_map(|(index, value)| Some((index as u32, value.as_ref()?)))
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        self.get(index).expect("the index of a live value")
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        self.get_mut(index).expect("the index of a live value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_index_is_used_again() {
        let mut slab = Slab::new();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        assert_eq!((slab.get(a), slab[b]), (None, 'b'));
        assert_eq!(slab.insert('c'), a);
        assert_eq!(slab.iter().map(|(_, &value)| value).collect::<String>(), "cb");
        assert_eq!(slab.len(), 2);
    }
}
