//! Runs programs on a real plugin for CPUs, which `MIND_PJRT_PLUGIN` names. `ci/xla` installs one. Without a plugin,
//! each test prints `NOT RUN`.

use mind::files::safetensors;
use mind::{Const, Parameters, Tensor, Xoshiro256, mind};
use mind_xla::{
    Cache, Cached, Client, ClientOption, Compute, OnDevices, Plugin, Precision, Processes, Program, VARIABLE,
};

mind! {
    #[derive(Clone)]
    struct Network { w1: f32[6, 8], b1: f32[8], w2: f32[8, 4], b2: f32[4] }

    fn scores<N>(x: f32[N, 6], net: Network) -> f32[N, 4] {
        nn::dense(tanh(nn::dense(x, net.w1, net.b1)), net.w2, net.b2)
    }

    fn loss<N>(x: f32[N, 6], y: i64[N], net: Network) -> f32 {
        nn::cross_entropy(scores(x, net), y)
    }

    fn step<N>(x: f32[N, 6], y: i64[N], net: &mut Network, rate: f32) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, y, net);
        net = optim::sgd(net, gradient, rate);
        l
    }

    fn every_type<N>(a: f32[N, 2], b: f64[2, N], c: i32[N], d: i64[N, 2]) -> (f32[N, 2], f64[2, N], i32[N], i64[2, N]) {
        (a + 1.0, b * 2.0, c - 3, transpose(d))
    }

    /// The first layer is frozen.
    fn tune<N>(x: f32[N, 6], y: i64[N], net: &mut Network, rate: f32) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, y, net);
        net.w2 = net.w2 - rate * gradient.w2;
        net.b2 = net.b2 - rate * gradient.b2;
        l
    }

    fn peaks<N>(x: f32[N, 2]) -> (f32, f32[2], f32[N]) { (max(x), min(x, axis = 0), max(x, axis = 1)) }

    fn total<N>(x: f32[N]) -> f32 { sum(x) }

    fn powers(a: f32[256, 256]) -> f32[256, 256] { a @ a @ a @ a @ a }

    fn scale(a: &mut f32[256, 256]) { a = a * 0.5; }

    fn product(a: f32[24, 24], b: f32[24, 24]) -> f32[24, 24] { a @ b }

    fn above(x: f32[4], least: f32) -> bool[4] { x > least }
}

type Rows = Tensor![f32; ?, 6];

/// A client with `devices` devices, or `None` without a plugin.
fn client(devices: i64) -> Option<Client> {
    if std::env::var_os(VARIABLE).is_none() {
        eprintln!("NOT RUN: `{VARIABLE}` names no plugin; `ci/xla` installs one");
        return None;
    }
    let plugin = Plugin::from_env().expect("the plugin loads");
    let options = [("cpu_device_count", ClientOption::Int(devices))];
    Some(plugin.client(&options).expect("the plugin makes a client"))
}

fn program(mic: &str, updates: &[usize]) -> Program {
    Program::from_mic(mic, updates).expect("the module is one of the macro's")
}

fn sample() -> (Rows, Tensor![i64; ?], Network) {
    let x =
        Tensor::from_fn_with((16, Const), |[row, column]| ((row * 7 + column * 3) % 11) as f32 / 11.0 - 0.4);
    let y = Tensor::from_fn_with((16,), |[row]| (row % 4) as i64);
    (x, y, Network::he_uniform(&mut Xoshiro256::new(3)))
}

/// The losses of 50 steps, and the network after them.
fn train(client: &Client, program: &Program) -> (Vec<f32>, Network) {
    let (x, y, mut net) = sample();
    let executable = client.compile(program).expect("the program compiles");
    let mut on_devices: OnDevices = executable.load("net", &net).expect("the network fits");
    let losses = (0..50).map(|_| {
        let call = executable.call().pass("x", &x).pass("y", &y).update("net", &mut on_devices);
        let results = call.number("rate", 0.3_f32).run().expect("the step runs");
        assert_eq!(results.len(), 1);
        results[0].number().expect("it is a number")
    });
    let losses = losses.collect();
    on_devices.read_into(&mut net).expect("it is the same network");
    (losses, net)
}

