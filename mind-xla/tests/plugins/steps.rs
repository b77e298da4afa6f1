//! Programs that are started and not waited for: their order, their bound, their failures, and what is dropped before
//! they end. The fake plugin ends and fails executions by a schedule, and counts as misuses objects that are destroyed
//! while they are used.

use mind::{Tensor, mind};
use mind_xla::{Client, ClientOption, DeviceTensor, Error, Executable, OnDevices, Plugin, Program};

use crate::fake::{Layer, assert_nothing_is_left, layer, step, variant, x};

mind! {
    fn keep(total: f32[4], more: f32[4]) -> (f32[4], f32[4]) { (total + more, more) }
}

/// A client whose executions end as scheduled.
fn client(plugin: &Plugin, schedule: &str, fail: &str) -> Client {
    let text = |value: &str| ClientOption::Text(value.into());
    let options =
        [("schedule", text(schedule)), ("fail", text(fail)), ("cpu_device_count", ClientOption::Int(2))];
    plugin.client(&options).expect("it makes a client")
}

/// A step on two devices, which both have all of the data.
fn loaded(client: &Client) -> (Executable, OnDevices) {
    let program = Program::from_mic(step::MIC, step::UPDATES).expect("the module is one of the macro's");
    let executable = client.compile(&program.extent("N", 4).axis("d", 2)).expect("it compiles");
    let on_devices = executable.load("layer", &layer()).expect("the layer fits");
    (executable, on_devices)
}

fn start(executable: &Executable, on_devices: &mut OnDevices) -> Result<DeviceTensor, Error> {
    let x = x();
    let call = executable.call().pass("x", &x).update("layer", on_devices).number("rate", 1.0_f32);
    let mut results = call.start()?;
    assert_eq!(results.len(), 1);
    Ok(results.remove(0))
}

/// The number of executions that have not ended.
fn running(client: &Client) -> usize {
    let said = client.platform_version().expect("it tells");
    let (_, rest) = said.split_once("running ").expect("it counts");
    rest.split(',').next().and_then(|count| count.parse().ok()).expect("it counts")
}

fn most_at_a_time(client: &Client) -> String {
    client.device(0).expect("it is there").description
}

/// Checks that the layer on the devices was updated `steps` times.
fn assert_updated(on_devices: &OnDevices, steps: usize) {
    let mut back = layer();
    on_devices.read_into(&mut back).expect("it is the same struct");
    let expected = layer();
    let added = |found: &[f32], from: &[f32]| {
        found.iter().zip(from).all(|(found, from)| *found == from + steps as f32)
    };
    assert!(added(back.w.as_slice(), expected.w.as_slice()), "{:?}", back.w);
    assert!(added(back.b.as_slice(), expected.b.as_slice()), "{:?}", back.b);
}

/// The plugin counts a run with the launch id of an earlier one as a misuse.
#[test]
fn runs_of_all_clients_have_launch_ids_of_their_own() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let clients = [client(&plugin, "", ""), client(&plugin, "", "")];
    let mut programs = clients.each_ref().map(|client| [loaded(client), loaded(client)]);
    for _ in 0..3 {
        for (executable, on_devices) in programs.as_flattened_mut() {
            start(executable, on_devices).expect("it starts").wait().expect("it ends");
        }
    }
    drop((programs, clients));
    assert_nothing_is_left(&plugin);
}

#[test]
fn programs_run_behind_one_another_while_the_caller_goes_on() {
    for (limit, expected) in [(None, 2), (Some(0), 1), (Some(1), 1), (Some(3), 3), (Some(9), 6)] {
        let copy = variant("good");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let client = client(&plugin, &["late 150"; 6].join(","), "");
        let client = match limit {
            None => client,
            Some(limit) => client.in_flight(limit),
        };
        let (executable, mut on_devices) = loaded(&client);
        let results: Vec<_> =
            (0..6).map(|_| start(&executable, &mut on_devices).expect("it starts")).collect();
        assert!(running(&client) > 0, "the last one has just started");
        assert!(on_devices.tensors().all(|(_, tensor)| tensor.is_there()));
        on_devices.wait().expect("all succeed");
        assert_eq!(running(&client), 0);
        assert_eq!(most_at_a_time(&client), format!("at most {expected} at a time"));
        assert_updated(&on_devices, 6);
        for result in &results {
            assert_eq!(result.to_vec::<f32>().expect("it is there"), x().as_slice());
        }
        drop((results, executable, on_devices, client));
        assert_nothing_is_left(&plugin);
    }
}

