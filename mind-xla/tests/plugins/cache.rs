//! Compiled programs in files: what is found again, what is not loaded, and what is refused. The fake plugin counts a
//! misuse if damaged bytes come to it. The CPU plugin shows that real programs are found again.

use std::fs;
use std::path::{Path, PathBuf};

use mind_xla::{Cache, Cached, Client, ClientOption, Error, Executable, Plugin, Program};
use tempfile::TempDir;

use crate::fake::{assert_nothing_is_left, first, layer, program, step, variant, x};

/// A client of version `version` that fails at `fail`, with a cache in this folder.
fn client(plugin: &Plugin, folder: &Path, version: &str, fail: &str) -> Client {
    let text = |value: &str| ClientOption::Text(value.into());
    let options =
        [("fail", text(fail)), ("version", text(version)), ("cpu_device_count", ClientOption::Int(2))];
    let client = plugin.client(&options).expect("it makes a client");
    client.cache(Cache::open(folder).expect("the folder is one's own"))
}

fn new_folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join("programs/xla");
    (folder, path)
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it is listed").path()).collect();
    paths.sort();
    paths
}

/// Checks that the program is right: a step adds 1 to the layer.
fn check(executable: &Executable) {
    let mut on_devices = executable.load("layer", &layer()).expect("the layer fits");
    let x = x();
    let call = executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
    call.run().expect("it runs");
    let mut back = layer();
    on_devices.read_into(&mut back).expect("it is the same struct");
    assert_eq!(back.w.as_slice()[..3], [1.0, 2.0, 3.0]);
}

#[test]
fn a_program_is_compiled_once() {
    let (copy, (_keep, folder)) = (variant("good"), new_folder());
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let compiled = |client: &Client| client.compile(&program()).expect("it compiles");
    let without = plugin.client(&[("cpu_device_count", ClientOption::Int(2))]).expect("it makes a client");
    assert_eq!(compiled(&without).cached(), &Cached::Off);
    drop(without);
    let executable = compiled(&client(&plugin, &folder, "1", ""));
    assert_eq!(executable.cached(), &Cached::Stored);
    check(&executable);
    drop(executable);
    // This client cannot compile.
    let executable = compiled(&client(&plugin, &folder, "1", "compile"));
    assert_eq!(executable.cached(), &Cached::Found);
    check(&executable);
    assert_eq!(programs(&folder).len(), 1, "nothing else stays in the folder");
    drop(executable);
    assert_nothing_is_left(&plugin);
}

#[test]
fn another_program_option_or_version_is_another_file() {
    let (copy, (_keep, folder)) = (variant("good"), new_folder());
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let with = |version, program: &Program| {
        let executable = client(&plugin, &folder, version, "").compile(program).expect("it compiles");
        executable.cached().clone()
    };
    let other = Program::from_mic(first::MIC, first::UPDATES).expect("the module is one of the macro's");
    let one_device =
        Program::from_mic(step::MIC, step::UPDATES).expect("the module is one of the macro's").extent("N", 4);
    let optioned = program().xla_option("xla_gpu_autotune_level", "0");
    let cases = [("1", program()), ("2", program()), ("1", other), ("1", one_device), ("1", optioned)];
    for (count, (version, program)) in cases.iter().enumerate() {
        assert_eq!(with(version, program), Cached::Stored);
        assert_eq!(programs(&folder).len(), count + 1);
    }
    for (version, program) in &cases {
        assert_eq!(with(version, program), Cached::Found);
    }
    // Another file of the plugin is another plugin.
    let second = variant("good");
    let plugin = Plugin::load(&second.path).expect("it loads");
    let executable = client(&plugin, &folder, "1", "").compile(&program()).expect("it compiles");
    assert_eq!(executable.cached(), &Cached::Stored);
}

