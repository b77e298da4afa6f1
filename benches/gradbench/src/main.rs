//! `mind` as a tool of [GradBench](https://github.com/gradbench/gradbench): it reads the messages of an eval as JSON
//! lines and answers each. The README says how to run it.

mod evals;
mod protocol;

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = protocol::answer(&line?).map_err(io::Error::other)?;
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
