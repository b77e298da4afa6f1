//! Meshes over processes. Each process of a test is a thread with its own copy of the fake plugin, which calls the
//! callbacks of its client.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use mind::{Const, Tensor, mind};
use mind_xla::{Client, ClientOption, Error, Plugin, Processes, Program};

use crate::fake::{assert_nothing_is_left, layer, program, variant, x};

mind! {
    fn head(x: f32[8]) -> f32[4] { x[..4] }
}

const LIMIT: Duration = Duration::from_secs(20);
/// The limit of processes that wait in vain.
const SHORT: Duration = Duration::from_millis(300);

/// An address of this machine at which nothing listens.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    listener.local_addr().expect("it is bound").to_string()
}

/// The results of processes, each of which runs on a thread.
fn run<T: Send>(count: usize, body: impl Fn(&str, usize) -> T + Sync) -> Vec<T> {
    let address = free_address();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|process| {
                let (body, address) = (&body, &address);
                scope.spawn(move || body(address, process))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    })
}

fn meet(address: &str, process: usize, count: usize) -> Processes {
    Processes::meet(address, process, count, LIMIT).expect("all processes come")
}

/// The program `head` over a number of devices.
fn program_of_head(devices: usize) -> Program {
    Program::from_mic(head::MIC, head::UPDATES).expect("it is a module").axis("d", devices)
}

fn eight() -> Tensor![f32; 8] {
    Tensor::from_fn_with((Const,), |[i]| i as f32)
}

fn client(plugin: &Plugin, processes: &Processes, options: &[(&str, ClientOption)]) -> Result<Client, Error> {
    plugin.client_among(processes, options)
}

fn keys(script: &str) -> (&str, ClientOption) {
    ("keys", ClientOption::Text(script.into()))
}

#[test]
fn a_program_is_split_over_the_devices_of_two_processes() {
    run(2, |address, process| {
        let copy = variant("good");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let processes = meet(address, process, 2);
        let client = client(&plugin, &processes, &[]).expect("it makes a client");
        assert_eq!((client.device_count(), client.mesh_size()), (1, 2));
        assert_eq!(client.device(0).expect("it is there").id, i32::try_from(process).expect("it is small"));
        // Whatever is alive keeps the connection.
        drop(processes);
        let executable = client.compile(&program()).expect("it compiles");
        let mut on_devices = executable.load("layer", &layer()).expect("the layer fits");
        let x = x();
        for _ in 0..3 {
            let call = executable.call().pass("x", &x).update("layer", &mut on_devices);
            call.number("rate", 1.0_f32).run().expect("it runs");
        }
        let mut updated = layer();
        on_devices.read_into(&mut updated).expect("it is whole in each process");
        assert_eq!(updated.b, Tensor::from([13.0, 23.0]));
        // The fake plugin gives the part of the argument as the result.
        let halves = client.compile(&program_of_head(2).split("x", &["d"])).expect("it compiles");
        let result = halves.call().pass("x", &eight()).run().expect("it runs").remove(0);
        let part = eight().as_slice()[4 * process..][..4].to_vec();
        assert_eq!(result.to_vec::<f32>().expect("it is f32"), part);
        drop((result, halves, executable, on_devices, client));
        assert_nothing_is_left(&plugin);
    });
}

#[test]
fn a_tensor_that_is_split_over_processes_is_not_read_as_whole() {
    run(2, |address, process| {
        let copy = variant("good");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let processes = meet(address, process, 2);
        let two = [("cpu_device_count", ClientOption::Int(2))];
        let client = client(&plugin, &processes, &two).expect("it makes a client");
        assert_eq!((client.device_count(), client.mesh_size()), (2, 4));
        let split = |axis| program().axis("m", 2).split("layer.w", &[axis, "_"]);
        // The axis `d` is the processes, and the axis `m` the devices of each.
        let executable = client.compile(&split("m")).expect("it compiles");
        let mut read = layer();
        let loaded = executable.load("layer", &layer()).expect("the layer fits");
        loaded.read_into(&mut read).expect("each process has all parts");
        assert_eq!((read.w, read.b), (layer().w, layer().b));
        let executable = client.compile(&split("d")).expect("it compiles");
        let loaded = executable.load("layer", &layer()).expect("the layer fits");
        let (_, w) = loaded.tensors().next().expect("it has fields");
        let error = w.to_vec::<f32>().expect_err("half of it is elsewhere").to_string();
        assert_eq!(error, "cannot read f32[4, 2], of which this process has 1 of 2 parts, as a whole tensor");
    });
}

