//! Errors of invalid plugins, of plugins of other versions, of plugins that fail in the middle, and of wrong arguments.
//!
//! Each case gives one error, leaves no partial effect, and leaks no objects of the plugin. The tests compile the
//! plugin `tests/plugins/fake/plugin.rs`.

use mind::{Const, Tensor, mind};
use mind_xla::{Client, ClientOption, Error, Executable, OnDevices, Plugin, Program, ProgramMemory};

pub use crate::fake_plugin::variant;

mind! {
    pub struct Layer { pub w: f32[4, 2], pub b: f32[2] }

    pub fn step<N>(x: f32[N, 2], layer: &mut Layer, rate: f32) -> f32[N, 2] {
        layer.w = layer.w - rate;
        layer.b = layer.b - rate;
        x * rate
    }

    /// `b` is frozen.
    fn tune<N>(x: f32[N, 2], layer: &mut Layer, rate: f32) -> f32[N, 2] {
        layer.w = layer.w - rate;
        x @ transpose(layer.w) @ layer.w + layer.b
    }

    fn reads<N>(x: f32[N, 2], layer: Layer) -> f32[N, 2] { x @ transpose(layer.w) @ layer.w + layer.b }

    pub fn first(x: f32[4], y: f32[4]) -> f32 { sum(x * y) }
}

fn refused(variant_name: &str) -> String {
    let copy = variant(variant_name);
    let error = Plugin::load(&copy.path).err().expect("it is refused").to_string();
    error.replace(&copy.path.display().to_string(), "PLUGIN")
}

pub fn client(plugin: &Plugin, fail: &str) -> Client {
    let options = [("fail", ClientOption::Text(fail.into())), ("cpu_device_count", ClientOption::Int(2))];
    plugin.client(&options).expect("it makes a client")
}

pub fn program() -> Program {
    let program = Program::from_mic(step::MIC, step::UPDATES).expect("the module is one of the macro's");
    program.extent("N", 4).axis("d", 2).split("x", &["d", "_"])
}

pub fn layer() -> Layer {
    let w = Tensor::from_fn_with((Const, Const), |[i, j]| (2 * i + j) as f32);
    Layer { w, b: Tensor::from([10.0, 20.0]) }
}

pub fn x() -> Tensor![f32; ?, 2] {
    Tensor::from_fn_with((4, Const), |[i, j]| (2 * i + j) as f32)
}

pub fn compiled(plugin: &Plugin, fail: &str) -> (Executable, OnDevices) {
    let executable = client(plugin, fail).compile(&program()).expect("it compiles");
    let on_devices = executable.load("layer", &layer()).expect("the layer fits");
    (executable, on_devices)
}

/// Checks that a new client is the only object of the plugin that is alive.
pub fn assert_nothing_is_left(plugin: &Plugin) {
    let left = plugin.client(&[]).expect("it makes a client").platform_version().expect("it tells");
    assert_eq!(left, "clients 1, executables 0, buffers 0, events 0, errors 0, running 0, misuses 0");
}

#[test]
fn functions_tell_which_inputs_they_update() {
    // The inputs are `x`, `layer.w`, `layer.b`, `rate`.
    assert_eq!(step::UPDATES, [1, 2]);
    assert!(first::UPDATES.is_empty());
}

#[test]
fn a_file_that_is_no_plugin_is_refused() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").expect("there is room");
    for path in [text, folder.path().join("missing.so"), folder.path().to_owned()] {
        let said = Plugin::load(&path).err().expect("it is refused").to_string();
        assert!(said.starts_with(&format!("cannot load the PJRT plugin {}: ", path.display())), "{said}");
        assert!(said.len() > path.display().to_string().len() + 35, "the system says why: {said}");
    }
}

#[test]
fn a_library_that_is_no_plugin_is_refused() {
    assert_eq!(refused("null"), "PLUGIN is not a PJRT plugin: it does not export `GetPjrtApi`");
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    // The C library is already loaded, and is not a plugin.
    let Some(libc) = maps.split_whitespace().find(|word| word.contains("libc.so")) else { return };
    let said = Plugin::load(libc).err().expect("it is refused").to_string();
    assert_eq!(said, format!("{libc} is not a PJRT plugin: it does not export `GetPjrtApi`"));
}

