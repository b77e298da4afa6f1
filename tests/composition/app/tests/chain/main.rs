//! A program over three crates equals the same program in one block: it has the same instructions, needs the same
//! memory and computes the same bits.

mod programs;

use composition_model::Learning;
use composition_model::parameters::{self, Affine, Deep, GainStack, Pair};
use mind::optim::{Adam, Momentum};
use mind::{Const, Tensor};
use programs::{alone, composed, function_first, function_last, gates, gates_alone, stacks, states, structs};

type Data = (Tensor![f32; 5, 3], Tensor![f32; 5, 3], Tensor![f32; 3, 3], Tensor![f32; 3]);

fn data() -> Data {
    let x = Tensor::from_fn(|[i, j]| ((i * 3 + j) as f32 * 1.7).sin());
    let y = Tensor::from_fn(|[i, j]| ((i * 3 + j) as f32 * 0.9).cos());
    let w = Tensor::from_fn(|[i, j]| ((i * 3 + j) as f32 * 2.3).cos());
    let b = Tensor::from([0.3, -0.2, 0.1]);
    (x, y, w, b)
}

#[test]
fn steps_through_three_crates_compute_the_same_bits_as_in_one_block() {
    let (x, y, mut w, mut b) = data();
    let (mut w_alone, mut b_alone) = (w.clone(), b.clone());
    let first = composed::step(&x, &y, &mut w, &mut b, 0.05);
    assert_eq!(alone::step(&x, &y, &mut w_alone, &mut b_alone, 0.05), first);
    let mut last = first;
    for _ in 0..50 {
        last = composed::step(&x, &y, &mut w, &mut b, 0.05);
        assert_eq!(alone::step(&x, &y, &mut w_alone, &mut b_alone, 0.05), last);
    }
    assert_eq!((&w, &b), (&w_alone, &b_alone));
    assert!(last < first, "{last} is not below {first}");
}

#[test]
fn the_gradient_of_an_imported_gradient_is_that_in_one_block() {
    let (x, y, w, b) = data();
    let curvature = composed::curvature(&x, &y, &w, &b);
    assert_eq!(curvature, alone::curvature(&x, &y, &w, &b));
    assert!(curvature.iter().all(|slope| slope.is_finite() && *slope != 0.0), "{curvature}");
}

#[test]
fn names_in_a_template_mean_what_they_mean_in_its_own_crate() {
    let (x, _, w, _) = data();
    let (through, alone) = (gates::slope(&x, &w), gates_alone::slope(&x, &w));
    for (a, b) in through.iter().zip(alone.iter()) {
        assert!((a - b).abs() <= 1e-5 * b.abs() && *b != 0.0, "{through}\n{alone}");
    }
}

#[test]
fn what_is_imported_is_inlined() {
    assert_eq!(composed::step::CORE_IR, alone::step::CORE_IR);
    assert_eq!(composed::curvature::CORE_IR, alone::curvature::CORE_IR);
    for n in [1, 7, 1000] {
        assert_eq!(composed::step::flops(n), alone::step::flops(n));
        assert_eq!(composed::step::peak_bytes(n), alone::step::peak_bytes(n));
    }
}

#[test]
fn imports_from_three_crates_stand_in_any_order() {
    let (x, _, w, b) = data();
    let deep = function_first::deep(&x, &w, &b);
    assert_eq!(deep, function_last::deep(&x, &w, &b));
    assert_eq!(function_first::deep::CORE_IR, function_last::deep::CORE_IR);
    assert_eq!(
        function_first::deep::CORE_IR.matches("MatMul").count(),
        6,
        "{}",
        function_first::deep::CORE_IR
    );
}

