//! Tests of `mind run --on xla` and `mind xla`, without a plugin and with the plugin that `MIND_PJRT_PLUGIN` names.

use std::{
    env, fs,
    net::{SocketAddr, TcpListener},
    path::{self, PathBuf},
    thread,
};

use crate::{
    fake_plugin::variant,
    run::{f32s, npy},
    support::{Answer, Folder, answer},
};

const VARIABLE: &str = "MIND_PJRT_PLUGIN";

const STEP: &str = "fn step<N>(x: f32[N, 4], w: &mut f32[4, 2], rate: f32) -> f32 {
    let y = x @ w;
    w -= rate * (x.T @ y);
    sum(y * y)
}";

const INPUTS: &str = "--input x=x.npy --input w=w.npy --input rate=0.25";

/// A folder with a training step, its inputs, and a file that is not a plugin.
fn step() -> Folder {
    let elements = |count: u8| (0..count).map(|at| f32::from(at % 7) * 0.5 - 1.0).collect::<Vec<_>>();
    Folder::new()
        .with("step.mind", STEP)
        .with("x.npy", f32s("8, 4", &elements(32)))
        .with("w.npy", f32s("4, 2", &elements(8)))
        .with("none.so", "no library\n")
}

/// The result of the command if the environment names no plugin.
fn mind(folder: &Folder, arguments: &str) -> Answer {
    answer(folder.command(arguments).env_remove(VARIABLE))
}

#[test]
fn a_plugin_has_to_be_named() {
    let folder = step();
    let help = "  = help: give its file with --plugin PATH or the variable MIND_PJRT_PLUGIN; `mind xla --help` says \
        where to get one\n";
    let said = mind(&folder, &format!("run step.mind {INPUTS} --on xla --output-dir out")).mistakes();
    let expected = format!("mind: error[E6002]: no PJRT plugin is given\n --> step.mind\n{help}");
    assert!(said.starts_with(&expected), "{said}");
    assert!(!folder.path("out").exists());
    let said = answer(folder.command("xla devices").env(VARIABLE, "")).mistakes();
    assert!(said.starts_with(&format!("error[E6002]: no PJRT plugin is given\n{help}")), "{said}");
    let help = folder.mind("xla --help").fine();
    assert!(help.contains("pip download --no-deps xla-cpu-pjrt"), "{help}");
}

#[test]
fn what_is_no_plugin_is_refused() {
    let folder = step();
    let run = format!("run step.mind {INPUTS} --on xla --output-dir out --plugin");
    // A file in this folder, which the system's search for libraries does not include.
    for (command, place) in [(&*run, "mind: "), ("xla devices --plugin", "")] {
        for (path, why) in
            [("none.so", "cannot load the PJRT plugin"), ("absent.so", "cannot load the PJRT plugin")]
        {
            let said = mind(&folder, &format!("{command} {path}")).mistakes();
            assert!(said.starts_with(&format!("{place}error[E6002]: {why} ")), "{said}");
            assert!(said.lines().next().is_some_and(|line| line.contains(path)), "{said}");
            assert!(said.contains("help: `mind xla --help` says where to get a plugin\n"), "{said}");
        }
    }
    let said = answer(folder.command("xla devices").env(VARIABLE, "none.so")).mistakes();
    assert!(said.contains("none.so: "), "{said}");
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let said = mind(&folder, "xla devices --plugin libm.so.6").mistakes();
        let expected = "error[E6002]: libm.so.6 is not a PJRT plugin: it does not export `GetPjrtApi`\n";
        assert!(said.starts_with(expected), "{said}");
    }
    assert!(!folder.path("out").exists());
}