#[test]
fn a_plugin_of_another_version_is_refused() {
    assert_eq!(refused("major"), "PLUGIN has version 1.7 of the PJRT interface, needed 0");
    let lacks = |function| {
        format!(
            "PLUGIN, with version 0.7 of the PJRT interface, lacks the function `{function}`: a newer plugin is needed"
        )
    };
    assert_eq!(refused("small"), lacks("ClientCompile"));
    assert_eq!(refused("missing"), lacks("LoadedExecutableExecute"));
}

#[test]
fn a_plugin_that_cannot_start_says_why() {
    let said = "the plugin failed to initialise itself (INTERNAL): there is no such hardware";
    assert_eq!(refused("broken"), said);
}

#[test]
fn a_younger_plugin_finds_zeros_behind_the_arguments() {
    let copy = variant("younger");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let (executable, mut on_devices) = compiled(&plugin, "");
    let x = x();
    let call = executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
    call.run().expect("it runs");
}

#[test]
fn what_is_updated_stays_on_the_devices() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    assert_eq!(plugin.version(), (0, 7));
    let (executable, mut on_devices) = compiled(&plugin, "");
    let x = x();
    for _ in 0..3 {
        let call = executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
        let results = call.run().expect("it runs");
        assert_eq!(results.len(), 1);
    }
    let mut back = layer();
    on_devices.read_into(&mut back).expect("it is the same struct");
    assert_eq!(back.b, Tensor::from([13.0, 23.0]));
    assert_eq!(back.w.as_slice()[..3], [3.0, 4.0, 5.0]);
    drop((executable, on_devices));
    assert_nothing_is_left(&plugin);
}

#[test]
fn fields_that_a_program_leaves_as_they_are_are_lent_by_an_update() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "");
    let compiled = |mic, updates| {
        let program = Program::from_mic(mic, updates).expect("the module is one of the macro's");
        client.compile(&program.extent("N", 4)).expect("it compiles")
    };
    let executable = compiled(tune::MIC, tune::UPDATES);
    let mut on_devices = executable.load("layer", &layer()).expect("the layer fits");
    let x = x();
    for _ in 0..3 {
        let call = executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
        assert_eq!(call.run().expect("it runs").len(), 1);
    }
    let mut back = layer();
    on_devices.read_into(&mut back).expect("it is the same struct");
    assert_eq!((&back.b, back.w.as_slice()[0]), (&layer().b, layer().w.as_slice()[0] + 3.0));
    // Lending the struct is an error, reported only for the field that the program updates.
    let said = executable.call().pass("x", &x).lend("layer", &on_devices).number("rate", 1.0_f32).run();
    assert_eq!(
        said.expect_err("a field is updated").to_string(),
        "the arguments do not fit: `layer.w` is lent, and the program updates it: give `layer` by `update`, which lends the \
         fields that are only read"
    );
    // Passing the struct by `update` is an error if the program updates no field.
    let executable = compiled(reads::MIC, reads::UPDATES);
    let said = executable.call().pass("x", &x).update("layer", &mut on_devices).run();
    let said = said.expect_err("nothing is updated").to_string();
    for field in ["layer.w", "layer.b"] {
        let fault = format!(
            "`{field}` is given to be updated, and the program only reads it: give `layer` by `lend`"
        );
        assert!(said.contains(&fault), "{said}");
    }
    drop((executable, on_devices));
}

#[test]
fn a_client_lives_as_long_as_what_it_made() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let (executable, on_devices) = compiled(&plugin, "");
    drop(executable);
    assert_eq!(on_devices.tensors().count(), 2);
    on_devices.read_into(&mut layer()).expect("the elements are there");
    drop(on_devices);
    assert_nothing_is_left(&plugin);
}

#[test]
fn a_device_that_tells_nothing_of_its_memory_is_described() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let device = client(&plugin, "").device(1).expect("it is there");
    assert_eq!((device.id, &*device.kind, device.memories.len(), device.stats), (1, "none", 0, None));
    let said = client(&plugin, "").device(2).expect_err("it is not there").to_string();
    assert_eq!(said, "there is no device 2: the client has 2");
    assert_nothing_is_left(&plugin);
}