#[test]
fn a_damaged_or_foreign_file_is_compiled_again() {
    let (copy, (_keep, folder)) = (variant("good"), new_folder());
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let compiled = || client(&plugin, &folder, "1", "").compile(&program()).expect("it compiles");
    compiled();
    let path = programs(&folder).remove(0);
    let whole = fs::read(&path).expect("it is written");
    let mut damages: Vec<Vec<u8>> = (0..whole.len()).step_by(7).map(|end| whole[..end].to_vec()).collect();
    damages.push([&whole[..], b"more"].concat());
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        damages.push(damaged);
    }
    for damaged in damages {
        fs::write(&path, damaged).expect("there is room");
        assert_eq!(compiled().cached(), &Cached::Stored);
        assert_eq!(fs::read(&path).expect("it is written"), whole);
    }
    // The file of another program, with another key in it.
    let other = Program::from_mic(first::MIC, first::UPDATES).expect("the module is one of the macro's");
    client(&plugin, &folder, "1", "").compile(&other).expect("it compiles");
    let other = programs(&folder).into_iter().find(|other| *other != path).expect("there are two");
    fs::copy(other, &path).expect("there is room");
    assert_eq!(compiled().cached(), &Cached::Stored);
    assert_eq!(fs::read(&path).expect("it is written"), whole);
    // A whole file that the plugin does not load.
    let executable = client(&plugin, &folder, "1", "load").compile(&program()).expect("it compiles");
    assert_eq!(executable.cached(), &Cached::Stored);
    drop(executable);
    assert_nothing_is_left(&plugin);
}

#[test]
fn a_program_that_cannot_be_stored_is_compiled_all_the_same() {
    let (copy, (_keep, folder)) = (variant("good"), new_folder());
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let executable = client(&plugin, &folder, "1", "serialize").compile(&program()).expect("it compiles");
    let said = "the plugin cannot write compiled programs: programs of these devices stay here".to_owned();
    assert_eq!(executable.cached(), &Cached::NotStored(said));
    check(&executable);
    drop(executable);
    let small = Cache::open(&folder).expect("the folder is one's own").limit(100);
    let options = [("version", ClientOption::Text("1".into())), ("cpu_device_count", ClientOption::Int(2))];
    let client = plugin.client(&options).expect("it makes a client").cache(small);
    let executable = client.compile(&program()).expect("it compiles");
    let Cached::NotStored(said) = executable.cached() else { panic!("{:?}", executable.cached()) };
    assert!(
        said.starts_with("the program has 1") && said.ends_with("the limit of the cache is 100"),
        "{said}"
    );
    assert!(programs(&folder).is_empty());
    drop((executable, client));
    // A folder stands where the program would be.
    let compile = || self::client(&plugin, &folder, "1", "").compile(&program()).expect("it compiles");
    compile();
    let path = programs(&folder).remove(0);
    fs::remove_file(&path).expect("it is there");
    fs::create_dir(&path).expect("there is room");
    fs::write(path.join("in"), "").expect("there is room");
    let executable = compile();
    let Cached::NotStored(said) = executable.cached() else { panic!("{:?}", executable.cached()) };
    assert!(said.starts_with(&format!("cannot write to {}: ", folder.display())), "{said}");
    assert_eq!(programs(&folder), [path], "no part stays");
    check(&executable);
    drop(executable);
    // The folder is removed while the client lives.
    let client = self::client(&plugin, &folder, "1", "");
    fs::remove_dir_all(&folder).expect("it is there");
    let executable = client.compile(&program()).expect("it compiles");
    assert!(matches!(executable.cached(), Cached::NotStored(_)), "{:?}", executable.cached());
    drop((executable, client));
    assert_nothing_is_left(&plugin);
    // The plugin has no functions for files.
    let (copy, (_keep, folder)) = (variant("nofile"), new_folder());
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let executable = self::client(&plugin, &folder, "1", "").compile(&program()).expect("it compiles");
    let said = "the plugin cannot write compiled programs: it lacks the function `ExecutableSerialize`";
    assert_eq!(executable.cached(), &Cached::NotStored(said.into()));
}