#[test]
fn what_is_for_xla_is_refused_elsewhere() {
    let folder = step();
    for (option, said) in [
        ("--plugin none.so", "--plugin works only with --on xla"),
        ("--devices 2", "--devices works only with --on xla"),
        ("--mesh d=2", "--mesh works only with --on xla"),
        ("--precision tf32", "--precision works only with --on xla"),
        ("--compute bf16", "--compute works only with --on xla"),
        ("--trace t.pb", "--trace works only with --on xla"),
        ("--processes 2 --process 0 --address h:1", "--processes works only with --on xla"),
        ("--on xla --processes 2", "--process <NUMBER>"),
        ("--on xla --process 1", "--processes <COUNT>"),
        ("--cache kept", "--cache works only with --on xla"),
        ("--xla-option xla_gpu_autotune_level=0", "--xla-option works only with --on xla"),
        ("--on xla --check nan", "--check works only with the interpreter"),
        ("--on xla --devices 0", "invalid value '0' for '--devices <COUNT>'"),
        ("--on xla --shard x=d", "--mesh <AXIS=COUNT>"),
        ("--on tpu", "[possible values: interpreter, xla]"),
    ] {
        let found = mind(&folder, &format!("run step.mind {INPUTS} {option}")).misuse();
        assert!(found.contains(said), "{option}: {found}");
    }
}

/// The errors are reported before a plugin is loaded. The file named here is not a plugin.
#[test]
fn what_is_wrong_with_a_program_and_its_inputs_is_one_error() {
    let folder = step()
        .with("short.npy", f32s("3, 2", &[0.0; 6]))
        .with("area.mic", "mic@1\nS0 \"x\"\nT0 [f32;N*M]\nN1 input S0 T0\nO N1\n")
        .with("flat.npy", f32s("6,", &[0.0; 6]));
    for (rest, said) in [
        ("--mesh d=4 --shard x=e,_", "error[E2002]: the mesh has no axis `e`"),
        ("--mesh d=4 --shard z=d,_", "error[E2002]: the program has no input `z`"),
        ("--mesh d=3 --shard x=d,_", "which the 3 devices of the mesh axis `d` do not divide"),
        ("--input b=w.npy", "error[E2002]: "),
    ] {
        let run = format!("run step.mind {INPUTS} --on xla --plugin none.so --output-dir out {rest}");
        let found = mind(&folder, &run).mistakes();
        assert!(found.contains(said) && found.contains("\n1 mistake; "), "{rest}: {found}");
    }
    let run = format!("run step.mind {INPUTS} --on xla --plugin none.so --output-dir out");
    let said = mind(&folder, &format!("{run} --xla-option fast")).misuse();
    assert!(said.contains("--xla-option fast has no value"), "{said}");
    let said = mind(&folder, &format!("{run} --cache x.npy")).misuse();
    assert!(said.contains("x.npy cannot hold compiled programs: "), "{said}");
    let run = |arguments: &str| {
        mind(&folder, &format!("run {arguments} --on xla --plugin none.so --output-dir out")).mistakes()
    };
    let said = run(&format!("step.mind {INPUTS}").replace("w.npy", "short.npy"));
    assert!(said.starts_with("mind: error[E6009]: dimension 0 of `w` is 3, needed 4\n"), "{said}");
    assert!(said.contains("  = `w` is f32[3, 2] in short.npy\n"), "{said}");
    let said = run("area.mic --input x=flat.npy");
    assert!(said.starts_with("mic:4: error[E2003]: cannot infer `M`: no input has "), "{said}");
    let said = run("step.mind --input x=x.npy --input rate=1");
    assert!(
        said.starts_with("mind: error[E2007]: no value is given for the input `w`: f32[4, 2]\n"),
        "{said}"
    );
    assert!(!folder.path("out").exists());
}

/// The fake plugin returns the arguments of a program as its results.
const COPY: &str = "fn copy(x: f32[3]) -> f32[3] { x + 1.0 }";

#[test]
fn a_trace_is_written_with_the_outputs() {
    let plugin = variant("traces");
    let folder = Folder::new().with("f.mind", COPY);
    let run = "run f.mind -i x=[1,2,3] --on xla --output-dir out --trace log/first/host.xplane.pb";
    answer(folder.command(run).env(VARIABLE, &plugin.path)).fine();
    let trace = fs::read(folder.path("log/first/host.xplane.pb")).expect("it is written");
    assert_eq!(String::from_utf8_lossy(&trace[2..]), "run 1 starts, run 1 ends");
    assert!(folder.path("out/output0.npy").exists());
}