#[test]
fn reading_a_result_waits_for_its_program_only() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "late 20,late 400", "");
    let (executable, mut on_devices) = loaded(&client);
    let first = start(&executable, &mut on_devices).expect("it starts");
    let second = start(&executable, &mut on_devices).expect("it starts");
    assert_eq!(first.to_vec::<f32>().expect("it is there"), x().as_slice());
    assert_eq!(running(&client), 1);
    second.wait().expect("it succeeds");
    assert_eq!(running(&client), 0);
    second.wait().expect("it has ended");
    assert_updated(&on_devices, 2);
}

#[test]
fn a_call_takes_results_that_are_not_there_yet() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "late 50,late 50,fail 50,ok", "").in_flight(4);
    let program = Program::from_mic(keep::MIC, keep::UPDATES).expect("the module is one of the macro's");
    let executable = client.compile(&program).expect("it compiles");
    let (first, more) = (Tensor::from([1.0_f32, 2.0, 3.0, 4.0]), Tensor::from([9.0_f32; 4]));
    let more = executable.load("more", &more).expect("it fits");
    let mut totals: Vec<OnDevices> = vec![executable.load("total", &first).expect("it fits")];
    for _ in 0..4 {
        let call = executable.call().lend("total", &totals[totals.len() - 1]).lend("more", &more);
        let mut results = call.start().expect("it starts");
        totals.push(results.remove(0).into());
    }
    assert!(running(&client) > 0);
    let read = |total: &OnDevices| {
        let mut back: Tensor![f32; 4] = Tensor::zeros();
        total.read_into(&mut back).map(|()| back)
    };
    // The plugin's n-th result is its n-th argument.
    assert!(totals[..3].iter().all(|total| read(total).expect("it is there") == first));
    let said = read(&totals[3]).expect_err("its program failed").to_string();
    assert_eq!(said, "the plugin failed to run the program (INTERNAL): the device is lost");
    let said = read(&totals[4]).expect_err("an argument failed").to_string();
    assert_eq!(said, "the plugin failed to run an earlier step (INTERNAL): the device is lost");
    // Tensors that a call borrowed stay valid, even if its program failed.
    assert_eq!(more.tensors().next().expect("it is one").1.to_vec::<f32>().expect("it is there"), [9.0; 4]);
    drop((executable, totals, more, client));
    assert_nothing_is_left(&plugin);
}

#[test]
fn a_failure_is_told_by_the_results_of_its_program_and_of_those_that_take_them() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    for device_fails in [false, true] {
        let (schedule, fail) = if device_fails { ("ok", "event") } else { ("late 20,fail 20,ok,ok,ok", "") };
        let client = client(&plugin, schedule, fail);
        let (executable, mut on_devices) = loaded(&client);
        let other = executable.load("layer", &layer()).expect("the layer fits");
        let steps = if device_fails { 1 } else { 3 };
        let results: Vec<_> =
            (0..steps).map(|_| start(&executable, &mut on_devices).expect("it starts")).collect();
        let said = |result: Result<(), Error>| result.map_err(|error| error.to_string());
        let own = Err("the plugin failed to run the program (INTERNAL): the device is lost".to_owned());
        let earlier =
            Err("the plugin failed to run an earlier step (INTERNAL): the device is lost".to_owned());
        if device_fails {
            assert_eq!(said(results[0].wait()), own);
            assert_eq!(said(on_devices.wait()), own);
        } else {
            assert_eq!(said(results[0].wait()), Ok(()));
            assert_eq!(said(results[1].wait()), own);
            assert_eq!(said(results[2].read().map(|_| ())), earlier);
            assert_eq!(said(on_devices.wait()), earlier);
        }
        assert!(on_devices.tensors().all(|(_, tensor)| !tensor.is_there()), "all fields are lost together");
        let mut back = Layer { w: Tensor::zeros(), b: Tensor::zeros() };
        assert!(on_devices.read_into(&mut back).is_err());
        assert_eq!((back.w, back.b), (Tensor::zeros(), Tensor::zeros()), "nothing is half read");
        let refused = start(&executable, &mut on_devices).expect_err("it is lost").to_string();
        assert_eq!(
            refused,
            "the arguments do not fit: `layer.w` is lost: a failed run consumed it; `layer.b` is lost: a failed run \
             consumed it"
        );
        assert_updated(&other, 0);
        drop((results, executable, on_devices, other, client));
        assert_nothing_is_left(&plugin);
    }
}

