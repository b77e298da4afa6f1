//! Batches that a loader copies: their order beside programs, their errors, their bound, and loaders that are dropped.
//! The fake plugin ends copies by a schedule and writes the starts and ends of copies and programs in a log.

use std::cell::Cell;
use std::rc::Rc;

use mind::{Parameter, ParameterMut, Parameters, Tensor, mind};
use mind_xla::{Client, ClientOption, Error, Executable, OnDevices, Plugin, Program};

use crate::fake::{Layer, assert_nothing_is_left, layer, program, step, variant, x};

mind! {
    fn keep(total: f32[4], more: f32[4]) -> (f32[4], f32[4]) { (total + more, more) }
}

/// A client whose programs and copies end as scheduled.
fn client(plugin: &Plugin, programs: &str, copies: &str) -> Client {
    let text = |value: &str| ClientOption::Text(value.into());
    let options =
        [("schedule", text(programs)), ("copies", text(copies)), ("cpu_device_count", ClientOption::Int(2))];
    plugin.client(&options).expect("it makes a client")
}

fn log(client: &Client) -> String {
    client.device(1).expect("it is there").description
}

/// The program `keep` on one device.
fn compiled(client: &Client) -> Executable {
    client
        .compile(&Program::from_mic(keep::MIC, keep::UPDATES).expect("it is a module"))
        .expect("it compiles")
}

fn more(batch: usize) -> Tensor![f32; 4] {
    Tensor::from([batch as f32; 4])
}

/// Each program waits for its data of the next step: it ends only if the loader copies ahead.
#[test]
fn the_next_batch_is_copied_while_a_program_runs() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let programs = "until copy 2 ends,until copy 3 ends,ok";
    let client = client(&plugin, programs, "ok,until run 1 starts,until run 2 starts");
    let executable = compiled(&client);
    let total = executable.load("total", &more(0)).expect("it fits");
    let made = Rc::new(Cell::new(0));
    let count = made.clone();
    let batches = (1..=3).inspect(move |batch| count.set(*batch)).map(|batch| (more(batch),));
    let mut losses = Vec::new();
    for (position, batch) in executable.loader(["more"], batches).enumerate() {
        let [more] = batch.expect("it is copied");
        assert_eq!(made.get(), (position + 2).min(3), "one batch is ahead");
        let results = executable.call().lend("total", &total).lend("more", &more).run().expect("it runs");
        losses.push(results[1].to_vec::<f32>().expect("f32")[0]);
    }
    // The plugin's second result is its second argument.
    assert_eq!(losses, [1.0, 2.0, 3.0]);
    assert_eq!(
        log(&client),
        "copy 1 starts, copy 1 ends, copy 2 starts, run 1 starts, copy 2 ends, run 1 ends, copy 3 starts, run 2 \
         starts, copy 3 ends, run 2 ends, run 3 starts, run 3 ends"
    );
    drop((executable, total, client));
    assert_nothing_is_left(&plugin);
}

#[test]
fn a_batch_tells_its_own_errors() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "", "ok,fail 10,full,ok");
    let executable = compiled(&client);
    let whole = |batch| -> Rc<dyn Parameters> { Rc::new(more(batch)) };
    let short: Rc<dyn Parameters> = Rc::new(Tensor::from([0.0_f32; 3]));
    let batches = [whole(1), short, whole(3), whole(4), whole(5)].map(|batch| [batch]);
    let found: Vec<Result<Vec<f32>, String>> = executable
        .loader(["more"], batches)
        .map(|batch| {
            let [more] = batch.map_err(|error| error.to_string())?;
            let (_, tensor) = more.tensors().next().expect("it is one");
            Ok(tensor.to_vec().expect("it is there"))
        })
        .collect();
    let failed = |text: &str| Err(format!("the plugin failed to copy `more` to the devices {text}"));
    let expected = [
        Ok(vec![1.0; 4]),
        Err("the arguments do not fit: `more` is f32[4], and f32[3] is given".to_owned()),
        failed("(INTERNAL): the bus is broken"),
        failed("(RESOURCE_EXHAUSTED): out of memory"),
        Ok(vec![5.0; 4]),
    ];
    assert_eq!(found, expected);
    drop((executable, client));
    assert_nothing_is_left(&plugin);
}