#[test]
fn a_trace_that_fails_is_one_error_and_nothing_is_written() {
    let folder = Folder::new().with("f.mind", COPY).with("file", "");
    let run = "run f.mind -i x=[1,2,3] --on xla --output-dir out --trace";
    let said = |plugin: &str, file: &str| {
        let plugin = variant(plugin);
        let said = answer(folder.command(&format!("{run} {file}")).env(VARIABLE, &plugin.path));
        assert!(!folder.path("out").exists() && !folder.path("t.pb").exists());
        said
    };
    let expected = "mind: error[E6002]: the plugin has no profiler, which --trace needs\n --> f.mind\n  = help: run it \
        without --trace; plugins for GPUs have a profiler, and the plugin for CPUs has none\n";
    let found = said("good", "t.pb").mistakes();
    assert!(found.starts_with(expected), "{found}");
    let found = said("busy", "t.pb").mistakes();
    let expected =
        "mind: error[E6010]: the plugin failed to start a trace (FAILED_PRECONDITION): another profiler runs";
    assert!(found.starts_with(expected), "{found}");
    let found = said("traces", "file/t.pb").misuse();
    assert!(found.contains("cannot write file/t.pb: "), "{found}");
}

/// An address of this machine at which nothing listens.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    listener.local_addr().expect("it is bound")
}

#[test]
fn two_processes_run_a_program_over_their_devices() {
    let plugin = variant("good");
    let folder = Folder::new().with("f.mind", COPY);
    let address = free_address();
    let run = |process: usize| {
        let run = format!(
            "run f.mind -i x=[1,2,3] --on xla --mesh d=2 --processes 2 --process {process} --address {address}"
        );
        answer(folder.command(&run).env(VARIABLE, &plugin.path)).fine()
    };
    let said = thread::scope(|scope| {
        let run = &run;
        [0, 1].map(|process| scope.spawn(move || run(process))).map(|run| run.join())
    });
    for said in said {
        // The fake plugin gives the argument as the result.
        assert!(said.expect("it does not panic").contains("[1, 2, 3]"));
    }
    // The mesh needs the devices of both.
    let said =
        answer(folder.command("run f.mind -i x=[1,2,3] --on xla --mesh d=2").env(VARIABLE, &plugin.path));
    assert!(said.mistakes().contains("the program is for 2 devices, and the client has 1"));
}

#[test]
fn processes_that_do_not_come_are_one_error() {
    let plugin = variant("good");
    let folder = Folder::new().with("f.mind", COPY);
    let address = free_address();
    let run = |process: usize, more: &str| {
        let run = format!(
            "run f.mind -i x=[1,2,3] --on xla --processes 3 --process {process} --address {address} --wait 1 {more}"
        );
        answer(folder.command(&run).env(VARIABLE, &plugin.path)).misuse()
    };
    let said = run(0, "");
    let expected =
        format!("the processes do not meet at {address}: of 3 processes, process 1, process 2 did not come");
    assert!(said.contains(&expected), "{said}");
    let said = run(1, "");
    assert!(said.contains("process 0 is absent: "), "{said}");
    let said = run(3, "");
    assert!(said.contains("process 3 is not one of 3, which count from 0"), "{said}");
}

/// The plugin that the variable names, with its logging disabled. If the variable is not set, tests that need it are
/// skipped and say so.
struct Plugin(PathBuf);

impl Plugin {
    fn named() -> Option<Self> {
        let path = env::var_os(VARIABLE).filter(|path| !path.is_empty());
        if path.is_none() {
            eprintln!("NOT RUN: `{VARIABLE}` names no plugin; `ci/xla` installs one");
        }
        path.map(|path| Self(path::absolute(path).expect("there is a current folder")))
    }

    /// The result of the command if the variable names the plugin.
    fn mind(&self, folder: &Folder, arguments: &str) -> Answer {
        answer(folder.command(arguments).env(VARIABLE, &self.0).env("TF_CPP_MIN_LOG_LEVEL", "3"))
    }

    /// The result of the command if an option names the plugin.
    fn mind_by_option(&self, folder: &Folder, arguments: &str) -> Answer {
        let mut command = folder.command(arguments);
        answer(command.arg("--plugin").arg(&self.0).env_remove(VARIABLE).env("TF_CPP_MIN_LOG_LEVEL", "3"))
    }
}