#[test]
fn a_mesh_without_devices_of_a_process_is_refused_there() {
    let texts = run(2, |address, process| {
        let copy = variant("good");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let processes = meet(address, process, 2);
        let two = [("cpu_device_count", ClientOption::Int(2))];
        let client = client(&plugin, &processes, &two).expect("it makes a client");
        client.compile(&program()).err().map(|error| error.to_string())
    });
    let refusal = "the program is for the first 2 devices, and process 1 has none of them";
    assert_eq!(texts, [None, Some(refusal.to_owned())]);
}

/// The plugin runs a script of calls of its callbacks before its own exchange.
#[test]
fn callbacks_give_values_and_errors() {
    let said = run(2, |address, process| {
        let copy = variant("good");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let processes = meet(address, process, 2);
        let script = match process {
            0 => "try b, put a first, get b 20000, put a second, get none 50, get none -1, try a",
            _ => "get a 20000, put b 2, try none",
        };
        let first = client(&plugin, &processes, &[keys(script)]).expect("it makes a client");
        // A second client has its own keys.
        let second = client(&plugin, &processes, &[keys(["try a", "try b"][process])]).expect("it makes one");
        [first, second].map(|client| client.platform_version().expect("it tells"))
    });
    let expected = "try b: error 5: no process has put `0/b`\n\
        put a first: done\n\
        get b 20000: 2\n\
        put a second: error 6: `0/a` was put before\n\
        get none 50: error 4: no process has put `0/none` within 50 ms\n\
        get none -1: error 4: no process has put `0/none` within 0 ms\n\
        try a: first";
    assert_eq!(said[0], [expected, "try a: error 5: no process has put `1/a`"]);
    let expected = "get a 20000: first\nput b 2: done\ntry none: error 5: no process has put `0/none`";
    assert_eq!(said[1], [expected, "try b: error 5: no process has put `1/b`"]);
}

#[test]
fn an_error_of_a_callback_is_the_error_of_the_client() {
    let texts = run(2, |address, process| {
        let copy = variant("good");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let processes = meet(address, process, 2);
        // Process 1 makes no client, and stays until process 0 has given up.
        let text = match process {
            0 => {
                client(&plugin, &processes, &[("limit", ClientOption::Int(60))]).err().map(|e| e.to_string())
            }
            _ => None,
        };
        assert_nothing_is_left(&plugin);
        text
    });
    let error = "the plugin failed to make a client (DEADLINE_EXCEEDED): no process has put `0/devices/1` within 60 ms";
    // Process 1 may have left by then.
    let left = "the plugin failed to make a client (UNAVAILABLE): ";
    assert!(texts[0].as_ref().is_some_and(|text| text == error || text.starts_with(left)), "{texts:?}");
}

