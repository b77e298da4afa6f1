//! Tests of environment variables. Each starts processes, as variables belong to a process.

mod environment;
mod profile;
mod watching;
