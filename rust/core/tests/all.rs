//! The tests of the core, in one program: each program of its own would be linked with everything again.

mod change;
mod driver;
mod enhanced;
mod initialization;
mod laws;
mod memory;
mod options;
mod pace;
mod pods;
mod single;
mod spread;
mod status;
mod ticks;
mod upstream;
mod wall;