#[test]
fn steps_over_devices_are_those_of_this_process() {
    let Some(client) = client(8) else { return };
    let (x, y, mut net) = sample();
    let expected: Vec<f32> = (0..50).map(|_| step(&x, &y, &mut net, 0.3)).collect();
    assert!(expected[49] < 0.9 * expected[0], "{expected:?}");
    let alone = program(step::MIC, step::UPDATES).extent("N", 16);
    let data = alone.clone().axis("d", 8).split("x", &["d", "_"]).split("y", &["d"]);
    let tensor = |program: Program, axis| {
        program.split("net.w1", &["_", axis]).split("net.b1", &[axis]).split("net.w2", &[axis, "_"])
    };
    let both = alone.clone().axis("d", 4).axis("m", 2).split("x", &["d", "_"]).split("y", &["d"]);
    for program in [alone.clone(), data, tensor(alone.axis("m", 8), "m"), tensor(both, "m")] {
        let (losses, found) = train(&client, &program);
        for (loss, expected) in losses.iter().zip(&expected) {
            assert!((loss - expected).abs() < 1e-5, "{losses:?}\n{expected:?}");
        }
        for (found, expected) in found.parameters().iter().zip(net.parameters()) {
            let pair = (found.as_slice::<f32>(), expected.as_slice::<f32>());
            let (Some(found), Some(expected)) = pair else { panic!("all are f32") };
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}\n{expected:?}");
        }
    }
}

#[test]
fn each_precision_keeps_its_bound() {
    let Some(client) = client(1) else { return };
    let [a, b]: [Tensor![f32; 24, 24]; 2] = [0.37, 0.61]
        .map(|step: f32| Tensor::from_fn_with((Const, Const), |[i, j]| ((24 * i + j) as f32 * step).sin()));
    let exact = product(&a, &b);
    for (precision, rounding) in [
        (Precision::Highest, 1e-6),
        (Precision::Tf32, 2.0_f32.powi(-10)),
        (Precision::Bf16, 2.0_f32.powi(-7)),
    ] {
        let program = program(product::MIC, &[]).precision(precision);
        let executable = client.compile(&program).expect("the program compiles");
        let results = executable.call().pass("a", &a).pass("b", &b).run().expect("it runs");
        let found = results[0].to_vec::<f32>().expect("f32");
        // Both operands are rounded, and the sum of the magnitudes of 24 products is at most 24.
        let bound = 24.0 * rounding;
        assert!(found.iter().zip(exact.as_slice()).all(|(a, b)| (a - b).abs() <= bound), "{precision:?}");
    }
}

/// The nearest number with 8 significant bits, of two the even one.
fn bfloat16(number: f32) -> f32 {
    let bits = number.to_bits();
    f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
}

#[test]
fn operands_are_rounded_to_bfloat16_where_a_program_computes_in_it() {
    let Some(client) = client(1) else { return };
    let [a, b]: [Tensor![f32; 24, 24]; 2] = [0.37, 0.61]
        .map(|step: f32| Tensor::from_fn_with((Const, Const), |[i, j]| ((24 * i + j) as f32 * step).sin()));
    let rounded = |x: &Tensor![f32; 24, 24]| Tensor::from_fn_with((Const, Const), |at| bfloat16(x[at]));
    let (exact, expected) = (product(&a, &b), product(&rounded(&a), &rounded(&b)));
    let executable = client.compile(&program(product::MIC, &[]).compute(Compute::Bf16)).expect("it compiles");
    let results = executable.call().pass("a", &a).pass("b", &b).run().expect("it runs");
    let found = results[0].to_vec::<f32>().expect("f32");
    let largest = |from: &Tensor![f32; 24, 24]| {
        found.iter().zip(from.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    assert!(
        largest(&expected) < 1e-5 && largest(&exact) > 1e-4,
        "{} {}",
        largest(&expected),
        largest(&exact)
    );
    // Training: parameters and losses stay `f32`, near those of a training in `f32`.
    let step = program(step::MIC, step::UPDATES).extent("N", 16);
    let (found, net) = train(&client, &step.clone().compute(Compute::Bf16));
    let (expected, _) = train(&client, &step);
    assert_ne!(found, expected);
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 0.02), "{found:?}\n{expected:?}");
    assert!(net.w1.as_slice().iter().any(|weight| bfloat16(*weight) != *weight));
}

