//! Tests of environment variables. Each test starts processes, because variables belong to a process.

mod environment;
mod profile;
mod watching;
