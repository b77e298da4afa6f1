//! States of optimisers: structs of the library over structs of a program. In Rust they are types of the library.

use mind::optim::{AdaGrad, Adam, Lion, Momentum, RmsProp};
use mind::{Const, Parameters, Tensor, Workspace, Xoshiro256, mind};

use layers::Learning;

mod layers {
    mind::mind! {
        #[derive(Clone, Debug, PartialEq)]
        pub struct Dense<I, O> { pub w: f32[I, O], pub b: f32[O] }

        /// A layer and its Adam state.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Learning<I, O> { pub layer: Dense<I, O>, pub adam: optim::Adam<Dense<I, O>> }

        pub fn square<N, I, O>(x: f32[N, I], layer: Dense<I, O>) -> f32 {
            let z = x @ layer.w + layer.b;
            mean(z * z)
        }

        /// A step of Adam for a layer of any size.
        pub fn descend<I, O>(layer: Dense<I, O>, g: Dense<I, O>, state: optim::Adam<Dense<I, O>>)
            -> (Dense<I, O>, optim::Adam<Dense<I, O>>)
        {
            optim::adam_step(layer, g, state, 0.125)
        }

        /// A template for any parameters.
        pub fn halved<P: params>(net: P, g: P, state: optim::Lion<P>) {
            optim::lion_step(net, 0.5 * g, state, 0.25)
        }
    }
}

mind! {
    use self::layers::{Dense as Layer, Learning, halved};

    #[derive(Clone, Debug, PartialEq)]
    struct Net { hidden: Layer<2, 3>, last: Layer<3, 1>, scale: f32 }

    fn error<N>(x: f32[N, 2], net: Net) -> f32 {
        layers::square(relu(x @ net.hidden.w + net.hidden.b), net.last) * net.scale
    }

    fn adam<N>(x: f32[N, 2], net: &mut Net, state: &mut optim::Adam<Net>, rate: f32) -> f32 {
        let (e, g) = value_and_grad(error, wrt = net)(x, net);
        let (new, next) = optim::adam_step(net, optim::clip_by_global_norm(g, 1.0), state, rate);
        net = new;
        state = next;
        e
    }

    fn by_hand<N>(x: f32[N, 2], net: &mut Net, m: &mut Net, v: &mut Net, t: i64, rate: f32) -> f32 {
        let (e, g) = value_and_grad(error, wrt = net)(x, net);
        let g = optim::clip_by_global_norm(g, 1.0);
        let m1 = 0.9 * m + (1.0 - 0.9) * g;
        let v1 = 0.999 * v + (1.0 - 0.999) * g * g;
        let (m_scale, v_scale) = (-expm1(f32(t) * log(0.9)), -expm1(f32(t) * log(0.999)));
        net -= rate / m_scale * m1 / (rsqrt(v_scale) * sqrt(v1) + 1e-8);
        m = m1;
        v = v1;
        e
    }

    fn momentum(net: &mut Net, g: Net, state: &mut optim::Momentum<Net>) {
        let (new, next) = optim::momentum_step(net, g, state, 0.5, decay = 0.5);
        net = new;
        state = next;
    }

    fn nesterov(net: &mut Net, g: Net, state: &mut optim::Momentum<Net>) {
        let (new, next) = optim::nesterov_step(net, g, state, 0.5, decay = 0.5);
        net = new;
        state = next;
    }

    fn rmsprop(net: Net, g: Net, state: optim::RmsProp<Net>) -> (Net, optim::RmsProp<Net>) {
        optim::rmsprop_step(net, g, state, 0.5)
    }

    fn adagrad(net: Net, g: Net, state: optim::AdaGrad<Net>) -> (Net, optim::AdaGrad<Net>) {
        optim::adagrad_step(net, g, state, 0.5)
    }

    fn lion(net: Net, g: Net, state: optim::Lion<Net>) -> (Net, optim::Lion<Net>) { halved(net, g, state) }

    /// A step of an imported struct that holds layer and state, by an imported function.
    fn imported(learning: Learning<2, 3>) -> Learning<2, 3> {
        let (layer, adam) = layers::descend(learning.layer, learning.layer, learning.adam);
        Learning { layer: layer, adam: adam }
    }

    fn taken_apart(state: optim::Adam<Layer<2, 3>>) -> (f32[2, 3], i64) {
        let optim::Adam { mean, steps, .. } = state;
        (mean.w + state.square.w, steps)
    }

    fn made(layer: Layer<2, 3>) -> optim::Adam<Layer<2, 3>> {
        let state = optim::Adam { mean: layer, square: zeros_like(layer), steps: 3 };
        optim::Adam { steps: state.steps + 1, ..state }
    }

    /// The state of an optimiser is differentiated like any other struct.
    #[grad(state)]
    fn length(state: optim::Lion<Net>) -> f32 { sum(state.mean * state.mean) }
}

fn net(seed: u64) -> Net {
    let mut net = Net::glorot_uniform(&mut Xoshiro256::new(seed));
    net.scale = 0.5;
    net.hidden.b = Tensor::from([0.25, -0.5, 0.75]);
    net
}

