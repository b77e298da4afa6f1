//! Tests that a process that is killed at any moment of a write leaves a complete file.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mind_files::{Names, replace, safetensors};
use mind_rt::optim::Adam;
use mind_rt::{Rng, Tensor, Xoshiro256};

type Run = Adam<Vec<Tensor![f32; 2048]>>;

const KILLS: usize = 200;
const TEST: &str = "killed::a_process_killed_at_200_moments_leaves_a_whole_file_each_time";
/// Environment variables of the writer: the file, and the number of bytes after which a writer stops in the middle.
const FILE: &str = "MIND_FILES_KILLED_FILE";
const STOP: &str = "MIND_FILES_KILLED_STOP";

/// A run after `steps` steps: every element is this number.
fn run(steps: i64) -> Run {
    let layers = || vec![Tensor::full(steps as f32); 4];
    Adam { mean: layers(), square: layers(), steps }
}

/// The number of steps of the run in a file. Checks that the file is complete.
fn steps(path: &Path) -> i64 {
    let mut found = run(-1);
    safetensors::load(path, &mut found).expect("the file is whole");
    assert_eq!(found, run(found.steps));
    found.steps
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("safetensors.part")
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("the parent reads");
}

/// The work of the killed process: it continues a run and saves every step.
fn write_until_killed(path: &Path) {
    let first = steps(path) + 1;
    if let Ok(stop) = std::env::var(STOP) {
        let stop: usize = stop.parse().expect("a number of bytes");
        let bytes = safetensors::to_bytes(&run(first), &Names::same()).expect("names differ");
        let stopped = replace(path, |file| {
            file.write_all(&bytes[..stop])?;
            say("stopped");
            // Waits until the parent kills this process or ends.
            std::io::stdin().read_line(&mut String::new())?;
            file.write_all(&bytes[stop..])
        });
        stopped.expect("it is written");
        return;
    }
    for step in first.. {
        safetensors::save(path, &run(step)).expect("it is written");
        say(&format!("step {step}"));
    }
}

fn writer(path: &Path, stop: Option<usize>) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("the test is a program"));
    command.args([TEST, "--exact", "--nocapture"]).env(FILE, path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(stop) = stop {
        command.env(STOP, stop.to_string());
    }
    command.spawn().expect("it starts")
}

#[test]
fn a_process_killed_at_200_moments_leaves_a_whole_file_each_time() {
    if let Some(path) = std::env::var_os(FILE) {
        return write_until_killed(Path::new(&path));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.safetensors");
    safetensors::save(&path, &run(0)).expect("it is written");
    let length = fs::metadata(&path).expect("it is there").len();
    let mut random = Xoshiro256::new(7);
    let mut last = 0;
    for kill in 0..KILLS {
        let moment = random.next_u64() % length;
        // Half of the writers stop at an exact byte. The others are killed when the growing file is found to have
        // passed that byte.
        let stop = (kill % 2 == 0).then_some(moment as usize);
        let mut child = writer(&path, stop);
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let begun =
            lines.by_ref().map_while(Result::ok).find(|line| line == "stopped" || line.starts_with("step "));
        let begun = begun.expect("it begins");
        if stop.is_none() {
            for _ in 0..5_000 {
                if fs::metadata(beside(&path)).is_ok_and(|part| part.len() > moment) {
                    break;
                }
            }
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let told = [begun].into_iter().chain(lines.map_while(Result::ok));
        let told = told.filter_map(|line| line.strip_prefix("step ")?.parse().ok()).last();
        let found = steps(&path);
        match stop {
            Some(_) => {
                assert_eq!(found, last, "an unfinished save leaves no trace");
                assert!(fs::metadata(beside(&path)).expect("it stays").len() < length);
            }
            None => assert!(found >= told.expect("a step was told"), "a reported save is there"),
        }
        last = found;
    }
    safetensors::save(&path, &run(last)).expect("the file left beside is used again");
    assert_eq!(fs::read_dir(folder.path()).expect("it is a folder").count(), 1);
}

#[test]
fn two_do_not_write_one_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.safetensors");
    replace(&path, |file| {
        let error = safetensors::save(&path, &run(1)).expect_err("another is writing it").to_string();
        assert!(error.contains("cannot write the file: another writer holds "), "{error}");
        file.write_all(b"whole")
    })
    .expect("it is written");
    assert_eq!(fs::read(&path).expect("it is there"), b"whole");
}
