//! `gradcheck` compares gradients with difference quotients. Correct gradients pass, and an error names the wrong
//! element.

use mind::{GradientMismatch, Tensor, gradcheck, gradcheck_some, mind};

mind! {
    struct Net { w: f32[3, 2], b: f32[2] }

    #[grad(net)]
    fn loss(net: Net, x: f32[4, 3]) -> f32 {
        let z = nn::softmax(x @ net.w + net.b);
        mean(z * z) + 2.0 * sum(abs(net.b))
    }

    #[grad(w)]
    fn kinked(w: f64[4]) -> f64 { sum(relu(w)) }
}

fn net() -> Net {
    let w = Tensor::from([[0.5, -0.25], [1.0, 0.75], [-1.5, 0.1]]);
    Net { w, b: Tensor::from([0.25, -0.5]) }
}

fn x() -> Tensor![f32; 4, 3] {
    Tensor::from_fn(|[i, j]| (i as f32 - 1.5) * 0.7 + j as f32 * 0.3)
}

#[test]
fn the_gradient_of_a_struct_of_parameters_passes() {
    let (mut at, x) = (net(), x());
    let (_, gradient) = loss_grad(&at, &x);
    assert_eq!(gradcheck(&mut at, &gradient, |net| loss(net, &x)), Ok(()));
    assert_eq!((at.w, at.b), (net().w, net().b));
}

#[test]
fn a_wrong_element_is_named() {
    let (mut at, x) = (net(), x());
    let (_, mut gradient) = loss_grad(&at, &x);
    let right = gradient.w[[2, 1]];
    gradient.w[[2, 1]] += 0.02;
    let Err(GradientMismatch::Element(found)) = gradcheck(&mut at, &gradient, |net| loss(net, &x)) else {
        panic!("it passes")
    };
    assert_eq!((&*found.name, &found.index[..], found.differ, found.checked), ("w", &[2, 1][..], 1, 8));
    assert!((found.needed - f64::from(right)).abs() < 1e-3, "{found}");
    // Checks every third element of `w`, which leaves out the wrong one.
    assert_eq!(gradcheck_some(&mut at, &gradient, 2, |net| loss(net, &x)), Ok(()));
    gradient.b[[1]] = f32::NAN;
    let message = gradcheck_some(&mut at, &gradient, 2, |net| loss(net, &x)).unwrap_err().to_string();
    assert!(
        message.starts_with("the gradient of `b` at [1] is NaN, a difference quotient is -"),
        "{message}"
    );
}

#[test]
fn a_kink_within_a_step_is_no_mistake() {
    let mut w = Tensor::from([1.0, -1.0, 0.0, 1e-9]);
    let (_, gradient) = kinked_grad(&w);
    assert_eq!(gradcheck(&mut w, &gradient, |w| kinked(w)), Ok(()));
    let wrong = Tensor::from([1.0, 0.5, 0.0, 1.0]);
    assert!(gradcheck(&mut w, &wrong, |w| kinked(w)).is_err());
}

#[test]
fn a_gradient_of_other_parts_is_refused() {
    let mut w = Tensor::from([1.0, 2.0]);
    let error = gradcheck(&mut w, &Tensor::from([1.0, 2.0, 3.0]), |w| w[[0]]).unwrap_err();
    assert_eq!(error, GradientMismatch::Part { name: String::new() });
    let error = gradcheck(&mut w, &Vec::<Tensor![f64; 2]>::new(), |w| w[[0]]).unwrap_err();
    assert_eq!(error.to_string(), "the gradient has 0 parts, needed 1");
}
