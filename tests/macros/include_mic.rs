//! Functions from MIC files.

use mind::Tensor;

mod net {
    mind::include_mic!("../files/mic/layer.mic", grad = (p_w, r#type));
}

mod renamed {
    mind::include_mic!("../files/mic/layer.mic", name = forward, grad = p_w);
}

mod plain {
    mind::include_mic!("../files/mic/difference.mic");
}

#[test]
fn a_file_is_a_function_with_the_names_of_its_symbols() {
    let x = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
    let w = Tensor::from([[0.5_f32, -1.0, 0.0], [0.25, 1.0, 0.0]]);
    let b = Tensor::from([0.0_f32, 0.5, -1.0]);
    // relu([[1, 1.5, -1], [2.5, 1.5, -1]]), whose mean is 6.5 / 6.
    let value: f32 = net::layer(&x, &w, &b);
    assert!((value - 6.5 / 6.0).abs() < 1e-6);
    let (again, (dw, db)) = net::layer_grad(&x, &w, &b);
    assert_eq!(again, value);
    let sixth = 1.0 / 6.0;
    let expected = [4.0 * sixth, 4.0 * sixth, 0.0, sixth * 6.0, sixth * 6.0, 0.0];
    assert!(dw.as_slice().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{dw}");
    assert!(
        db.as_slice().iter().zip([2.0 * sixth, 2.0 * sixth, 0.0]).all(|(a, b)| (a - b).abs() < 1e-6),
        "{db}"
    );
    let (value, only) = renamed::forward_grad(&x, &w, &b);
    assert_eq!((value, only.as_slice()), (again, dw.as_slice()));
}

#[test]
fn what_runs_is_what_the_file_says() {
    let module =
        mind_core::text::core_ir::parse(net::layer::CORE_IR, &mind_core::text::Limits::default()).unwrap();
    let text = include_str!("../files/mic/layer.mic");
    let (before, nodes) = text.split_once("N1").unwrap();
    assert!(before.starts_with("mic@1\n# A dense layer"));
    let printed = mind_core::text::mic::print(&module);
    assert_eq!(printed.split_once("N1").unwrap().1.lines().count(), nodes.lines().count());
}

#[test]
fn a_file_without_a_function_name_gives_it_its_own() {
    let (x, y) = (Tensor::from([3.0_f32, 1.0]), Tensor::from([1.0_f32, 2.0]));
    let (difference, same) = plain::difference(&x, &y);
    assert_eq!((difference.as_slice(), same.as_slice()), ([2.0, -1.0].as_slice(), x.as_slice()));
}

#[test]
fn an_extent_that_differs_is_an_error_at_run_time() {
    let x = Tensor::from_vec((3_usize,), vec![1.0_f32; 3]).unwrap();
    let y = Tensor::from_vec((2_usize,), vec![1.0_f32; 2]).unwrap();
    let error = plain::try_difference(&x, &y).unwrap_err().to_string();
    assert!(
        error.starts_with("E6009: ") && error.contains("`difference`") && error.contains("`y`"),
        "{error}"
    );
}