fn outputs(folder: &Folder, name: &str, count: usize) -> Vec<Vec<u8>> {
    let path = |position: usize| folder.path(&format!("{name}/output{position}.npy"));
    (0..count).map(|position| fs::read(path(position)).expect("it is written")).collect()
}

/// The elements of a `.npy` file of `f32`.
fn elements(file: &[u8]) -> Vec<f32> {
    let (elements, rest) = file[128..].as_chunks();
    assert!(rest.is_empty());
    elements.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn a_plugin_gives_the_results_of_the_interpreter() {
    let Some(plugin) = Plugin::named() else { return };
    let program = "fn f<N>(a: f32[N], b: f64[N], c: i32[N], d: i64[2, N], e: bool[N]) -> (f32[N], f64[N], i32[N], i64[N, 2], bool[N]) {
    (a + 1.0, b * 2.0, c - 3, d.T, !e)
}";
    let long = |range: std::ops::Range<i64>| range.flat_map(i64::to_le_bytes).collect::<Vec<_>>();
    let folder = Folder::new()
        .with("f.mind", program)
        .with("a.npy", f32s("3,", &[0.5, -1.0, 1e30]))
        .with("b.npy", npy("<f8", false, "3,", &[0.1_f64, -0.0, 3.0].map(f64::to_le_bytes).concat()))
        .with("c.npy", npy("<i4", false, "3,", &[1_i32, -7, i32::MIN].map(i32::to_le_bytes).concat()))
        .with("d.npy", npy("<i8", true, "2, 3", &long(-3..3)))
        .with("e.npy", npy("|b1", false, "3,", &[1, 0, 1]));
    let run = "run f.mind -i a=a.npy -i b=b.npy -i c=c.npy -i d=d.npy -i e=e.npy";
    let expected = folder.mind(&format!("{run} --output-dir here")).fine();
    let said = plugin.mind(&folder, &format!("{run} --output-dir there --on xla")).fine();
    assert_eq!(said, expected.replace("here", "there"));
    assert_eq!(outputs(&folder, "there", 5), outputs(&folder, "here", 5));
    assert_eq!(plugin.mind(&folder, &format!("{run} --on xla")).fine(), folder.mind(run).fine());
}

#[test]
fn nan_and_the_range_are_kept_on_a_plugin() {
    let Some(plugin) = Plugin::named() else { return };
    let program = "fn ends(x: f32[4]) -> (f32, f32, f32[4], f32[4]) { (max(x), min(x), maximum(x, 2.0), minimum(x, 2.0)) }
fn quotient(x: f32, y: f32) -> f32 { x / y }
fn slopes(x: f32, y: f32) -> (f32, f32) { grad(quotient, wrt = (x, y))(x, y) }";
    let folder = Folder::new().with("f.mind", program).with("x.npy", f32s("4,", &[1.0, f32::NAN, 3.0, 2.0]));
    let run = "run f.mind --function ends -i x=x.npy";
    let said = plugin.mind(&folder, &format!("{run} --on xla")).fine();
    assert!(said.starts_with("output 0: f32 = NaN\noutput 1: f32 = NaN\n"), "{said}");
    assert_eq!(said, folder.mind(run).fine());
    for numbers in ["-i x=0 -i y=1e-25", "-i x=1e-10 -i y=1e-20"] {
        let run = format!("run f.mind --function slopes {numbers}");
        assert_eq!(plugin.mind(&folder, &format!("{run} --on xla")).fine(), folder.mind(&run).fine());
    }
}

