//! Optimiser states in Rust variables: they are declared as `(state: optim::Adam<Net>)` and passed to functions.
//!
//! Rustc takes ten seconds for the steps of all optimisers, so most are compiled only if `MIND_TESTS` is `all`.

#[cfg(every_case)]
use mind::optim::{AdaGrad, RmsProp};
use mind::optim::{Adam, Lion, Momentum};
use mind::{Const, Tensor, mind};

#[cfg_attr(
    not(every_case),
    allow(dead_code, reason = "steps that are compiled only with every case call it")
)]
mod nets {
    mind::mind! {
        #[derive(Clone, Debug, PartialEq)]
        pub struct Dense<I, O> { pub w: f32[I, O], pub b: f32[O] }

        #[derive(Clone, Debug, PartialEq)]
        pub struct Net { pub first: Dense<3, 2>, pub last: Dense<2, 2>, scale: f32 }

        /// Matrices only.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Matrices { pub a: f32[2, 3], pub b: f32[2, 2] }

        /// A layer and Adam's state of it.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Learning<I, O> { pub layer: Dense<I, O>, pub adam: optim::Adam<Dense<I, O>> }

        /// A template over any parameters.
        pub fn halved<P: params>(state: optim::Lion<P>, net: P, g: P) { optim::lion_step(net, 0.5 * g, state, 0.25) }

        /// A template that reads a state, and one that makes a state.
        pub fn count(state) { state.steps + 1 }
        pub fn begun(net) { optim::Adam { mean: net * 0.0, square: net * 0.0, steps: 0 } }

        pub fn momentum(net: Net, g: Net, state: optim::Momentum<Net>) -> (Net, optim::Momentum<Net>) {
            optim::momentum_step(net, g, state, 0.5)
        }
        pub fn nesterov(net: Net, g: Net, state: optim::Momentum<Net>) -> (Net, optim::Momentum<Net>) {
            optim::nesterov_step(net, g, state, 0.5)
        }
        pub fn muon(net: Matrices, g: Matrices, state: optim::Momentum<Matrices>) -> (Matrices, optim::Momentum<Matrices>) {
            optim::muon_step(net, g, state, 0.5)
        }
        pub fn adam(net: Net, g: Net, state: optim::Adam<Net>) -> (Net, optim::Adam<Net>) {
            optim::adam_step(net, g, state, 0.5)
        }
        pub fn adamw(net: Net, g: Net, state: optim::Adam<Net>) -> (Net, optim::Adam<Net>) {
            optim::adamw_step(net, g, state, 0.5)
        }
        pub fn rmsprop(net: Net, g: Net, state: optim::RmsProp<Net>) -> (Net, optim::RmsProp<Net>) {
            optim::rmsprop_step(net, g, state, 0.5)
        }
        pub fn adagrad(net: Net, g: Net, state: optim::AdaGrad<Net>) -> (Net, optim::AdaGrad<Net>) {
            optim::adagrad_step(net, g, state, 0.5)
        }
        pub fn lion(net: Net, g: Net, state: optim::Lion<Net>) -> (Net, optim::Lion<Net>) {
            optim::lion_step(net, g, state, 0.5)
        }
        pub fn learn<I, O>(all: Learning<I, O>, g: Dense<I, O>) -> Learning<I, O> {
            let (layer, adam) = optim::adam_step(all.layer, g, all.adam, 0.5);
            Learning { layer, adam }
        }
        pub fn times(net: Net, by: f32) -> Net { net * by }
    }
}

use nets::{Dense, Learning, Matrices, Net};

type Layer = Dense<Const<3>, Const<2>>;

fn dense(by: f32) -> Layer {
    Dense { w: Tensor::from_fn(|[i, j]| by * (i * 2 + j) as f32 - 1.0), b: Tensor::from([by, -by]) }
}

fn net(by: f32) -> Net {
    let mut net = Net::zeros();
    net.first = dense(by);
    net.last.w = Tensor::from([[0.5 * by, 1.0], [-1.0, by]]);
    // This also changes the private field, which only the block can name.
    let one = mind!(use self::nets::Net; (net: Net) + 0.25);
    nets::times(&one, by)
}

fn matrices(by: f32) -> Matrices {
    Matrices { a: Tensor::from([[by, 1.0, 0.5], [-1.0, 2.0, by]]), b: Tensor::from([[by, 0.25], [1.0, -by]]) }
}

#[test]
fn steps_are_those_of_functions() {
    let (p, g) = (net(1.0), net(0.5));
    let adam = Adam { mean: net(0.25), square: nets::times(&net(0.0), 0.0), steps: 2 };
    let next = mind!(
        use self::nets::Net;
        optim::adam_step((p: Net), (g: Net), (adam: optim::Adam<Net>), 0.5)
    );
    assert_eq!(next, nets::adam(&p, &g, &adam));
    assert_eq!(next.1.steps, 3);
    let lion = Lion { mean: net(-0.25) };
    let next = mind!(
        use self::nets::Net;
        optim::lion_step((p: Net), (g: Net), (lion: optim::Lion<Net>), 0.5)
    );
    assert_eq!(next, nets::lion(&p, &g, &lion));
}

