//! The plans of programs. Each file in this folder has a program of the surface language, a line `----`, and the
//! listings of its functions and their gradients, plans and loops. `MIND_BLESS=1` rewrites them.

mod costs;

use mind_core::{
    dim::{Bindings, Dim},
    ir::ValueId,
    loops,
    pipeline::{Compiled, compile, compile_gradient},
    plan::{Listing, Location, Peak, Plan, Step, View, listing, peak},
    surface::{lex, lower, lower::Function, parse},
};

use crate::recorded;

#[test]
fn programs_are_planned_as_recorded() {
    recorded::check("plans", 7, plans);
}

/// A nest may store its result in the memory of an operand only if each element replaces the one that it is computed
/// from. `y` is as long as `t` after rounding up to cache lines, and is the last to read `t`. But an element of `y` is
/// computed from a later element of `t`.
#[test]
fn elements_are_not_stored_where_others_are_read() {
    let program = |read: &str| {
        format!(
            "fn f(a: f32[1, 8], b: f32[8, 16], c: f32[15, 8]) -> f32[1, 8] {{
                 let t = a @ b;
                 let y = exp({read});
                 y @ c
             }}"
        )
    };
    assert_eq!(places_of_exp(&program("t[.., 0..15]")), (Dim::ZERO, Dim::ZERO));
    let (loaded, stored) = places_of_exp(&program("t[.., 1..16]"));
    assert_eq!(loaded, Dim::ONE);
    assert_ne!(stored, Dim::ZERO, "the first element would be stored where the second is computed from");
}

/// The offsets in the arena at which the program's nest reads and stores its first element.
fn places_of_exp(program: &str) -> (Dim, Dim) {
    let (lowered, diags) = lower(&parse(lex(program).0).0);
    assert!(diags.is_empty(), "{diags:?}");
    let plan = compile(&lowered.functions[0]).expect("no mistakes").expect("it verifies").plan;
    let nests: Vec<_> = plan
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Nest(nest) => Some(nest),
            _ => None,
        })
        .collect();
    let [nest] = &nests[..] else { panic!("one nest: {:?}", plan.steps) };
    let place = |view: &View| {
        let buffer = &plan.buffers[view.buffer().expect("elements are in memory").0];
        let Location::Arena { offset } = &buffer.place else { panic!("a temporary: {buffer:?}") };
        offset.add(&view.offset).expect("small")
    };
    let mut stored = None;
    nest.for_each_target(|target| stored = Some(place(target)));
    let [load] = &nest.loads[..] else { panic!("one load: {nest:?}") };
    (place(load), stored.expect("the nest stores"))
}

/// The temporaries of a training step are those that its backward pass needs: the hidden activations, the cotangents of
/// two neighbouring layers at a time, and the gradient of one bias at a time. Gradients of weights are not stored. The
/// loss needs only tensors of the result's size.
#[test]
fn a_training_step_keeps_activations_only() {
    let recorded = include_str!("mlp.txt").split_once(recorded::SEPARATOR).expect("a recorded file").0;
    // The cotangent of the result is freed before the cotangent of the hidden layer is summed over rows.
    let without_bias = elements_at_peak(32, &[256, 10]) - 256;
    assert_eq!(temporaries_of_step(recorded), Dim::literal(without_bias));
    for layers in [&[5][..], &[40, 10], &[10, 40], &[60, 50, 30, 10], &[20, 70, 20, 70, 3], &[8; 12]] {
        let symbolic = temporaries_of_step(&network(layers));
        for batch in [1, 8, 100, 4096] {
            let bindings = Bindings::from([("N".into(), Dim::literal(batch))]);
            let found = symbolic.evaluate(&bindings).expect("the batch is all that is open");
            // Each temporary starts at a cache line.
            let most = elements_at_peak(batch, layers) + 16 * 2 * layers.len() as i64;
            assert!(found <= most, "{found} elements, needed {most}: {layers:?}, batch {batch}");
        }
    }
}