#[test]
fn a_program_tells_its_memory_where_the_plugin_does() {
    let memory = |name: &str, fail: &str| {
        let copy = variant(name);
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let told = client(&plugin, fail).compile(&program()).expect("it compiles").memory();
        assert_nothing_is_left(&plugin);
        told
    };
    let expected =
        ProgramMemory { code: 1, arguments: 2, results: 3, reused: 4, temporaries: 5, peak: Some(7) };
    assert_eq!(memory("good", "").expect("it tells"), Some(expected));
    assert_eq!(memory("older", "").expect("it has no figures"), None);
    let said = memory("good", "memory").expect_err("it fails").to_string();
    assert_eq!(said, "the plugin failed to tell the memory of a program (INTERNAL): nobody counted");
}

#[test]
fn options_that_the_plugin_refuses_are_its_error() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let said = plugin.client(&[("speed", ClientOption::Float(2.0))]).expect_err("it is refused").to_string();
    assert_eq!(said, "the plugin failed to make a client (INVALID_ARGUMENT): no such option");
    assert_nothing_is_left(&plugin);
}

#[test]
fn compiling_that_fails_leaves_nothing() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    for (fail, expected) in [
        (
            "compile",
            "the plugin failed to compile the program (INVALID_ARGUMENT): the text is not understood",
        ),
        ("results", "the plugin failed to compile the program: it has 4 results, needed 3"),
    ] {
        let said = client(&plugin, fail).compile(&program()).expect_err("it fails").to_string();
        assert_eq!(said, expected);
        assert_nothing_is_left(&plugin);
    }
}

#[test]
fn copying_that_fails_in_the_middle_leaves_nothing() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    for put in 1..=4 {
        let executable = client(&plugin, &format!("put {put}")).compile(&program()).expect("it compiles");
        let said = executable.load("layer", &layer()).expect_err("it fails").to_string();
        let name = if put <= 2 { "layer.w" } else { "layer.b" };
        let failed =
            format!("the plugin failed to copy `{name}` to the devices (RESOURCE_EXHAUSTED): out of memory");
        assert_eq!(said, failed);
        drop(executable);
        assert_nothing_is_left(&plugin);
    }
    // The first four copies are parts of the layer. The copies of the call itself follow.
    for put in 5..=8 {
        let (executable, mut on_devices) = compiled(&plugin, &format!("put {put}"));
        let x = x();
        let call = executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
        call.run().expect_err("it fails");
        let mut back = Layer { w: Tensor::zeros(), b: Tensor::zeros() };
        on_devices.read_into(&mut back).expect("the layer is as it was");
        assert_eq!((back.w, back.b), (layer().w, layer().b));
        drop((executable, on_devices));
        assert_nothing_is_left(&plugin);
    }
}

#[test]
fn a_run_that_fails_leaves_what_it_did_not_take() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    for (fail, said, stays) in [
        ("execute", "the program cannot be started", true),
        ("taken", "the program was stopped", false),
        ("event", "the device is lost", false),
    ] {
        let (executable, mut on_devices) = compiled(&plugin, fail);
        let x = x();
        let call = executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
        let error = call.run().expect_err("it fails").to_string();
        assert_eq!(error, format!("the plugin failed to run the program (INTERNAL): {said}"));
        assert!(on_devices.tensors().all(|(_, tensor)| tensor.is_there() == stays), "{fail}");
        let mut back = Layer { w: Tensor::zeros(), b: Tensor::zeros() };
        let read = on_devices.read_into(&mut back);
        if stays {
            read.expect("the layer is as it was");
            assert_eq!((back.w, back.b), (layer().w, layer().b));
        } else {
            let said = read.expect_err("it is gone").to_string();
            assert_eq!(said, "cannot read f32[4, 2], lost in a failed run, as elements");
            assert_eq!((back.w, back.b), (Tensor::zeros(), Tensor::zeros()), "nothing is half read");
            let call =
                executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
            let said = call.run().expect_err("it is gone").to_string();
            assert!(said.contains("`layer.w` is lost: a failed run consumed it"), "{said}");
        }
        drop((executable, on_devices));
        assert_nothing_is_left(&plugin);
    }
}

