//! `inspect(x, "h")`: the values that are shown, their order, and that results do not change.

use std::cell::RefCell;
use std::rc::Rc;

use mind::{Elements, Tensor, inspect, mind};

/// Runs `run`. Returns its result, and label, extents and elements of each value that it shows.
fn shown<R>(run: impl FnOnce() -> R) -> (R, Vec<String>) {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let to = seen.clone();
    let guard = inspect::set(move |value| {
        let elements = match value.elements {
            Elements::F32(elements) => format!("{elements:?}"),
            Elements::F64(elements) => format!("{elements:?}"),
            Elements::U8(elements) => format!("{elements:?}"),
            Elements::I32(elements) => format!("{elements:?}"),
            Elements::I64(elements) => format!("{elements:?}"),
            Elements::Bool(elements) => format!("{elements:?}"),
        };
        to.borrow_mut().push(format!("{} {:?} {elements}", value.label, value.dims));
    });
    let result = run();
    drop(guard);
    let seen = seen.borrow().clone();
    (result, seen)
}

mind! {
    fn layer(x: f32[2], w: f32[2, 3], b: f32[3]) -> f32[3] {
        let z = inspect(x @ w, "z");
        let h = relu(inspect(z + b, "z + b"));
        inspect(h, "h") * 2.0
    }

    fn plain(x: f32[2], w: f32[2, 3], b: f32[3]) -> f32[3] {
        relu(x @ w + b) * 2.0
    }

    fn several<N>(x: f64[N]) -> (f64, f64[N]) {
        let sum = sum(x);
        let square = x * x;
        inspect(square, "second");
        inspect(sum, "first");
        inspect(square, "second");
        let _unused = inspect(exp(x), "unused");
        (sum, square)
    }

    fn kinds(i: i64[2], j: i32, b: bool[2, 1]) -> bool[2] {
        inspect(i, "i64");
        inspect(j, "i32");
        inspect(b.T, "bool");
        inspect(i > 1, "comparison")
    }

    fn update(w: &mut f32[2], by: f32[2]) {
        inspect(w, "before");
        w -= by;
        inspect(w, "after");
    }

    pub fn soft(x: float[..]) {
        let e = exp(inspect(x - max(x), "shifted"));
        e / sum(e)
    }

    fn through(x: f32[2]) -> f32[2] {
        let a = soft(x);
        inspect(soft(a), "twice")
    }

    fn halved(x: f32) -> f32 {
        inspect(x / 2.0, "half")
    } pullback(y, dy) {
        inspect(dy, "dy") / inspect(x / y, "two")
    }

    #[grad(x)]
    fn loss(x: f32[2]) -> f32 {
        let seen = inspect(x * x, "square");
        sum(seen * seen)
    }

    fn both(x: f32[2]) -> (f32, f32[2]) {
        value_and_grad(loss, wrt = x)(x)
    }

    fn quarter(x: f32) -> f32 {
        halved(halved(x))
    }

    fn slope(x: f32) -> f32 {
        grad(quarter, wrt = x)(x)
    }
}

fn x() -> Tensor![f32; 2] {
    Tensor::from([1.0, -2.0])
}

#[test]
fn values_are_shown_in_the_order_of_the_text_and_change_nothing() {
    let w = Tensor::from([[1.0_f32, 2.0, 3.0], [0.5, 1.0, 2.0]]);
    let b = Tensor::from([1.0_f32, -1.0, 0.0]);
    let (result, seen) = shown(|| layer(&x(), &w, &b));
    assert_eq!(result, plain(&x(), &w, &b));
    assert_eq!(seen, ["z [3] [0.0, 0.0, -1.0]", "z + b [3] [1.0, -1.0, -1.0]", "h [3] [1.0, 0.0, 0.0]"]);
}

#[test]
fn what_is_unused_is_shown_and_what_is_shown_twice_is_shown_twice() {
    let (_, seen) = shown(|| several(&Tensor::from([0.0_f64, 2.0])));
    assert_eq!(seen[..3], ["second [2] [0.0, 4.0]", "first [] [2.0]", "second [2] [0.0, 4.0]"]);
    assert!(seen[3].starts_with("unused [2] [1.0, 7.38"), "{}", seen[3]);
}