/// The caller waits for nothing, and finds the failure where the bound makes it wait.
#[test]
fn a_loop_that_reads_nothing_stops_at_a_failure() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "late 10,fail 10,late 10,late 10,late 10,late 10", "");
    let (executable, mut on_devices) = loaded(&client);
    let started = (0..6).take_while(|_| start(&executable, &mut on_devices).is_ok()).count();
    // The bound of 2 makes the fourth call wait for the second.
    assert_eq!(started, 3);
    assert!(on_devices.wait().is_err());
    drop((executable, on_devices, client));
    assert_nothing_is_left(&plugin);
}

#[test]
fn what_cannot_be_started_leaves_what_is_in_flight() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    // The layer has four parts, and each call copies four more.
    for (schedule, fail, said) in [
        ("late 100,full", "", "the plugin failed to run the program (RESOURCE_EXHAUSTED): out of memory"),
        (
            "late 100",
            "put 10",
            "the plugin failed to copy `x` to the devices (RESOURCE_EXHAUSTED): out of memory",
        ),
    ] {
        let client = client(&plugin, schedule, fail);
        let (executable, mut on_devices) = loaded(&client);
        let first = start(&executable, &mut on_devices).expect("it starts");
        let error = start(&executable, &mut on_devices).expect_err("there is no memory").to_string();
        assert_eq!(error, said);
        assert_eq!(running(&client), 1, "the first program goes on");
        assert!(on_devices.tensors().all(|(_, tensor)| tensor.is_there()));
        start(&executable, &mut on_devices).expect("there is memory again");
        assert_updated(&on_devices, 2);
        first.wait().expect("it succeeded");
        drop((first, executable, on_devices, client));
        assert_nothing_is_left(&plugin);
    }
}

#[test]
fn wrong_arguments_are_told_at_once_and_start_nothing() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "late 100", "");
    let (executable, mut on_devices) = loaded(&client);
    let call = executable.call().update("layer", &mut on_devices).number("rate", 1.0_f64);
    let said = call.start().expect_err("they do not fit").to_string();
    assert_eq!(
        said,
        "the arguments do not fit: `rate` is f32, and f64 is given; `x` is not given; `rate` is not given"
    );
    assert_eq!(running(&client), 0);
    assert_updated(&on_devices, 0);
}

#[test]
fn a_run_after_started_programs_waits_for_all_of_them() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "late 50,late 50", "");
    let (executable, mut on_devices) = loaded(&client);
    start(&executable, &mut on_devices).expect("it starts");
    let x = x();
    let call = executable.call().pass("x", &x).update("layer", &mut on_devices).number("rate", 1.0_f32);
    call.run().expect("it runs");
    assert_eq!(running(&client), 0);
    assert_updated(&on_devices, 2);
}

/// Whatever is dropped first, the plugin destroys nothing that is used.
#[test]
fn dropping_everything_while_programs_run_waits_for_their_ends() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    for order in 0..5 {
        for schedule in ["late 60,late 60", "late 60,fail 60"] {
            let client = client(&plugin, schedule, "");
            let (executable, mut on_devices) = loaded(&client);
            let results = [(); 2].map(|()| start(&executable, &mut on_devices).expect("it starts"));
            assert_eq!(running(&client), 2);
            match order {
                0 => drop((client, executable, on_devices, results)),
                1 => drop((results, on_devices, executable, client)),
                2 => drop((on_devices, client, results, executable)),
                3 => drop((executable, client, on_devices, results)),
                _ => {
                    // The last results are alone.
                    drop((executable, client, on_devices));
                    let [first, second] = results;
                    drop(first);
                    assert_eq!(second.wait().is_ok(), !schedule.contains("fail"));
                }
            }
            assert_nothing_is_left(&plugin);
        }
    }
}

/// A plugin that does not take callbacks is waited for.
#[test]
fn a_plugin_that_tells_no_ends_runs_programs_one_by_one() {
    let copy = variant("deaf");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "late 20,late 20,fail 20", "");
    let (executable, mut on_devices) = loaded(&client);
    for _ in 0..2 {
        start(&executable, &mut on_devices).expect("it starts");
        assert_eq!(running(&client), 0);
    }
    assert_updated(&on_devices, 2);
    start(&executable, &mut on_devices).expect("it starts");
    assert!(on_devices.wait().is_err());
    drop((executable, on_devices, client));
    assert_nothing_is_left(&plugin);
}