#[test]
fn started_steps_are_those_that_are_waited_for() {
    for (devices, limit) in [(1, 1), (1, 4), (8, 2), (8, 4)] {
        let Some(client) = client(devices) else { return };
        let client = client.in_flight(limit);
        let program = program(step::MIC, step::UPDATES).extent("N", 16);
        let program = match devices {
            1 => program,
            _ => program.axis("d", 8).split("x", &["d", "_"]).split("y", &["d"]),
        };
        let (expected, net) = train(&client, &program);
        let (x, y, start) = sample();
        let executable = client.compile(&program).expect("the program compiles");
        let mut on_devices = executable.load("net", &start).expect("the network fits");
        let losses = expected.iter().map(|_| {
            let call = executable.call().pass("x", &x).pass("y", &y).update("net", &mut on_devices);
            call.number("rate", 0.3_f32).start().expect("the step starts").remove(0)
        });
        let losses: Vec<_> = losses.collect();
        let mut found = start.clone();
        on_devices.read_into(&mut found).expect("it is the same network");
        let pairs = found.parameters().into_iter().zip(net.parameters());
        assert!(pairs.into_iter().all(|(found, net)| found.as_slice::<f32>() == net.as_slice::<f32>()));
        let losses: Vec<f32> = losses.iter().map(|loss| loss.number().expect("it is a number")).collect();
        assert_eq!(losses, expected);
        // The last steps are dropped in flight.
        for _ in 0..limit {
            let call = executable.call().pass("x", &x).pass("y", &y).update("net", &mut on_devices);
            call.number("rate", 0.3_f32).start().expect("the step starts");
        }
    }
}

#[test]
fn a_loader_copies_what_a_call_would() {
    for devices in [1, 8] {
        let Some(client) = client(devices) else { return };
        let program = program(step::MIC, step::UPDATES).extent("N", 16);
        let program = match devices {
            1 => program,
            _ => program.axis("d", 8).split("x", &["d", "_"]).split("y", &["d"]),
        };
        let (x, y, start) = sample();
        let batches = (0..20).map(|turn| {
            let x: Tensor![f32; ?, 6] = Tensor::from_fn_with((16, Const), |at| x[at] + turn as f32);
            (x, y.clone())
        });
        let executable = client.compile(&program).expect("the program compiles");
        let train = |is_loaded: bool| {
            let mut net = executable.load("net", &start).expect("the network fits");
            let mut losses = Vec::new();
            if is_loaded {
                for batch in executable.loader(["x", "y"], batches.clone()) {
                    let [x, y] = batch.expect("it is copied");
                    let call = executable.call().lend("x", &x).lend("y", &y).update("net", &mut net);
                    losses.extend(call.number("rate", 0.3_f32).start().expect("the step starts"));
                }
            } else {
                for (x, y) in batches.clone() {
                    let call = executable.call().pass("x", &x).pass("y", &y).update("net", &mut net);
                    losses.extend(call.number("rate", 0.3_f32).start().expect("the step starts"));
                }
            }
            losses.iter().map(|loss| loss.number().expect("it is a number")).collect::<Vec<f32>>()
        };
        assert_eq!(train(true), train(false));
    }
}