#[test]
fn every_element_type_is_shown() {
    let (_, seen) = shown(|| kinds(&Tensor::from([1, 2]), 3, &Tensor::from([[true], [false]])));
    let wanted =
        ["i64 [2] [1, 2]", "i32 [] [3]", "bool [1, 2] [true, false]", "comparison [2] [false, true]"];
    assert_eq!(seen, wanted);
}

#[test]
fn the_old_value_of_a_parameter_is_shown_before_the_new_one_takes_its_place() {
    let mut w = x();
    let (_, seen) = shown(|| update(&mut w, &Tensor::from([1.0, 1.0])));
    assert_eq!(seen, ["before [2] [1.0, -2.0]", "after [2] [0.0, -3.0]"]);
    assert_eq!(w, Tensor::from([0.0, -3.0]));
}

#[test]
fn values_in_templates_are_shown_for_each_call() {
    let (_, seen) = shown(|| through(&Tensor::from([0.0, 0.0])));
    assert_eq!(seen, ["shifted [2] [0.0, 0.0]", "shifted [2] [0.0, 0.0]", "twice [2] [0.5, 0.5]"]);
    let y = Tensor::<f32, (mind::Const<2>,)>::from([0.0, 0.0]);
    let (_, seen) = shown(|| mind!(self::soft(y)));
    assert_eq!(seen, ["shifted [2] [0.0, 0.0]"]);
}

#[test]
fn a_gradient_shows_what_the_function_shows_once_and_passes_through() {
    for seen in [shown(|| loss_grad(&x())), shown(|| both(&x()))] {
        let ((value, gradient), seen) = seen;
        assert_eq!((value, gradient), (17.0, Tensor::from([4.0, -32.0])));
        assert_eq!(seen, ["square [2] [1.0, 4.0]"]);
    }
}

#[test]
fn what_a_pullback_shows_is_shown_where_it_is_run() {
    assert_eq!(shown(|| quarter(4.0)), (1.0, vec!["half [] [2.0]".to_owned(), "half [] [1.0]".to_owned()]));
    let (result, seen) = shown(|| slope(4.0));
    assert_eq!(result, 0.25);
    let wanted =
        ["half [] [2.0]", "half [] [1.0]", "dy [] [1.0]", "two [] [2.0]", "dy [] [0.5]", "two [] [2.0]"];
    assert_eq!(seen, wanted);
}

#[test]
fn closures_show() {
    let double = mind!(|x: f32[2]| inspect(x, "x") * 2.0);
    assert_eq!(shown(|| double(&x())).1, ["x [2] [1.0, -2.0]"]);
}

#[test]
fn expressions_show_in_the_order_of_their_text() {
    let (x, w) = (x(), Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]));
    let (result, seen) = shown(|| mind!(relu(inspect(inspect(x, "x") @ w, "z") + 1.0)));
    assert_eq!(result.as_slice(), mind!(relu(x @ w + 1.0)).as_slice());
    assert_eq!(seen, ["x [2] [1.0, -2.0]", "z [2] [-5.0, -6.0]"]);
    let (sum, seen) = shown(|| mind!(sum(exp(inspect(x - max(x), "in a row")))));
    assert_eq!(sum, mind!(sum(exp(x - max(x)))));
    assert_eq!(seen, ["in a row [2] [0.0, -3.0]"]);
    let (_, seen) = shown(|| {
        mind!({
            let same = inspect(x, "a");
            let _b = inspect(same, "b");
            inspect(x, "a")
        })
    });
    assert_eq!(seen, ["a [2] [1.0, -2.0]", "b [2] [1.0, -2.0]", "a [2] [1.0, -2.0]"]);
}

#[test]
fn expressions_show_once_under_grad() {
    let x = x();
    let ((value, gradient), seen) = shown(|| mind!(value_and_grad(sum(inspect(x * x, "square")), wrt = x)));
    assert_eq!((value, gradient), (5.0, Tensor::from([2.0, -4.0])));
    assert_eq!(seen, ["square [2] [1.0, 4.0]"]);
}