/// No assignment of memory to the steps of a plan can need fewer bytes than are live at once. Temporaries of unknown
/// size do not share memory with those of known size, here the gradients of biases, which small batches would show.
#[test]
fn a_training_step_needs_at_most_a_tenth_more_memory_than_is_live_at_once() {
    for layers in [&[5][..], &[40, 10], &[10, 40], &[60, 50, 30, 10], &[20, 70, 20, 70, 3], &[8; 12]] {
        let network = network(layers);
        let symbolic = plan_of_step(&network);
        for batch in [8, 100, 4096] {
            let known = plan_of_step(&network.replace("<N>", "").replace("[N,", &format!("[{batch},")));
            for plan in [&known].into_iter().chain((batch > 8).then_some(&symbolic)) {
                let bindings = Bindings::from([("N".into(), Dim::literal(batch))]);
                let Peak { bytes, live, .. } = peak(plan, &bindings).expect("the batch is all that is open");
                let arena = 4 * arena(plan).evaluate(&bindings).expect("the batch is all that is open");
                assert_eq!(u64::try_from(arena), Ok(bytes));
                assert!(
                    live <= bytes && bytes * 10 <= live * 11,
                    "{bytes}, {live} live: {layers:?}, batch {batch}"
                );
            }
        }
    }
}

/// The number of elements that a training step of a network with these layers needs besides parameters.
fn elements_at_peak(batch: i64, layers: &[i64]) -> i64 {
    let hidden: i64 = layers[..layers.len() - 1].iter().sum();
    let cotangents = layers.windows(2).map(|pair| pair[0] + pair[1]).max();
    let bias = layers.iter().copied().max();
    batch * (hidden + cotangents.unwrap_or(layers[0])) + bias.unwrap_or(0)
}

/// A training step of a network with these layers, on a batch of `N` rows of 20. The last layer has no `relu`.
fn network(layers: &[i64]) -> String {
    let (mut fields, mut body, mut inputs) = (String::new(), "let h = x;\n".to_owned(), 20);
    for (i, outputs) in layers.iter().enumerate() {
        fields += &format!("w{i}: f32[{inputs}, {outputs}], b{i}: f32[{outputs}],\n");
        let layer = format!("h @ p.w{i} + p.b{i}");
        body += &if i + 1 < layers.len() { format!("let h = relu({layer});\n") } else { layer };
        inputs = *outputs;
    }
    let last = layers[layers.len() - 1];
    format!(
        "struct Network {{ {fields} }}
        fn forward<N>(x: f32[N, 20], p: Network) -> f32[N, {last}] {{ {body} }}
        fn loss<N>(x: f32[N, 20], y: f32[N, {last}], p: Network) -> f32 {{ let e = forward(x, p) - y; mean(e * e) }}
        fn step<N>(x: f32[N, 20], y: f32[N, {last}], p: &mut Network) -> f32 {{
            let (l, g) = value_and_grad(loss, wrt = p)(x, y, p);
            p -= 0.01 * g;
            l
        }}"
    )
}

/// The number of elements in the arena of the function `step`, whose parameters are updated in place.
fn temporaries_of_step(program: &str) -> Dim {
    arena(&plan_of_step(program)).clone()
}

fn arena(plan: &Plan) -> &Dim {
    let [arena] = &plan.arenas[..] else { panic!("one element type") };
    &arena.len
}

/// The plan of the function `step`, whose parameters are updated in place.
fn plan_of_step(program: &str) -> Plan {
    let (lowered, diags) = lower(&parse(lex(program).0).0);
    assert!(diags.is_empty(), "{diags:?}");
    let step = lowered.functions.iter().find(|function| function.name == "step").expect("it is there");
    let plan = compile(step).expect("no mistakes").expect("it verifies").plan;
    assert!(
        !plan.steps.iter().any(|step| matches!(step, Step::Update { .. })),
        "parameters are updated in place"
    );
    plan
}

fn plans(text: &str) -> String {
    let (tokens, mut diags) = lex(text);
    let (program, more) = parse(tokens);
    diags.extend(more);
    let (lowered, more) = lower(&program);
    diags.extend(more);
    assert!(diags.is_empty(), "{diags:?}");
    let mut plans = String::new();
    for function in &lowered.functions {
        if let Some(compiled) = compile(function) {
            plans += &shown(function, &function.name.to_string(), &compiled.expect("it verifies"));
        }
        if let Some(gradient) =
            function.gradient.as_ref().and_then(|request| compile_gradient(function, request))
        {
            let name = format!("{}_grad", function.name);
            plans += &shown(function, &name, &gradient.expect("it has a gradient"));
        }
    }
    plans
}

fn shown(function: &Function, name: &str, compiled: &Compiled) -> String {
    let names = &function.program.as_ref().expect("it was compiled").names;
    let value_name = |value: ValueId| {
        let origin = compiled.origins.get(value.index()).copied().flatten()?;
        names.get(origin.index())?.clone()
    };
    let plan = &compiled.plan;
    let shown = Listing { plan, value_name: &value_name, bindings: &Bindings::new() };
    format!("{name}\n{}\n{}\n", listing(&shown), loops::listing(&shown))
}