#[test]
fn reading_that_fails_changes_nothing() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    for (fail, said) in [
        ("read", "(UNAVAILABLE): the device does not answer"),
        ("read event", "(INTERNAL): the device is lost"),
    ] {
        let (_executable, on_devices) = compiled(&plugin, fail);
        let mut back = Layer { w: Tensor::zeros(), b: Tensor::zeros() };
        let error = on_devices.read_into(&mut back).expect_err("it fails").to_string();
        assert_eq!(error, format!("the plugin failed to copy a tensor from the devices {said}"));
        assert_eq!((back.w, back.b), (Tensor::zeros(), Tensor::zeros()));
    }
    assert_nothing_is_left(&plugin);
}

#[test]
fn a_result_of_another_size_is_no_number() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let program = Program::from_mic(first::MIC, first::UPDATES).expect("the module is one of the macro's");
    let executable = client(&plugin, "").compile(&program).expect("it compiles");
    let (x, y) = (Tensor::from([1.0_f32; 4]), Tensor::from([2.0_f32; 4]));
    let results = executable.call().pass("x", &x).pass("y", &y).run().expect("it runs");
    let said = results[0].number::<f32>().expect_err("the plugin gave an argument").to_string();
    assert_eq!(
        said,
        "the plugin failed to copy a tensor from the devices: it has 16 bytes on a device, needed 4"
    );
}

#[test]
fn all_that_is_wrong_with_arguments_is_told_at_once() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let (executable, mut on_devices) = compiled(&plugin, "");
    let small: Tensor![f32; ?, 2] = Tensor::zeros_with((3, Const));
    let call = executable.call().pass("x", &small).pass("z", &small).number("rate", 1.0_f64);
    let said = call.run().expect_err("they do not fit").to_string();
    assert_eq!(
        said,
        "the arguments do not fit: `x` is f32[4, 2], and f32[3, 2] is given; the program has no argument `z`; `rate` is f32, and \
         f64 is given; `x` is not given; `layer.w` is not given; `layer.b` is not given; `rate` is not given"
    );
    let x = x();
    let call =
        executable.call().pass("x", &x).pass("x", &x).lend("layer", &on_devices).number("rate", 1.0_f32);
    let said = call.run().expect_err("they do not fit").to_string();
    assert!(said.contains("`x` is given twice"), "{said}");
    assert!(said.contains("`layer.w` is lent, and the program updates it"), "{said}");
    let said = executable.load("layer", &other_layer()).expect_err("it is another struct").to_string();
    assert_eq!(
        said,
        "the arguments do not fit: `layer.w` is f32[4, 2], and f32[2, 4] is given; `layer.b` is not given"
    );
    let other = client(&plugin, "").compile(&program()).expect("it compiles");
    let call = other.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
    let said = call.run().expect_err("it is elsewhere").to_string();
    assert!(said.contains("`layer.w` is on the devices of another client"), "{said}");
}

mind! {
    struct Other { w: f32[2, 4] }
}

fn other_layer() -> Other {
    Other { w: Tensor::zeros() }
}

#[test]
fn a_program_that_does_not_fit_is_refused() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "");
    let program = || Program::from_mic(step::MIC, step::UPDATES).expect("the module is one of the macro's");
    let said = |program: &Program| client.compile(program).expect_err("it is refused").to_string();
    assert_eq!(said(&program()), "no extent is given for `N`");
    let four = program().extent("N", 4).axis("d", 4);
    assert_eq!(said(&four), "the program is for 4 devices, and the client has 2");
    let uneven = program().extent("N", 3).axis("d", 2).split("x", &["d", "_"]);
    assert!(
        said(&uneven).contains("which the 2 devices of the mesh axis `d` do not divide"),
        "{}",
        said(&uneven)
    );
    let many = program().extent("N", 4).axis("d", usize::MAX).axis("m", usize::MAX);
    assert!(!said(&many).is_empty());
    for (mic, updates) in [
        ("no text", &[][..]),
        (step::MIC, &[7]),
        (step::MIC, &[1, 1]),
        (step::MIC, &[0]),
        (first::MIC, &[0, 1]),
    ] {
        let error = Program::from_mic(mic, updates).expect_err("it is refused");
        assert!(matches!(error, Error::Module(_)), "{error}");
    }
}