#[test]
fn expressions_show_every_element_type_and_shape_known_as_it_runs() {
    let i = Tensor::from_vec((3,), vec![1_i64, 2, 3]).unwrap();
    let (_, seen) = shown(|| mind!(sum(inspect(i, "i"))));
    assert_eq!(seen, ["i [3] [1, 2, 3]"]);
    let (_, seen) = shown(|| mind!(any(inspect(i > 2, "truths"))));
    assert_eq!(seen, ["truths [3] [false, false, true]"]);
    let (_, seen) = shown(|| mind!(inspect(i.T[1], "number")));
    assert_eq!(seen, ["number [] [2]"]);
}

mind! {
    fn steps(xs: f64[3], w: f64) -> f64 {
        inspect(w, "before");
        let _unread = for x in xs, reverse = true { inspect(x, "unread") };
        let _unread = for x in xs, reverse = true { inspect(x, "unread") };
        for x in xs { inspect(x + w, "statement") };
        let h = fold h = w for x in xs { inspect(h * x, "h") };
        let (h, _unread) = scan h = h for x in xs { (h, inspect(x, "dead")) };
        inspect(h, "after")
    }

    fn shown_backwards(x: f64) -> f64 { x * x } pullback(y, dy) { 2.0 * x * inspect(dy, "dy") }

    fn by_pullbacks(xs: f64[3], w: f64) -> f64 {
        grad(chained, wrt = w)(xs, w)
    }

    fn chained(xs: f64[3], w: f64) -> f64 {
        fold h = w for x in xs { shown_backwards(h) * x }
    }

    fn by_steps(xs: f64[3], w: f64) -> (f64, f64) {
        value_and_grad(steps, wrt = w)(xs, w)
    }
}

#[test]
fn every_step_of_a_loop_shows_its_values_once_in_its_place() {
    let each = |label: &str, values: [f64; 3]| values.map(|value| format!("{label} [] [{value:?}]"));
    let mut wanted = vec!["before [] [0.5]".to_owned()];
    wanted.extend([each("unread", [4.0, 2.0, 1.0]), each("unread", [4.0, 2.0, 1.0])].concat());
    wanted.extend(each("statement", [1.5, 2.5, 4.5]));
    wanted.extend([each("h", [0.5, 1.0, 4.0]), each("dead", [1.0, 2.0, 4.0])].concat());
    wanted.push("after [] [4.0]".to_owned());
    let xs = Tensor::from([1.0, 2.0, 4.0]);
    assert_eq!(shown(|| steps(&xs, 0.5)), (4.0, wanted.clone()));
    assert_eq!(shown(|| by_steps(&xs, 0.5)), ((4.0, 8.0), wanted));
}

#[test]
fn pullbacks_in_a_loop_show_their_values_once_in_the_order_of_the_steps_backwards() {
    // The states are 0.5, 0.25, 0.125 and 0.0625.
    let (slope, seen) = shown(|| by_pullbacks(&Tensor::from([1.0, 2.0, 4.0]), 0.5));
    assert_eq!(seen, ["dy [] [4.0]", "dy [] [2.0]", "dy [] [1.0]"]);
    assert_eq!(slope, 1.0);
}

#[test]
fn a_branch_shows_its_values_only_if_it_runs() {
    mind! {
        fn branches(c: bool, x: f64) -> f64 {
            if c { inspect(x, "then"); 0.0 } else { inspect(x * 2.0, "else") }
        }

        fn slope(c: bool, x: f64) -> f64 { grad(branches, wrt = x)(c, x) }
    }
    assert_eq!(shown(|| branches(true, 3.0)), (0.0, vec!["then [] [3.0]".to_owned()]));
    assert_eq!(shown(|| branches(false, 3.0)), (6.0, vec!["else [] [6.0]".to_owned()]));
    assert_eq!(shown(|| slope(false, 3.0)), (2.0, vec!["else [] [6.0]".to_owned()]));
}