#[test]
fn the_programs_unused_for_the_longest_time_are_removed() {
    let (copy, (_keep, folder)) = (variant("good"), new_folder());
    let plugin = Plugin::load(&copy.path).expect("it loads");
    fs::create_dir_all(&folder).expect("there is room");
    #[cfg(unix)]
    make_mode(&folder, 0o700);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(4000);
    let aged = |path: &Path, seconds| {
        let file = fs::File::options().append(true).open(path).expect("it is there");
        file.set_modified(old + std::time::Duration::from_secs(seconds)).expect("it is one's own");
    };
    // What a killed process left is removed, and what is not the cache's stays.
    let left = folder.join("probe.1-0.part");
    let foreign = [folder.join("notes.part"), folder.join("notes.xla")];
    for path in foreign.iter().chain([&left]) {
        fs::write(path, [0; 4000]).expect("there is room");
        aged(path, 0);
    }
    let compile = |version: &str, limit: u64| {
        let cache = Cache::open(&folder).expect("the folder is one's own").limit(limit);
        let version = ("version", ClientOption::Text(version.into()));
        let client = plugin.client(&[version, ("cpu_device_count", ClientOption::Int(2))]);
        let client = client.expect("it makes a client").cache(cache);
        client.compile(&program()).expect("it compiles").cached().clone()
    };
    let list = || {
        let mut paths = programs(&folder);
        paths.retain(|path| !foreign.contains(path));
        paths
    };
    let mut paths = Vec::new();
    for (second, version) in ["1", "2", "3"].into_iter().enumerate() {
        assert_eq!(compile(version, 1 << 20), Cached::Stored);
        let new = list().into_iter().find(|path| !paths.contains(path)).expect("it is new");
        aged(&new, second as u64);
        paths.push(new);
    }
    assert!(!left.exists());
    let size = fs::metadata(&paths[0]).expect("it is there").len();
    // The first is used, so it is now the youngest. The second is the oldest.
    assert_eq!(compile("1", 1 << 20), Cached::Found);
    assert_eq!(compile("4", 3 * size), Cached::Stored);
    assert!(!paths[1].exists() && paths[0].exists() && paths[2].exists());
    assert_eq!(list().len(), 3);
    assert_eq!(compile("5", size), Cached::Stored);
    assert_eq!(list().len(), 1);
    assert!(foreign.iter().all(|path| path.exists()));
}

#[cfg(unix)]
fn make_mode(folder: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("the folder is one's own");
}

#[test]
fn a_folder_that_cannot_hold_programs_is_refused() {
    let (keep, folder) = new_folder();
    let refused = |folder: &Path| {
        let error = Cache::open(folder).expect_err("it is refused");
        assert!(matches!(error, Error::Cache { .. }) && error.code().is_none());
        error.to_string()
    };
    let file = keep.path().join("file");
    fs::write(&file, "").expect("there is room");
    for path in [file.clone(), file.join("below")] {
        let said = refused(&path);
        assert!(said.starts_with(&format!("{} cannot hold compiled programs: ", path.display())), "{said}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Cache::open(&folder).expect("it is made");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").mode() & 0o777;
        assert_eq!((mode(&folder), mode(folder.parent().expect("it has one"))), (0o700, 0o700));
        for wrong in [0o750, 0o701, 0o777] {
            make_mode(&folder, wrong);
            let path = folder.display();
            let expected = format!(
                "{path} cannot hold compiled programs: other users have rights on it (mode {wrong:o}), and it holds native code: \
                 run `chmod 700 {path}`"
            );
            assert_eq!(refused(&folder), expected);
            assert!(programs(&folder).is_empty(), "the probe is removed");
        }
        make_mode(&folder, 0o500);
        // The superuser may write to it all the same.
        if fs::write(folder.join("probe"), "").is_err() {
            assert!(refused(&folder).contains("ermission"));
        }
    }
}