#[cfg(every_case)]
#[test]
fn steps_of_other_optimisers_are_those_of_functions() {
    let (p, g) = (net(1.0), net(0.5));
    let velocity = Momentum { velocity: net(0.25) };
    let next = mind!(
        use self::nets::Net;
        optim::momentum_step((p: Net), (g: Net), (velocity: optim::Momentum<Net>), 0.5)
    );
    assert_eq!(next, nets::momentum(&p, &g, &velocity));
    let next = mind!(
        use self::nets::Net;
        optim::nesterov_step((p: Net), (g: Net), (velocity: optim::Momentum<Net>), 0.5)
    );
    assert_eq!(next, nets::nesterov(&p, &g, &velocity));
    let adam = Adam { mean: net(0.25), square: nets::times(&net(0.0), 0.0), steps: 2 };
    let next = mind!(
        use self::nets::Net;
        optim::adamw_step((p: Net), (g: Net), (adam: optim::Adam<Net>), 0.5)
    );
    assert_eq!(next, nets::adamw(&p, &g, &adam));
    let squares = mind!(use self::nets::Net; (g: Net) * g);
    let rmsprop = RmsProp { square: squares.clone() };
    let next = mind!(
        use self::nets::Net;
        optim::rmsprop_step((p: Net), (g: Net), (rmsprop: optim::RmsProp<Net>), 0.5)
    );
    assert_eq!(next, nets::rmsprop(&p, &g, &rmsprop));
    let adagrad = AdaGrad { squares };
    let next = mind!(
        use self::nets::Net;
        optim::adagrad_step((p: Net), (g: Net), (adagrad: optim::AdaGrad<Net>), 0.5)
    );
    assert_eq!(next, nets::adagrad(&p, &g, &adagrad));
}

#[test]
fn a_step_takes_matrices() {
    let (p, g, state) = (matrices(1.0), matrices(0.5), Momentum { velocity: matrices(0.25) });
    let next = mind!(
        use self::nets::Matrices;
        optim::muon_step((p: Matrices), (g: Matrices), (state: optim::Momentum<Matrices>), 0.5)
    );
    assert_eq!(next, nets::muon(&p, &g, &state));
}

#[test]
fn a_gradient_and_a_step_are_one_expression() {
    let x = Tensor::from([[1.0f32, -1.0, 0.5], [0.0, 2.0, 1.0]]);
    let (mut p, mut state) = (dense(0.5), Adam::zeros_like(&dense(0.5)));
    let losses: Vec<f32> = (0..3)
        .map(|_| {
            let loss;
            (loss, (p, state)) = mind!(
                use self::nets::Dense;
                let p: Dense = p;
                let z = x @ p.w + p.b;
                let (loss, g) = value_and_grad(mean(z * z), wrt = p);
                let g = optim::clip_by_global_norm(g, 1.0);
                (loss, optim::adam_step(p, g, (state: optim::Adam<Dense>), 0.125))
            );
            loss
        })
        .collect();
    assert!(losses[0] > losses[1] && losses[1] > losses[2], "{losses:?}");
    assert_eq!(state.steps, 3);
}

#[test]
fn a_state_is_told_by_paths_and_by_let() {
    let (p, g, state) = (dense(1.0), dense(0.5), Lion { mean: dense(0.25) });
    let state = &state;
    let one = mind!(self::nets::halved((state: optim::Lion<self::nets::Dense>), (p: self::nets::Dense), (g: self::nets::Dense)));
    let other = mind!(
        use self::nets::{Dense, halved};
        let s: optim::Lion<Dense<3, 2>> = state;
        let p: Dense<3, 2> = p;
        halved(s, p, (g: Dense<3, 2>))
    );
    assert_eq!(one, other);
    assert_eq!(
        one.1.mean.b,
        Tensor::from([0.25f32 * 0.99 + 0.25 * (1.0 - 0.99), -(0.25f32 * 0.99 + 0.25 * (1.0 - 0.99))])
    );
    // Declared with and without dimensions, and reading a field of a struct.
    let mixed = mind!(use self::nets::Dense; (p: Dense<3, 2>) + (g: Dense) * 2.0);
    assert_eq!(mixed, mind!(use self::nets::Dense; (p: Dense) + 2.0 * (g: Dense)));
    let whole = net(1.0);
    let held = mind!(
        use self::nets::{Dense, Net};
        let whole: Net = whole;
        whole.first - (p: Dense)
    );
    assert_eq!(held.b, mind!(whole.first.b - p.b));
}