fn x() -> Tensor![f32; ?, 2] {
    Tensor::from_fn_with((5, Const), |[i, j]| (i * 2 + j) as f32 / 4.0 - 0.5)
}

#[test]
fn a_step_is_the_one_by_hand_to_the_bit() {
    let (mut p, mut state) = (net(1), Adam::zeros_like(&net(1)));
    let (mut q, mut m, mut v) = (net(1), Net::zeros(), Net::zeros());
    for number in 1..=20 {
        let error = adam(&x(), &mut p, &mut state, 0.01);
        assert_eq!(by_hand(&x(), &mut q, &mut m, &mut v, number, 0.01), error);
        assert_eq!(state.steps, number);
    }
    assert_eq!((p, state), (q, Adam { mean: m, square: v, steps: 20 }));
}

#[test]
fn what_is_remembered_begins_at_zero_and_has_the_names_of_parameters() {
    let p = net(1);
    let state = Adam::zeros_like(&p);
    assert_eq!(state, Adam { mean: Net::zeros(), square: Net::zeros(), steps: 0 });
    let names: Vec<_> = state.parameters().into_iter().map(|part| part.name).collect();
    let expected: Vec<String> = ["mean", "square"]
        .iter()
        .flat_map(|held| p.parameters().into_iter().map(move |part| format!("{held}.{}", part.name)))
        .chain(["steps".to_owned()])
        .collect();
    assert_eq!(names, expected);
    assert_eq!(state.element_count(), 2 * p.element_count() + 1);
    let text = format!("{:?}", Lion { mean: 1 });
    assert_eq!(text, "Lion { mean: 1 }");
}

#[test]
fn every_optimiser_has_its_state() {
    let (p, g) = (net(1), net(2));
    let mut moved = p.clone();
    let mut state = Momentum::zeros_like(&p);
    momentum(&mut moved, &g, &mut state);
    assert_eq!(state.velocity, g);
    assert_eq!(moved.scale, 0.5 - 0.5 * 0.5);
    nesterov(&mut moved, &g, &mut state);
    assert_eq!((state.velocity.scale, moved.scale), (0.75, 0.25 - 0.5 * (0.5 + 0.5 * 0.75)));
    let (moved, state) = rmsprop(&p, &g, &RmsProp::zeros_like(&p));
    assert!((moved.scale - (0.5 - 0.5 / 0.01_f32.sqrt())).abs() < 1e-5, "{}", moved.scale);
    assert!((state.square.scale - 0.01 * 0.25).abs() < 1e-8, "{}", state.square.scale);
    let (moved, state) = adagrad(&p, &g, &AdaGrad::zeros_like(&p));
    assert_eq!((moved.scale, state.squares.scale), (0.0, 0.25));
    let (moved, state) = lion(&p, &g, &Lion::zeros_like(&p));
    assert_eq!(moved.scale, 0.25);
    assert!((state.mean.scale - 0.01 * 0.25).abs() < 1e-8, "{}", state.mean.scale);
}

#[test]
fn states_cross_modules_with_the_structs_they_are_over() {
    let layer = net(3).hidden;
    let learning = Learning { layer: layer.clone(), adam: Adam::zeros_like(&layer) };
    let after = imported(&learning);
    assert_eq!(after.adam.steps, 1);
    let (alone, state) = layers::descend(&layer, &layer, &Adam::zeros_like(&layer));
    assert_eq!((after.layer, after.adam), (alone, state));
    assert_eq!(
        Learning::<Const<2>, Const<3>>::zeros(),
        Learning { layer: layers::Dense::zeros(), adam: Adam::zeros_like(&layer_of_zeros()) }
    );
}

fn layer_of_zeros() -> layers::Dense<Const<2>, Const<3>> {
    layers::Dense::zeros()
}

#[test]
fn states_are_made_and_taken_apart_in_functions() {
    let layer = net(3).hidden;
    let state = made(&layer);
    assert_eq!(state, Adam { mean: layer.clone(), square: layers::Dense::zeros(), steps: 4 });
    assert_eq!(taken_apart(&state), (layer.w.clone(), 4));
    let (value, gradient) = length_grad(&Lion { mean: net(1) });
    assert!(value > 0.0);
    assert_eq!(gradient.mean.scale, 1.0);
    let closure = mind! {
        use self::Net;
        |state: optim::Lion<Net>, g: Net| optim::Lion { mean: state.mean + g }
    };
    assert_eq!(closure(&Lion { mean: Net::zeros() }, &net(1)), Lion { mean: net(1) });
}

#[test]
fn a_state_is_written_into_what_the_caller_has() {
    let (p, g) = (net(1), net(2));
    let mut out = (Net::zeros(), Lion::zeros_like(&p));
    let mut workspace = Workspace::with_bytes(lion::PEAK_BYTES);
    lion_into(&p, &g, &Lion::zeros_like(&p), (&mut out.0, &mut out.1), &mut workspace)
        .expect("it cannot fail");
    assert_eq!(out, lion(&p, &g, &Lion::zeros_like(&p)));
}
