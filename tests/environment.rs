//! SIMD levels and threads as set by the environment, and by `set_threads`, which overrides it. Both are fixed for a
//! process, so each case is a child process.

use mind::{SimdLevel, set_threads, simd_level, threads};
use mind_tests::child;

/// Marks a child process.
const CHILD: &str = "MIND_ENVIRONMENT_CHILD";

/// The output of a child with these variables: the level, the threads, and the threads after `set_threads(2)` and after
/// `set_threads(0)`.
fn seen(variables: &[(&str, &str)]) -> String {
    let output = child(module_path!(), "a_child_process_says_what_it_sees")
        .arg("--nocapture")
        .env_remove("MIND_SIMD")
        .env_remove("MIND_NUM_THREADS")
        .env(CHILD, "1")
        .envs(variables.iter().copied())
        .output()
        .expect("the binary can be run again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let (_, seen) = text.split_once("seen: ").expect("the child says what it sees");
    seen.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_child_process_says_what_it_sees() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let (level, first) = (simd_level(), threads());
    set_threads(2);
    let told = threads();
    set_threads(0);
    println!("seen: {level:?} {first} {told} {}", threads());
}

#[test]
fn the_environment_lowers_the_level() {
    let best: &str = &seen(&[]);
    let best = best.split(' ').next().expect("a level");
    let levels = [SimdLevel::Portable, SimdLevel::Avx2, SimdLevel::Avx512];
    let best = levels.into_iter().find(|level| format!("{level:?}") == best).expect("a level");
    for (name, asked) in [
        ("portable", SimdLevel::Portable),
        ("avx2", SimdLevel::Avx2),
        ("AVX512", SimdLevel::Avx512),
        ("", SimdLevel::Avx512),
        ("fastest", SimdLevel::Avx512),
    ] {
        let expected = format!("{:?} ", asked.min(best));
        let seen = seen(&[("MIND_SIMD", name)]);
        assert!(seen.starts_with(&expected), "{name:?} gives {seen}, needed {expected}");
    }
}

#[test]
fn set_threads_overrides_the_environment_and_0_gives_it_back() {
    let threads = |number| {
        let seen = seen(&[("MIND_NUM_THREADS", number)]);
        seen.split(' ').skip(1).map(|number| number.parse().expect("a number")).collect::<Vec<usize>>()
    };
    assert_eq!(threads("3"), [3, 2, 3]);
    assert_eq!(threads(" 1 "), [1, 2, 1]);
    assert_eq!(threads("100000"), [256, 2, 256]);
    let available = std::thread::available_parallelism().map_or(1, usize::from).min(256);
    for nothing in ["0", "two", "-1", ""] {
        assert_eq!(threads(nothing), [available, 2, available], "{nothing:?}");
    }
}