#[test]
fn a_program_that_was_compiled_is_kept_in_the_cache() {
    let Some(plugin) = Plugin::named() else { return };
    let folder = step();
    let run = format!("run step.mind {INPUTS} --on xla --cache cache/xla --output-dir");
    let programs = || {
        let entries = fs::read_dir(folder.path("cache/xla")).expect("it is made");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("it is listed").path()).collect();
        paths.sort();
        paths
    };
    plugin.mind(&folder, &format!("{run} first")).fine();
    let first = programs();
    assert_eq!(first.len(), 1);
    plugin.mind(&folder, &format!("{run} second")).fine();
    assert_eq!((programs(), outputs(&folder, "second", 2)), (first.clone(), outputs(&folder, "first", 2)));
    // A damaged program is compiled again.
    let whole = fs::read(&first[0]).expect("it is written");
    fs::write(&first[0], &whole[..whole.len() / 2]).expect("there is room");
    plugin.mind(&folder, &format!("{run} third")).fine();
    assert_eq!(outputs(&folder, "third", 2), outputs(&folder, "first", 2));
    assert_eq!(fs::read(&first[0]).expect("it is written").len(), whole.len());
    // Another option is another program, and a wrong one is an error.
    plugin.mind(&folder, &format!("{run} fourth --xla-option xla_backend_optimization_level=0")).fine();
    assert_eq!(programs().len(), 2);
    let said = plugin.mind(&folder, &format!("{run} none --xla-option xla_nothing=0")).mistakes();
    assert!(said.contains("No such compile option: 'xla_nothing'"), "{said}");
    assert!(!folder.path("none").exists());
}

#[test]
fn several_devices_give_the_results_of_one() {
    let Some(plugin) = Plugin::named() else { return };
    let folder = step();
    let run = format!("run step.mind {INPUTS} --output-dir");
    folder.mind(&format!("{run} one")).fine();
    for mesh in [
        "--mesh d=8 --shard x=d,_",
        "--mesh d=2,m=2 --shard x=d,m --shard w=m,_",
        "--mesh d=4,m=2 --shard x=d,_ --shard w=_,m",
    ] {
        plugin.mind_by_option(&folder, &format!("{run} several --on xla --devices 8 {mesh}")).fine();
        for (several, one) in outputs(&folder, "several", 2).iter().zip(&outputs(&folder, "one", 2)) {
            let near = elements(several)
                .into_iter()
                .zip(elements(one))
                .all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs().max(1.0));
            assert!(near, "{mesh}: {several:?}, needed {one:?}");
        }
    }
    plugin.mind(&folder, &format!("{run} rounded --on xla --precision bf16")).fine();
    let near = elements(&outputs(&folder, "rounded", 2)[1])
        .into_iter()
        .zip(elements(&outputs(&folder, "one", 2)[1]))
        .all(|(a, b)| (a - b).abs() <= 0.1 * b.abs().max(1.0));
    assert!(near, "a lower precision gives near results");
    let few = format!("{run} none --on xla --devices 2 --mesh d=8 --shard x=d,_");
    let said = plugin.mind(&folder, &few).mistakes();
    let expected = "mind: error[E6002]: the program is for 8 devices, and the client has 2\n --> step.mind\n  = help: \
        --devices 8 asks a CPU plugin for that many devices\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(!folder.path("none").exists());
}

#[test]
fn devices_are_listed_with_what_the_plugin_says_of_itself() {
    let Some(plugin) = Plugin::named() else { return };
    let said = plugin.mind(&Folder::new(), "xla devices --devices 3").fine();
    let (head, table) = said.split_once("\n\n").expect("a table follows");
    let keys: Vec<&str> = head.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(keys, ["platform", "version", "interface"], "{said}");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["id", "kind", "memory"], "{said}");
    assert_eq!(rows.iter().skip(1).map(|row| row[0]).collect::<Vec<_>>(), ["0", "1", "2"], "{said}");
    assert!(rows.iter().all(|row| row.len() >= 3), "{said}");
}

#[test]
fn what_a_plugin_fails_at_is_one_error_and_nothing_is_written() {
    let Some(plugin) = Plugin::named() else { return };
    let program = "fn f<N>(x: f32[N]) -> f32[N, N, N, N, N, N, N] { broadcast_to(x, [N, N, N, N, N, N, N]) }";
    let folder = Folder::new().with("f.mind", program).with("x.npy", f32s("200,", &[0.0; 200]));
    let said = plugin.mind(&folder, "run f.mind --input x=x.npy --on xla --output-dir out").mistakes();
    let expected = "mind: error[E6010]: the plugin failed to run the program (RESOURCE_EXHAUSTED): ";
    assert!(said.starts_with(expected), "{said}");
    assert!(!folder.path("out").exists());
}