#[test]
fn all_faults_of_a_batch_are_told() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "", "");
    let executable = client.compile(&program()).expect("it compiles");
    let batches = [(Tensor::from([0.0_f32; 4]), more(1))];
    let mut loader = executable.loader(["x", "y"], batches);
    let error = loader.next().expect("there is a batch").expect_err("it does not fit");
    assert!(matches!(error, Error::Arguments(_)));
    assert_eq!(
        error.to_string(),
        "the arguments do not fit: `x` is f32[4, 2], and f32[4] is given; the program has no argument `y`"
    );
    assert!(loader.next().is_none() && loader.next().is_none());
    assert_eq!(log(&client), "", "nothing is copied");
}

/// Structs are batches too, and rows are split over two devices.
#[test]
fn batches_are_split_as_the_program_is() {
    let copy = variant("good");
    let plugin = Plugin::load(&copy.path).expect("it loads");
    let client = client(&plugin, "", "late 10,late 20,late 30");
    let executable = client.compile(&program()).expect("it compiles");
    let loaded: Vec<[OnDevices; 2]> = executable
        .loader(["x", "layer"], (0..2).map(|_| (x(), layer())))
        .map(|batch| batch.expect("it is copied"))
        .collect();
    for [on_devices, layers] in &loaded {
        let (_, tensor) = on_devices.tensors().next().expect("it is one");
        assert_eq!(tensor.to_vec::<f32>().expect("f32"), x().as_slice());
        let mut back = Layer { w: Tensor::zeros(), b: Tensor::zeros() };
        layers.read_into(&mut back).expect("it is the same struct");
        assert_eq!((back.w, back.b), (layer().w, layer().b));
    }
    assert_eq!(step::UPDATES, [1, 2]);
    drop((loaded, executable, client));
    assert_nothing_is_left(&plugin);
}

/// The plugin reads a batch until its copy ends, so whatever is dropped waits for that.
#[test]
fn a_loader_that_is_dropped_waits_for_the_batch_on_its_way() {
    for taken in 0..3 {
        let copy = variant("good");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let client = client(&plugin, "", "late 40,late 40,fail 40,late 40");
        let executable = compiled(&client);
        let mut loader = executable.loader(["more"], (1..9).map(|batch| (more(batch),)));
        let batches: Vec<_> = loader.by_ref().take(taken).collect();
        assert!(batches.iter().all(Result::is_ok));
        drop(loader);
        let log = log(&client);
        let started = if taken == 0 { 0 } else { taken + 1 };
        assert_eq!((log.matches("starts").count(), log.matches("ends").count()), (started, started), "{log}");
        drop((batches, executable, client));
        assert_nothing_is_left(&plugin);
    }
}

/// A batch whose memory is overwritten when it is dropped, and which counts the batches that are alive.
struct Overwritten {
    values: Tensor![f32; 4],
    alive: Rc<Cell<usize>>,
}

impl Parameters for Overwritten {
    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>)) {
        self.values.visit(visitor);
    }

    fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>)) {
        self.values.visit_mut(visitor);
    }
}

impl Drop for Overwritten {
    fn drop(&mut self) {
        self.values.as_mut_slice().fill(f32::NAN);
        self.alive.set(self.alive.get() - 1);
    }
}

/// The fake plugin compares the memory of a copy at its start and at its end, and counts a difference as misuse.
#[test]
fn the_memory_of_a_batch_stays_as_it_is_until_its_copy_ends() {
    for taken in 0..=3 {
        let copy = variant("good");
        let plugin = Plugin::load(&copy.path).expect("it loads");
        let client = client(&plugin, "", "late 30,fail 30,late 30");
        let executable = compiled(&client);
        let alive = Rc::new(Cell::new(0));
        let batches = (1..=3).map(|batch| {
            alive.set(alive.get() + 1);
            (Overwritten { values: more(batch), alive: alive.clone() },)
        });
        let mut loader = executable.loader(["more"], batches);
        for position in 0..taken {
            let batch = loader.next().expect("there are three");
            assert_eq!(batch.is_err(), position == 1);
            assert_eq!(alive.get(), usize::from(position < 2), "only the batch on its way is kept");
        }
        drop(loader);
        assert_eq!(alive.get(), 0);
        drop((executable, client));
        assert_nothing_is_left(&plugin);
    }
}