/// A program that updates a tensor does not change it for a program in flight that reads it.
#[test]
fn a_tensor_that_is_read_in_flight_can_be_updated() {
    let Some(client) = client(1) else { return };
    let client = client.in_flight(8);
    let compiled = |mic, updates| client.compile(&program(mic, updates)).expect("the program compiles");
    let (reads, updates) = (compiled(powers::MIC, powers::UPDATES), compiled(scale::MIC, scale::UPDATES));
    let a: Tensor![f32; 256, 256] =
        Tensor::from_fn_with((Const, Const), |[i, j]| ((256 * i + j) as f32 * 0.37).sin() / 16.0);
    let mut on_devices = updates.load("a", &a).expect("it fits");
    let mut found = Vec::new();
    for _ in 0..4 {
        found.push(reads.call().lend("a", &on_devices).start().expect("it starts").remove(0));
        updates.call().update("a", &mut on_devices).start().expect("it starts");
    }
    let mut a = a;
    for found in found {
        let expected = reads.call().pass("a", &a).run().expect("it runs");
        assert_eq!(found.read().expect("it is there"), expected[0].read().expect("it is there"));
        scale(&mut a);
    }
}

/// The CPU plugin writes and loads its programs.
#[test]
fn a_program_is_compiled_once() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let folder = folder.path().join("xla");
    let mut all = Vec::new();
    for (devices, expected) in
        [(1, Cached::Stored), (1, Cached::Found), (8, Cached::Stored), (8, Cached::Found)]
    {
        let Some(client) = client(devices) else { return };
        let client = client.cache(Cache::open(&folder).expect("the folder is one's own"));
        let program = program(step::MIC, step::UPDATES).extent("N", 16);
        let program = match devices {
            1 => program,
            _ => program.axis("d", 8).split("x", &["d", "_"]).split("y", &["d"]),
        };
        assert_eq!(client.compile(&program).expect("the program compiles").cached(), &expected);
        all.push(train(&client, &program).0);
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[2], all[3]);
}

#[test]
fn a_program_tells_its_memory() {
    let Some(client) = client(1) else { return };
    let program = program(step::MIC, step::UPDATES).extent("N", 16);
    let memory =
        client.compile(&program).expect("it compiles").memory().expect("it tells").expect("it has figures");
    // The weights, the data (16 rows of 6 f32 and 16 i64) and the rate.
    let weights = 4 * (6 * 8 + 8 + 8 * 4 + 4);
    assert_eq!((memory.arguments, memory.reused), (weights + 16 * 6 * 4 + 16 * 8 + 4, weights));
    assert!(memory.results >= weights + 4 && memory.temporaries > 0, "{memory:?}");
}

#[test]
fn options_of_xla_come_to_the_compiler() {
    let Some(client) = client(1) else { return };
    let product = || program(product::MIC, &[]);
    let fine =
        product().xla_option("xla_cpu_enable_fast_math", "True").xla_option("xla_gpu_autotune_level", "0");
    client.compile(&fine).expect("the program compiles");
    for (name, value, said) in [
        ("xla_no_such_option", "1", "No such compile option: 'xla_no_such_option'"),
        ("xla_gpu_autotune_level", "much", "xla_gpu_autotune_level"),
    ] {
        let error =
            client.compile(&product().xla_option(name, value)).expect_err("it is refused").to_string();
        let expected = "the plugin failed to compile the program (INVALID_ARGUMENT): ";
        assert!(error.starts_with(expected) && error.contains(said), "{error}");
    }
}

#[test]
fn a_layer_that_a_step_leaves_as_it_is_stays_on_the_devices() {
    let Some(client) = client(1) else { return };
    let (x, y, mut net) = sample();
    let first = net.clone();
    let executable =
        client.compile(&program(tune::MIC, tune::UPDATES).extent("N", 16)).expect("the program compiles");
    let mut on_devices = executable.load("net", &net).expect("the network fits");
    for _ in 0..20 {
        let expected = tune(&x, &y, &mut net, 0.3);
        let call = executable.call().pass("x", &x).pass("y", &y).update("net", &mut on_devices);
        let results = call.number("rate", 0.3_f32).run().expect("the step runs");
        let found: f32 = results[0].number().expect("it is a number");
        assert!((found - expected).abs() < 1e-5, "{found}, needed {expected}");
    }
    let mut back = first.clone();
    on_devices.read_into(&mut back).expect("it is the same network");
    assert_eq!((&back.w1, &back.b1), (&first.w1, &first.b1));
    assert_ne!(back.w2, first.w2);
}