/// A thread that panics drops its connection without a word, as a process that is killed does.
#[test]
fn a_lost_process_ends_waits_and_programs_at_once() {
    let address = free_address();
    let start = Instant::now();
    let survivor = |process| {
        let address = address.clone();
        thread::spawn(move || {
            let copy = variant("good");
            let plugin = Plugin::load(&copy.path).expect("it loads");
            let processes = meet(&address, process, 3);
            let client = client(&plugin, &processes, &[]).expect("it makes a client");
            let executable = client.compile(&program_of_head(3)).expect("it compiles");
            let x = eight();
            let call = executable.call().pass("x", &x);
            let error = call.run().expect_err("a process is lost").to_string();
            drop((executable, client));
            assert_nothing_is_left(&plugin);
            error
        })
    };
    let survivors = [0, 2].map(survivor);
    let lost = thread::spawn({
        let address = address.clone();
        move || {
            let copy = variant("good");
            let plugin = Plugin::load(&copy.path).expect("it loads");
            let processes = meet(&address, 1, 3);
            let _client = client(&plugin, &processes, &[]).expect("it makes a client");
            std::panic::resume_unwind(Box::new("killed"));
        }
    });
    assert!(lost.join().is_err());
    for survivor in survivors {
        let error = survivor.join().expect("it does not panic");
        let expected = "the plugin failed to run the program (INTERNAL): process 1 is lost, and no process has put `0/run 1/";
        assert!(error.starts_with(expected), "{error}");
    }
    assert!(start.elapsed() < LIMIT, "nothing waited for a limit");
}

#[test]
fn processes_that_do_not_come_are_named() {
    let texts = run(4, |address, process| match process {
        0 | 2 => Processes::meet(address, process, 4, SHORT).err().map(|error| error.to_string()),
        _ => None,
    });
    let expected = "of 4 processes, process 1, process 3 did not come in time";
    for text in [&texts[0], &texts[2]] {
        let text = text.as_ref().expect("it is an error");
        assert!(text.starts_with("the processes do not meet at 127.0.0.1:"), "{text}");
        assert!(text.ends_with(expected), "{text}");
    }
    let address = free_address();
    let error = Processes::meet(&address, 1, 2, SHORT).expect_err("there is no process 0").to_string();
    assert!(
        error.starts_with(&format!("the processes do not meet at {address}: process 0 is absent: ")),
        "{error}"
    );
}

#[test]
fn processes_that_disagree_are_refused() {
    let texts = run(2, |address, process| {
        Processes::meet(address, process, 2 + process, LIMIT).expect_err("they disagree").to_string()
    });
    for text in texts {
        assert!(text.ends_with(": process 1 is one of 3 processes, and process 0 one of 2"), "{text}");
    }
    let texts =
        run(2, |address, _| Processes::meet(address, 0, 2, SHORT).expect_err("one is twice").to_string());
    assert!(texts.iter().any(|text| text.contains("cannot listen there")), "{texts:?}");
    let texts = run(3, |address, process| {
        Processes::meet(address, process.min(1), 3, LIMIT).expect_err("one is twice").to_string()
    });
    assert!(texts.iter().all(|text| text.ends_with("two processes have the number 1")), "{texts:?}");
    let error = Processes::meet("127.0.0.1:1", 2, 2, LIMIT).expect_err("there are two").to_string();
    assert!(error.ends_with("process 2 is not one of 2, which count from 0"), "{error}");
    let error = Processes::meet("nowhere", 0, 1, LIMIT).expect_err("it has no port").to_string();
    assert!(error.starts_with("the processes do not meet at nowhere: cannot listen there: "), "{error}");
}

/// Connections of other protocols, and such that send nothing, do not disturb the processes.
#[test]
fn foreign_connections_are_ignored() {
    run(2, |address, process| {
        if process == 1 {
            let connect = || loop {
                match TcpStream::connect(address) {
                    Ok(stream) => break stream,
                    Err(_) => thread::sleep(Duration::from_millis(5)),
                }
            };
            let (mut foreign, silent) = (connect(), connect());
            foreign.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it is open");
            drop(meet(address, process, 2));
            drop(silent);
        } else {
            drop(meet(address, process, 2));
        }
    });
}

#[test]
fn a_plugin_that_ignores_the_callbacks_is_refused() {
    let texts = run(2, |address, process| {
        let copy = variant("alone");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let error = client(&plugin, &meet(address, process, 2), &[]).expect_err("it is alone").to_string();
        assert_nothing_is_left(&plugin);
        error
    });
    let expected = |process| {
        format!(
            "the plugin failed to make a client (UNIMPLEMENTED): it has the devices of 1 processes, needed 2, and takes \
             this process for number 0, needed {process}"
        )
    };
    assert_eq!(texts, [expected(0), expected(1)]);
}