#[test]
fn a_struct_is_one_type_in_three_crates() {
    let first: Affine<Const<3>, Const<4>> = Affine {
        w: Tensor::from_fn(|[i, j]| ((i * 4 + j) as f32 * 0.7).sin()),
        b: Tensor::from([0.1, -0.2, 0.3, 0.0]),
    };
    let second: Affine<Const<4>, Const<6>> =
        Affine { w: Tensor::from_fn(|[i, j]| ((i * 6 + j) as f32 * 1.3).cos()), b: Tensor::zeros() };
    let mut p: Pair<Const<4>> = parameters::pair(&first, &second);
    let (all, layer) = structs::sums(&p);
    let sum = |w: &[f32], b: &[f32]| w.iter().chain(b).sum::<f32>();
    let of_first = sum(first.w.as_slice(), first.b.as_slice());
    let total = of_first + sum(second.w.as_slice(), second.b.as_slice()) + 0.5 * 0.125;
    assert!((all - total - 100.0).abs() < 1e-4 && (layer - of_first - 0.125).abs() < 1e-5, "{all} {layer}");
    let (x, y): (_, Tensor![f32; 5, 6]) = (data().0, Tensor::full(0.5));
    let loss = structs::step(&x, &y, &mut p, 0.05);
    let mut last = loss;
    for _ in 0..100 {
        last = structs::step(&x, &y, &mut p, 0.05);
    }
    assert!(last < 0.5 * loss, "{last} is not below half of {loss}");
    let computed: Tensor![f32; 5, 6] = parameters::through(&x, &p);
    let mean = computed.iter().map(|value| (value - 0.5) * (value - 0.5)).sum::<f32>() / 30.0;
    assert!(mean < last, "{mean} {last}");
}

#[test]
fn a_struct_with_a_leading_axis_is_one_type_in_three_crates() {
    let by = Tensor::from_fn(|[i, j]| ((i * 3 + j) as f32 * 0.7).cos());
    let gains: GainStack<Const<2>> = stacks::gains::<Const<2>>(&by);
    assert_eq!(gains.by, by);
    assert_eq!(
        gains.get(1).expect("there are 2").by,
        parameters::gain(&Tensor::from([by[[1, 0]], by[[1, 1]], by[[1, 2]]])).by
    );
    let layers: Vec<_> = (0..3).map(|_| Affine { w: data().2, b: data().3 }).collect();
    let mut p = Deep { gains, layers: layers.try_into().expect("there are 3 of the same extents") };
    let x = data().0;
    let first = stacks::step(&x, &mut p, 0.05);
    let last = (0..50).map(|_| stacks::step(&x, &mut p, 0.05)).last().expect("there are steps");
    assert!(last < 0.5 * first, "{last} is not below half of {first}");
    assert_ne!(p.layers.get(0).expect("there are 3").w, p.layers.get(2).expect("there are 3").w);
}

#[test]
fn what_adam_remembers_is_one_type_in_three_crates() {
    let layer: Affine<Const<3>, Const<4>> = Affine {
        w: Tensor::from_fn(|[i, j]| ((i * 4 + j) as f32 * 0.7).sin()),
        b: Tensor::from([0.1, -0.2, 0.3, 0.0]),
    };
    let zeros = || Affine { w: Tensor::zeros(), b: Tensor::zeros() };
    let of_zeros = || Adam { mean: zeros(), square: zeros(), steps: 0 };
    let mut learning = Learning { layer: zeros(), adam: of_zeros() };
    let (mut alone, mut state) = (zeros(), of_zeros());
    for steps in 1..=3 {
        states::step(&layer, &mut learning);
        states::alone(&layer, &mut alone, &mut state);
        assert_eq!((learning.adam.steps, state.steps), (steps, steps));
    }
    assert_eq!((&learning.layer.w, &learning.layer.b), (&alone.w, &alone.b));
    assert_eq!(learning.adam.square.w, state.square.w);
    assert!(alone.w[[0, 1]] < -0.3, "{}", alone.w);
    let (moved, momentum) = states::slow(&zeros(), &layer, &Momentum { velocity: zeros() });
    assert_eq!(momentum.velocity.w, layer.w);
    assert_eq!(moved.w, layer.w.map(|w| -0.25 * w));
}