/// Runs on one device and on four devices, each of which computes the maximum of its part.
#[test]
fn nan_stays_where_rows_are_split() {
    for devices in [1, 4] {
        let Some(client) = client(devices) else { return };
        let program = program(peaks::MIC, peaks::UPDATES).extent("N", 8);
        let program = program.axis("d", devices as usize).split("x", &["d", "_"]);
        let executable = client.compile(&program).expect("the program compiles");
        let x: Tensor![f32; ?, 2] =
            Tensor::from_fn_with(
                (8, Const),
                |[i, j]| {
                    if (i, j) == (5, 1) { f32::NAN } else { (2 * i + j) as f32 }
                },
            );
        let results = executable.call().pass("x", &x).run().expect("it runs");
        assert!(results[0].number::<f32>().expect("it is a number").is_nan());
        let columns = results[1].to_vec::<f32>().expect("f32");
        assert!(columns[0] == 0.0 && columns[1].is_nan(), "{columns:?}");
        let rows = results[2].to_vec::<f32>().expect("f32");
        assert!(rows.iter().enumerate().all(|(row, most)| most.is_nan() == (row == 5)), "{rows:?}");
    }
}

#[test]
fn every_type_comes_back_whole() {
    let Some(client) = client(4) else { return };
    let a: Tensor![f32; ?, 2] = Tensor::from_fn_with((8, Const), |[i, j]| (2 * i + j) as f32);
    let b: Tensor![f64; 2, ?] = Tensor::from_fn_with((Const, 8), |[i, j]| (8 * i + j) as f64);
    let c: Tensor![i32; ?] = Tensor::from_fn_with((8,), |[i]| i as i32);
    let d: Tensor![i64; ?, 2] = Tensor::from_fn_with((8, Const), |[i, j]| (2 * i + j) as i64);
    let expected = every_type(&a, &b, &c, &d);
    let program = program(every_type::MIC, every_type::UPDATES).extent("N", 8).axis("d", 4);
    let program = program.split("a", &["d", "_"]).split("b", &["_", "d"]).split("d", &["d", "_"]);
    let executable = client.compile(&program).expect("the program compiles");
    let call = executable.call().pass("a", &a).pass("b", &b).pass("c", &c).pass("d", &d);
    let results = call.run().expect("it runs");
    assert_eq!(results[0].to_vec::<f32>().expect("f32"), expected.0.as_slice());
    assert_eq!(results[1].to_vec::<f64>().expect("f64"), expected.1.as_slice());
    assert_eq!(results[2].to_vec::<i32>().expect("i32"), expected.2.as_slice());
    assert_eq!(results[3].to_vec::<i64>().expect("i64"), expected.3.as_slice());
    assert_eq!((results[3].dims(), results.len()), (&[2, 8][..], 4));
}

