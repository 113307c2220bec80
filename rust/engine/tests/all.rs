//! The tests of the engine's files, in one program. Beside it are the tests that need a process of their own.

mod journal;
mod recorder;
