//! Parameters that are split over devices, in files: a file holds whole tensors, so it fits any mesh.

use std::path::Path;

use mind::files::{npz, safetensors};
use mind::{Parameters, Tensor};
use mind_xla::{Client, ClientOption, Error, Executable, OnDevices, Plugin, Program};
use tempfile::TempDir;

use crate::fake::{Layer, assert_nothing_is_left, layer, program, step, variant};

/// A way to write and read a file of parameters.
struct Format {
    name: &'static str,
    save: fn(&Path, &Layer) -> Result<(), mind::files::Error>,
    load: fn(&Path, &mut Layer) -> Result<(), mind::files::Error>,
}

const FORMATS: [Format; 2] = [
    Format {
        name: "layer.safetensors",
        save: |path, layer| safetensors::save(path, layer),
        load: |path, layer| safetensors::load(path, layer),
    },
    Format {
        name: "layer.npz",
        save: |path, layer| npz::save(path, layer),
        load: |path, layer| npz::load(path, layer),
    },
];

fn empty() -> Layer {
    Layer { w: Tensor::zeros(), b: Tensor::zeros() }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is a temporary folder")
}

fn fake(plugin: &Plugin, devices: i64) -> Client {
    plugin.client(&[("cpu_device_count", ClientOption::Int(devices))]).expect("it makes a client")
}

/// The program of a step on one device, on two by the rows of `w`, and on four by its rows and columns.
fn meshes() -> [(i64, Program); 3] {
    let alone = Program::from_mic(step::MIC, step::UPDATES).expect("it is a module").extent("N", 4);
    let rows = program().split("layer.w", &["d", "_"]);
    let both = program().axis("m", 2).split("layer.w", &["d", "m"]).split("layer.b", &["m"]);
    [(1, alone), (2, rows), (4, both)]
}

/// Runs a step, which adds 1 to the parameters in the fake plugin.
fn run(executable: &Executable, on_devices: &mut OnDevices) {
    let x = crate::fake::x();
    let call = executable.call().pass("x", &x).update("layer", on_devices).number("rate", 1.0_f32);
    call.run().expect("it runs");
}

#[test]
fn parameters_of_one_mesh_are_saved_as_one_file_and_loaded_on_another() {
    for format in FORMATS {
        let (copy, folder) = (variant("good"), folder());
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let path = folder.path().join(format.name);
        (format.save)(&path, &layer()).expect("it is written");
        for (saved, (devices, program)) in meshes().into_iter().enumerate() {
            let executable = fake(&plugin, devices).compile(&program).expect("it compiles");
            let mut host = empty();
            (format.load)(&path, &mut host).expect("it is read");
            let mut on_devices = executable.load("layer", &host).expect("it fits");
            run(&executable, &mut on_devices);
            on_devices.read_into(&mut host).expect("it is the same struct");
            (format.save)(&path, &host).expect("it is written");
            // The file is the one that parameters on the host give.
            let mut expected = layer();
            expected.w += (saved + 1) as f32;
            expected.b += (saved + 1) as f32;
            let other = folder.path().join("expected");
            (format.save)(&other, &expected).expect("it is written");
            let [found, expected] = [&path, &other].map(|path| std::fs::read(path).expect("it is there"));
            assert_eq!(found, expected, "{} of a mesh of {devices}", format.name);
        }
        assert_nothing_is_left(&plugin);
    }
}

/// If reading from the devices fails, the parameters in memory stay as they are, and so does a file of them.
#[test]
fn parameters_that_cannot_be_read_are_not_saved() {
    let (copy, folder) = (variant("good"), folder());
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let path = folder.path().join("layer.safetensors");
    safetensors::save(&path, &layer()).expect("it is written");
    let options =
        [("fail", ClientOption::Text("read event".into())), ("cpu_device_count", ClientOption::Int(2))];
    let client = plugin.client(&options).expect("it makes a client");
    let (_, program) = &meshes()[1];
    let executable = client.compile(program).expect("it compiles");
    let on_devices = executable.load("layer", &layer()).expect("it fits");
    let save = |host: &mut Layer| -> Result<(), Error> {
        on_devices.read_into(host)?;
        safetensors::save(&path, host).expect("it is written");
        Ok(())
    };
    let mut host = empty();
    let error = save(&mut host).expect_err("the devices are lost").to_string();
    assert_eq!(error, "the plugin failed to copy a tensor from the devices (INTERNAL): the device is lost");
    assert!(
        host.parameters()
            .iter()
            .all(|part| part.as_slice::<f32>().is_some_and(|w| w.iter().all(|x| *x == 0.0)))
    );
    safetensors::load(&path, &mut host).expect("the file is the old one");
    assert_eq!((host.w, host.b), (layer().w, layer().b));
}
