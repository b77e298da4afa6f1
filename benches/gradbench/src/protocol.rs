//! The messages of GradBench's protocol.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::evals;

/// A message of an eval.
#[derive(Deserialize)]
struct Message {
    id: i64,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kind {
    Start,
    Define { module: String },
    Evaluate { module: String, function: String, input: Value },
    Analysis,
    End,
}

/// The error of a call.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An unknown module.
    #[error("there is no module `{0}`")]
    Module(String),
    /// An unknown function of a module.
    #[error("the module has no function `{0}`")]
    Function(String),
    /// An input that is not of the type that the function takes.
    #[error("cannot read the input: {0}")]
    Input(#[from] serde_json::Error),
    /// A number of elements that does not fit the shape.
    #[error("the input has the wrong shape: {0}")]
    Shape(#[from] mind::Error),
}

/// The answer to a message, as a line of JSON.
///
/// # Errors
/// If the message is not one of the protocol.
pub fn answer(line: &str) -> Result<Value, serde_json::Error> {
    let Message { id, kind } = serde_json::from_str(line)?;
    Ok(match kind {
        Kind::Start => json!({ "id": id, "tool": "mind" }),
        Kind::Define { module } => json!({ "id": id, "success": evals::find(&module).is_ok() }),
        Kind::Evaluate { module, function, input } => {
            match evals::find(&module).and_then(|evaluate| evaluate(&function, input)) {
                Ok(Evaluation { output, timings }) => {
                    let timing = |time: &Duration| json!({ "name": "evaluate", "nanoseconds": u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) });
                    let timings: Vec<Value> = timings.iter().map(timing).collect();
                    json!({ "id": id, "success": true, "output": output, "timings": timings })
                }
                Err(failure) => json!({ "id": id, "success": false, "error": failure.to_string() }),
            }
        }
        Kind::Analysis | Kind::End => json!({ "id": id }),
    })
}

/// The output of a function, and the time of each of its runs.
pub struct Evaluation {
    output: Value,
    timings: Vec<Duration>,
}

/// How often a function runs: at least this often and this long.
struct Runs {
    least: u64,
    seconds: f64,
}

/// An input, and how often the function is to run on it.
pub struct Call<I> {
    pub input: I,
    runs: Runs,
}

impl<I: DeserializeOwned> Call<I> {
    /// # Errors
    /// If the input has another form.
    pub fn new(input: Value) -> Result<Self, Failure> {
        let least = input.get("min_runs").and_then(Value::as_u64).unwrap_or(1);
        let seconds = input.get("min_seconds").and_then(Value::as_f64).unwrap_or(0.0);
        let runs = Runs { least, seconds };
        Ok(Self { input: serde_json::from_value(input)?, runs })
    }
}

impl<I> Call<I> {
    /// Replaces the input by what the function takes, which is prepared once.
    ///
    /// # Errors
    /// Those of `prepare`.
    pub fn prepared<P>(self, prepare: impl FnOnce(I) -> Result<P, Failure>) -> Result<Call<P>, Failure> {
        Ok(Call { input: prepare(self.input)?, runs: self.runs })
    }

    /// Runs a function as often and as long as asked for. `shown` is the output of the last run as JSON.
    pub fn run<T>(&self, function: impl Fn(&I) -> T, shown: impl FnOnce(T) -> Value) -> Evaluation {
        let (mut timings, mut total) = (Vec::new(), Duration::ZERO);
        loop {
            let start = Instant::now();
            let output = black_box(function(black_box(&self.input)));
            let time = start.elapsed();
            timings.push(time);
            total += time;
            if timings.len() as u64 >= self.runs.least && total.as_secs_f64() >= self.runs.seconds {
                return Evaluation { output: shown(output), timings };
            }
        }
    }
}