/// The devices of all clients have the same numbers.
#[test]
fn clients_of_several_threads_add_their_own_parts() {
    let Some(first) = client(4) else { return };
    let sums = |client: &Client, scale: usize| {
        let program = program(total::MIC, total::UPDATES).extent("N", 8).axis("d", 4).split("x", &["d"]);
        let executable = client.compile(&program).expect("the program compiles");
        for turn in 0..500 {
            let x: Tensor![f32; ?] = Tensor::from_fn_with((8,), |[i]| (scale * (i + turn)) as f32);
            let results = executable.call().pass("x", &x).run().expect("it runs");
            let expected = (scale * (28 + 8 * turn)) as f32;
            assert_eq!(results[0].number::<f32>().expect("it is a number"), expected, "turn {turn}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| sums(&client(4).expect("there is a plugin"), 10));
        sums(&first, 1);
    });
}

#[test]
fn truth_values_come_back() {
    let Some(client) = client(1) else { return };
    let executable = client.compile(&program(above::MIC, &[])).expect("the program compiles");
    let x = Tensor::from([1.0_f32, -1.0, 3.0, 0.5]);
    let results = executable.call().pass("x", &x).number("least", 0.5_f32).run().expect("it runs");
    assert_eq!(results[0].to_vec::<bool>().expect("bool"), [true, false, true, false]);
}

#[test]
fn parameters_split_by_columns_come_back_as_they_went() {
    let Some(client) = client(4) else { return };
    let program =
        program(scores::MIC, scores::UPDATES).extent("N", 2).axis("m", 4).split("net.w1", &["_", "m"]);
    let executable = client.compile(&program).expect("the program compiles");
    let (_, _, net) = sample();
    let on_devices = executable.load("net", &net).expect("the network fits");
    let mut back =
        Network { w1: Tensor::zeros(), b1: Tensor::zeros(), w2: Tensor::zeros(), b2: Tensor::zeros() };
    on_devices.read_into(&mut back).expect("it is the same struct");
    assert_eq!(back.w1, net.w1);
    assert_eq!(back.w2, net.w2);
}

/// A training goes on from a file on another mesh, with the losses of one that was not interrupted.
#[test]
fn a_training_goes_on_from_a_file_on_another_mesh() {
    let Some(client) = client(8) else { return };
    let (x, y, mut net) = sample();
    let expected: Vec<f32> = (0..50).map(|_| step(&x, &y, &mut net, 0.3)).collect();
    let alone = program(step::MIC, step::UPDATES).extent("N", 16);
    let columns =
        |program: Program| program.axis("m", 4).split("net.w1", &["_", "m"]).split("net.b1", &["m"]);
    let rows = |program: Program| program.axis("d", 2).split("net.w2", &["d", "_"]).split("x", &["d", "_"]);
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join("net.safetensors");
    safetensors::save(&path, &sample().2).expect("it is written");
    let mut losses = Vec::new();
    for (steps, program) in [(20, columns(alone.clone())), (20, rows(columns(alone.clone()))), (10, alone)] {
        let executable = client.compile(&program).expect("the program compiles");
        safetensors::load(&path, &mut net).expect("it is read");
        let mut on_devices = executable.load("net", &net).expect("the network fits");
        for _ in 0..steps {
            let call = executable.call().pass("x", &x).pass("y", &y).update("net", &mut on_devices);
            let results = call.number("rate", 0.3_f32).run().expect("the step runs");
            losses.push(results[0].number::<f32>().expect("it is a number"));
        }
        on_devices.read_into(&mut net).expect("it is the same network");
        safetensors::save(&path, &net).expect("it is written");
    }
    for (loss, expected) in losses.iter().zip(&expected) {
        assert!((loss - expected).abs() < 1e-5, "{losses:?}\n{expected:?}");
    }
    assert_eq!(losses.len(), expected.len());
}

/// The plugin for CPUs ignores the callbacks, and its client has the devices of one process.
#[test]
fn a_mesh_over_processes_is_refused_by_the_plugin_for_cpus() {
    if client(1).is_none() {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = listener.local_addr().expect("it is bound").to_string();
    drop(listener);
    let refused = |process| {
        let plugin = Plugin::from_env().expect("the plugin loads");
        let limit = std::time::Duration::from_secs(20);
        let processes = Processes::meet(&address, process, 2, limit).expect("both come");
        plugin.client_among(&processes, &[]).expect_err("it does not join devices").to_string()
    };
    let texts = std::thread::scope(|scope| {
        let threads = [0, 1].map(|process| {
            scope.spawn({
                let refused = &refused;
                move || refused(process)
            })
        });
        threads.map(|thread| thread.join().expect("it does not panic"))
    });
    let expected =
        "the plugin failed to make a client (UNIMPLEMENTED): it has the devices of 1 processes, needed 2";
    assert!(texts.iter().all(|text| text.starts_with(expected)), "{texts:?}");
}

#[test]
fn devices_say_what_they_are() {
    let Some(client) = client(3) else { return };
    let devices = client.devices().expect("the plugin tells");
    assert_eq!(devices.iter().map(|device| device.id).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(devices.iter().all(|device| device.kind == "cpu" && !device.memories.is_empty()), "{devices:?}");
    assert_eq!(client.platform().expect("the plugin tells"), "cpu");
}
