//! Tests of the output of `mind bench`. They do not test its figures.

use crate::support::{Answer, Folder, answer};

/// Whether the command was built with assertions, like these tests. Its figures are meaningless then.
const IS_DEBUG: bool = cfg!(debug_assertions);

const WARNING: &str =
    "warning: this is a debug build, so the measurements are meaningless: build with --release\n";

/// The output of a successful command. A debug build also prints a warning on standard error.
#[track_caller]
fn table(answer: Answer) -> String {
    let expected = if IS_DEBUG { WARNING } else { "" };
    assert_eq!((answer.code, &*answer.err), (0, expected), "{}", answer.out);
    answer.out
}

/// The cells of the table whose header begins with a word, including the header and without the line below it.
fn rows<'a>(said: &'a str, word: &str) -> Vec<Vec<&'a str>> {
    let cells = |line: &'a str| -> Option<Vec<&'a str>> {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        Some(cells.split(" | ").map(str::trim).collect())
    };
    let table = said.split("\n\n").find(|table| table.starts_with(&format!("| {word} ")));
    let mut rows: Vec<_> = table.unwrap_or_default().lines().map(|line| cells(line).expect(line)).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{said}");
    if rows.len() > 1 {
        let below = rows.remove(1);
        assert!(below.iter().all(|cell| cell.trim_end_matches(':').chars().all(|c| c == '-')), "{said}");
    }
    rows
}

fn figure(cell: &str) -> f64 {
    cell.split(' ').next().and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("{cell}"))
}

#[test]
fn the_table_names_the_machine_then_limits_then_programs() {
    let said = table(Folder::new().mind("bench --quick --threads 2 fork 1000"));
    assert_eq!(
        said.starts_with("**this is a debug build, so the measurements are meaningless"),
        IS_DEBUG,
        "{said}"
    );
    let machine: Vec<_> = rows(&said, "  ");
    let names: Vec<_> = machine.iter().map(|row| row[0]).collect();
    assert_eq!(
        names,
        ["", "processor", "caches", "SIMD level", "processors", "system", "load", "mind"],
        "{said}"
    );
    assert!(machine[1..].iter().all(|row| !row[1].is_empty()), "{said}");
    assert!(machine[7][1].starts_with(concat!(env!("CARGO_PKG_VERSION"), ", ")), "{said}");

    let limits = rows(&said, "limits");
    assert_eq!(limits[0], ["limits", "2 threads", ""]);
    assert!(limits.iter().any(|row| row[0] == "fork" && row[2] == "µs"), "{said}");
    assert!(limits.iter().any(|row| row[0].starts_with("copy ") && row[2] == "GB/s"), "{said}");

    let programs = rows(&said, "programs");
    assert_eq!(programs[0], ["programs", "2 threads", "", "of limit"]);
    let names: Vec<_> = programs[1..].iter().map(|row| row[0]).collect();
    assert_eq!(
        names,
        [
            "add f32 1000",
            "add f32 1000000",
            "exp f32 1000",
            "exp f32 1000000",
            "exp f64 1000000",
            "chain f32 1000000",
            "sum f32 1000000",
            "sum f64 1000000"
        ]
    );
    for row in &programs[1..] {
        assert!(figure(row[1]) > 0.0 && row[2].ends_with(" GB/s"), "{row:?}");
        let held_against = row[3].split_once(" % ").expect("a part of a limit").1;
        assert!(held_against.starts_with("copy ") || held_against.starts_with("read "), "{row:?}");
        assert!(limits.iter().any(|limit| limit[0] == held_against), "{row:?}");
    }
}

#[test]
fn one_thread_and_all_are_measured_unless_it_is_said_how_many() {
    let folder = Folder::new();
    let mut command = folder.command("bench --quick peak fork 32x32x32");
    let said = table(answer(command.env("MIND_NUM_THREADS", "2")));
    let limits = rows(&said, "limits");
    assert_eq!(limits[0], ["limits", "1 thread", "2 threads", ""]);
    assert_eq!(rows(&said, "programs")[0][1..], ["1 thread", "", "of limit", "2 threads", "", "of limit"]);
    for row in &limits[1..] {
        // With one thread there is no fork.
        assert!(if row[0].starts_with("fork") { row[1] == "–" } else { figure(row[1]) > 0.0 }, "{said}");
    }
    let folder = Folder::new();
    let mut command = folder.command("bench --quick peak");
    let said = table(answer(command.env("MIND_NUM_THREADS", "1")));
    assert_eq!(rows(&said, "limits")[0], ["limits", "1 thread", ""]);
}

#[test]
fn words_choose_rows_and_what_they_are_held_against_is_shown() {
    let said = table(Folder::new().mind("bench --quick --threads 1 32x32x32"));
    let limits = rows(&said, "limits");
    assert_eq!(limits.len(), 2, "{said}");
    assert!(limits[1][0].starts_with("peak f32 ") && limits[1][2] == "GFLOP/s", "{said}");
    let programs = rows(&said, "programs");
    assert_eq!(programs.len(), 2, "{said}");
    assert_eq!(programs[1][0], "product f32 32x32x32");
    assert!(programs[1][3].ends_with(&format!(" % {}", limits[1][0])), "{said}");
    let limits_alone = table(Folder::new().mind("bench --quick --threads 1 peak"));
    assert_eq!(rows(&limits_alone, "programs"), Vec::<Vec<&str>>::new());
}

#[test]
fn the_level_is_the_one_asked_for() {
    let folder = Folder::new();
    let mut command = folder.command("bench --quick --threads 1 32x32x32 peak");
    let said = table(answer(command.env("MIND_SIMD", "portable")));
    assert!(rows(&said, "  ").iter().any(|row| row == &["SIMD level", "portable"]), "{said}");
    let names: Vec<_> = rows(&said, "limits")[1..].iter().map(|row| row[0]).collect();
    assert_eq!(names, ["peak f32 portable", "peak f64 portable"]);
    assert!(rows(&said, "programs")[1][3].ends_with(" % peak f32 portable"), "{said}");
}

#[test]
fn wrong_words_and_counts_are_refused_before_anything_is_measured() {
    let said = Folder::new().mind("bench peak warp").misuse();
    assert!(
        said.starts_with("error: no row has `warp` in its name\n  help: the rows are peak f32 portable, "),
        "{said}"
    );
    assert!(
        said.contains(", fork asleep, product f32 32x32x32, ")
            && said.ends_with(", step f32 32x784x256x10\n"),
        "{said}"
    );
    for wrong in ["bench --threads 0", "bench --threads 257", "bench --threads many"] {
        assert!(Folder::new().mind(wrong).misuse().contains("--threads <COUNT>"), "{wrong}");
    }
    assert!(Folder::new().mind("bench --fast").misuse().contains("unexpected argument '--fast'"));
}

/// The limit is on the address space of the process, which other systems do not enforce.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_cannot_be_had_is_an_error() {
    let mut command = assert_cmd::Command::new("sh");
    let limited = "ulimit -v 200000; exec \"$0\" bench --quick --threads 1 'read memory'";
    let answer = answer(command.args(["-c", limited, env!("CARGO_BIN_EXE_mind")]));
    assert_eq!((answer.code, &*answer.out), (2, ""), "{}", answer.err);
    let said = answer.err.trim_start_matches(WARNING);
    assert!(said.starts_with("error: cannot measure `read memory`: E6004: cannot allocate f32["), "{said}");
    assert!(said.contains("\n  help: give words to select rows"), "{said}");
}