#[test]
fn states_are_made_and_taken_apart() {
    let p = dense(1.0);
    let state =
        mind!(use self::nets::Dense; optim::Adam { mean: (p: Dense) * 0.5, square: p * p, steps: 7i64 });
    assert_eq!(
        (&state.mean.b, &state.square.b, state.steps),
        (&Tensor::from([0.5, -0.5]), &Tensor::from([1.0, 1.0]), 7)
    );
    let again = mind!(use self::nets::Dense; optim::Adam { steps: 0i64, ..(state: optim::Adam<Dense>) });
    assert_eq!(again, Adam { steps: 0, ..state.clone() });
    // The given fields determine the struct of the rest.
    let again = mind!(use self::nets::Dense; optim::Adam { mean: (p: Dense), ..state });
    assert_eq!(again, Adam { mean: p.clone(), ..state.clone() });
    let (mean, steps) = mind!(
        use self::nets::Dense;
        let optim::Adam { mean, steps, .. } = (state: optim::Adam<Dense>);
        (mean * 2.0, steps)
    );
    assert_eq!((mean, steps), (p.clone(), 7));
    // Fields need no declaration. Neither do patterns and templates that read fields.
    let (b, steps) = mind!(
        let optim::Adam { mean, steps, .. } = state;
        (mean.b + state.square.b, steps)
    );
    assert_eq!((b, steps), (Tensor::from([1.5, 0.5]), 7));
    assert_eq!(mind!(self::nets::count(state)), 8);
    let begun = mind!(use self::nets::{Dense, begun}; begun((p: Dense)));
    assert_eq!(begun.steps, 0);
    assert_eq!(begun.square, mind!(use self::nets::Dense; (p: Dense) * 0.0));
}

#[test]
fn a_state_that_a_struct_holds_travels_with_it() {
    let mut state = Adam::zeros_like(&dense(1.0));
    (state.mean, state.steps) = (dense(0.25), 4);
    let (all, g) = (Learning { layer: dense(1.0), adam: state.clone() }, dense(0.5));
    let next = mind!(
        use self::nets::{Dense, Learning};
        let all: Learning = all;
        let (layer, adam) = optim::adam_step(all.layer, (g: Dense), all.adam, 0.5);
        Learning { layer, adam }
    );
    assert_eq!(next, nets::learn(&all, &g));
    let told = mind!(
        use self::nets::Dense;
        optim::adam_step((all.layer: Dense), (g: Dense), (all.adam: optim::Adam<Dense>), 0.5)
    );
    assert_eq!(told, (next.layer, next.adam));
    let state = Momentum { velocity: dense(1.0) };
    let twice = mind!(use self::nets::Dense; (state: optim::Momentum<Dense>) * 2.0);
    assert_eq!(twice.velocity, mind!(use self::nets::Dense; 2.0 * (state.velocity: Dense)));
}

#[test]
fn where_all_dimensions_are_told_nothing_is_left_to_rust() {
    let (p, g, state) = (dense(1.0), dense(0.5), Adam::zeros_like(&dense(1.0)));
    let told = mind!(
        use self::nets::Dense;
        optim::adam_step((p: Dense<3, 2>), (g: Dense<3, 2>), (state: optim::Adam<Dense<3, 2>>), 0.5)
    );
    let open = mind!(
        use self::nets::Dense;
        optim::adam_step((p: Dense), (g: Dense), (state: optim::Adam<Dense>), 0.5)
    );
    assert_eq!(told, open);
}

#[test]
fn two_steps_stand_in_one_expression() {
    let (p, g, state) = (net(1.0), net(0.5), Adam::zeros_like(&net(1.0)));
    let (one, first) = nets::adam(&p, &g, &state);
    let two = nets::adam(&one, &g, &first);
    let found = mind!(
        use self::nets::Net;
        let (g, state): (Net, optim::Adam<Net>) = ((g: Net), (state: optim::Adam<Net>));
        let (p, state) = optim::adam_step((p: Net), g, state, 0.5);
        optim::adam_step(p, g, state, 0.5)
    );
    assert_eq!(found, two);
}

#[test]
fn the_type_behind_an_expression_may_be_a_state() {
    let (x, y) = (Tensor::from([[1.0f32, 2.0, 3.0]]), Tensor::from([[1.0f32, -1.0]]));
    let lion = mind!(
        use self::nets::Dense;
        optim::Lion { mean: Dense { w: x.T @ y, b: sum(y, axis = 0) } } : optim::Lion<Dense<3, 2>>
    );
    let _: &Lion<Layer> = &lion;
    assert_eq!(lion.mean.w, Tensor::from([[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]]));
}

#[test]
fn extents_of_a_state_may_be_those_that_run_time_knows() {
    type Open = Dense<usize, usize>;
    fn step(p: &Open, g: &Open, state: &Adam<Open>) -> (Open, Adam<Open>) {
        mind!(
            use self::nets::Dense;
            optim::adam_step((p: Dense), (g: Dense), (state: optim::Adam<Dense>), 0.5)
        )
    }
    let (p, g) = (Open::zeros_with(3, 2), Open::zeros_with(3, 2));
    let state = Adam::zeros_like(&p);
    assert_eq!(step(&p, &g, &state).1.steps, 1);
    let other = Adam { square: Open::zeros_with(1, 2), ..state };
    let message = std::panic::catch_unwind(|| step(&p, &g, &other)).unwrap_err();
    let message = message.downcast_ref::<String>().expect("a message");
    let expected = "argument `state` of `optim::adam_step`: state.square.w beside p.w: expected f32[3, 2], found f32[1, 2]";
    assert!(message.contains(expected), "{message}");
}
