//! Items, closures, calls, blocks, names.

use mind::{Tensor, mind};

#[test]
fn a_block_of_items_makes_rust_functions() {
    mind! {
        /// Two dense layers.
        pub fn mlp<N>(x: f32[N, 2], w1: f32[2, 3], b1: f32[3], w2: f32[3, 1]) -> f32[N, 1] {
            let h = relu(x @ w1 + b1);
            h @ w2
        }
    }
    let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [-1.0, 0.5]]);
    let w1: Tensor![f32; 2, 3] = Tensor::from([[1.0, 0.0, -1.0], [0.0, 1.0, 1.0]]);
    let b1: Tensor![f32; 3] = Tensor::from([0.0, 1.0, -1.0]);
    let w2: Tensor![f32; 3, 1] = Tensor::from([[1.0], [2.0], [3.0]]);
    let y: Tensor![f32; 2, 1] = mlp(&x, &w1, &b1, &w2);
    // relu([1, 3, 0]) and relu([-1, 1.5, 0.5]).
    assert_eq!(y, Tensor::from([[7.0], [4.5]]));
}

#[test]
fn a_closure_is_a_rust_value() {
    let f = mind!(|x: f32[2, 3], w: f32[3, 2]| relu(x @ w));
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let w = Tensor::from([[1.0, -1.0], [1.0, -1.0], [1.0, -1.0]]);
    assert_eq!(f(&x, &w), Tensor::from([[6.0, 0.0], [15.0, 0.0]]));
    let again = f;
    assert_eq!(again(&x, &w)[[1, 0]], 15.0);
}

#[test]
fn a_closure_may_declare_its_result_and_have_a_block() {
    let f = mind!(|x: f64[3], scale: f64| -> f64 {
        let y = x * scale;
        sum(y * y)
    });
    assert_eq!(f(&Tensor::from([1.0, 2.0, 3.0]), 2.0), 56.0);
}

#[test]
fn a_closure_may_have_no_parameters() {
    let f = mind!(|| [1.0, 2.0] + 1.0);
    assert_eq!(f(), Tensor::from([2.0_f32, 3.0]));
}

#[test]
fn a_closure_can_be_passed_on() {
    fn apply(f: impl Fn(f32) -> f32, x: f32) -> f32 {
        f(f(x))
    }
    assert_eq!(apply(mind!(|x: f32| x * x), 3.0), 81.0);
}

#[test]
fn a_closure_may_update_its_parameters_and_fail_as_functions_do() {
    let step = mind!(|w: &mut f32[2], x: f32[2], n: &mut i64| {
        w += x;
        n += 1;
    });
    let pick = mind!(|table: f32[2], row: i64| gather(table, row));
    let (mut w, mut n) = (Tensor::from([1.0, 2.0]), 0);
    step(&mut w, &Tensor::from([10.0, 20.0]), &mut n);
    assert_eq!((&w, n, pick(&w, 1)), (&Tensor::from([11.0, 22.0]), 1, 22.0));
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pick(&w, 2)));
    assert!(
        failed
            .expect_err("there is no row 2")
            .downcast_ref::<String>()
            .is_some_and(|m| m.starts_with("E6001: "))
    );
}

#[test]
fn functions_call_each_other_in_any_order() {
    mind! {
        fn outer(x: f32[2]) -> f32 {
            sum(middle(x)) + inner(x, x)
        }

        fn inner(a: f32[2], b: f32[2]) -> f32 {
            sum(a * b)
        }

        fn middle(x: f32[2]) -> f32[2] {
            x * inner(x, x)
        }
    }
    let x = Tensor::from([1.0, 2.0]);
    assert_eq!(inner(&x, &x), 5.0);
    assert_eq!(middle(&x), Tensor::from([5.0, 10.0]));
    assert_eq!(outer(&x), 20.0);
}

#[test]
fn a_called_function_binds_its_own_symbols() {
    mind! {
        fn norm<N>(x: f32[N]) -> f32 {
            sum(x * x)
        }

        fn both<N, M>(x: f32[N], y: f32[M]) -> f32 {
            norm(x) - norm(y) + norm([3.0, 4.0])
        }
    }
    assert_eq!(both(&Tensor::from([1.0, 2.0]), &Tensor::from([1.0, 1.0, 1.0])), 5.0 - 3.0 + 25.0);
}

#[test]
fn arguments_of_own_functions_may_be_named() {
    mind! {
        fn affine(x: f32[2], scale: f32, shift: f32) -> f32[2] {
            x * scale + shift
        }

        fn f(x: f32[2]) -> f32[2] {
            affine(x, shift = 1.0, scale = 10.0)
        }
    }
    assert_eq!(f(&Tensor::from([1.0, 2.0])), Tensor::from([11.0, 21.0]));
}

#[test]
fn the_method_form_is_the_call_form() {
    mind! {
        fn square(x: f32[2]) -> f32[2] {
            x * x
        }

        fn f(x: f32[2, 2], y: f32[2]) -> (f32, f32, f32[2]) {
            (x.sum(axes = [1]).relu().sum(), sum(relu(sum(x, axes = [1]))), y.square().neg())
        }
    }
    let x = Tensor::from([[1.0, 2.0], [-3.0, -4.0]]);
    let (a, b, c) = f(&x, &Tensor::from([2.0, 3.0]));
    assert_eq!((a, b), (3.0, 3.0));
    assert_eq!(c, Tensor::from([-4.0, -9.0]));
}

#[test]
fn a_later_let_shadows_an_earlier_one_and_a_block_its_outside() {
    mind! {
        fn f(x: f32) -> (f32, f32) {
            let x = x + 1.0;
            let y = {
                let x = x * 10.0;
                let x = x + 1.0;
                x
            };
            let x = x * 2.0;
            (x, y)
        }
    }
    assert_eq!(f(3.0), (8.0, 41.0));
}

#[test]
fn a_local_may_have_the_name_of_a_function() {
    mind! {
        fn scale(x: f32) -> f32 {
            x * 2.0
        }

        fn f(x: f32) -> f32 {
            let scale = scale(x);
            let sum = scale + 1.0;
            sum * scale
        }
    }
    assert_eq!(f(1.5), 12.0);
}

#[test]
fn a_function_of_the_block_is_meant_before_one_of_the_language() {
    mind! {
        fn sum(x: f32[2]) -> f32 {
            x[0] * 100.0
        }

        fn f(x: f32[2]) -> (f32, f32) {
            (sum(x), mean(x))
        }
    }
    assert_eq!(f(&Tensor::from([1.0, 2.0])), (100.0, 1.5));
}

#[test]
fn lets_may_declare_types() {
    mind! {
        fn f<N>(x: f32[N, 2]) -> f32[N] {
            let rows: f32[N] = sum(x, axes = [1]);
            let (a, _b): (f32[N], f64) = (rows, 1.0);
            let _c: f64[2] = [1.0, 2.0];
            a
        }
    }
    assert_eq!(f(&Tensor::from([[1.0, 2.0]])), Tensor::from([3.0]));
}

#[test]
fn names_that_generated_code_might_use_are_free() {
    mind! {
        fn run(out: f32[2], workspace: f32[2], sizes: f32[2], scalars: f32) -> f32[2] {
            let value = out + workspace;
            let result_0 = value * sizes;
            let lanes = result_0 - scalars;
            lanes
        }

        fn call<T, S>(rt: f32[T], error: f32[S], needed: f32) -> (f32, f32) {
            let sum = sum(rt);
            (sum + needed, sum(error))
        }

        fn check(i: f32[3], x: f32[3], core: f32, std: f32, mind: f32) -> f32[3] {
            i * x + core + std + mind
        }

        fn into<self_, n>(lenses: f32[n], shape: f32[self_]) -> f32[n] {
            lenses * sum(shape)
        }

        fn rows(lhs: f32[1, 2], rhs: f32[2, 1], product: f32[1], i0: f32[1], sums: f32[1]) -> f32[1, 1] {
            (lhs @ rhs + product) * i0 - sums
        }
    }
    let x = Tensor::from([1.0, 2.0]);
    assert_eq!(run(&x, &x, &x, 1.0), Tensor::from([1.0, 7.0]));
    assert_eq!(call(&x, &x, 1.0), (4.0, 3.0));
    let y = Tensor::from([1.0, 2.0, 3.0]);
    assert_eq!(check(&y, &y, 1.0, 2.0, 3.0), Tensor::from([7.0, 10.0, 15.0]));
    assert_eq!(into(&x, &y), Tensor::from([6.0, 12.0]));
    let one = Tensor::from([1.0]);
    assert_eq!(
        rows(&Tensor::from([[1.0, 2.0]]), &Tensor::from([[1.0], [2.0]]), &one, &one, &one),
        Tensor::from([[5.0]])
    );
}

#[test]
fn several_names_of_rust_are_names_like_others() {
    mind! {
        fn drop(clone: f32[2], vec: f32, option: f32) -> f32[2] {
            let some = clone * vec;
            let dim = some - option;
            dim
        }
    }
    assert_eq!(drop(&Tensor::from([1.0, 2.0]), 3.0, 1.0), Tensor::from([2.0, 5.0]));
}

mod elsewhere {
    mind::mind! {
        /// Visible from outside.
        pub fn public(x: f32) -> f32 {
            private(x) + 1.0
        }

        #[must_use]
        #[inline]
        pub(crate) fn of_the_crate(x: f32) -> f32 {
            x * 3.0
        }

        fn private(x: f32) -> f32 {
            x * 2.0
        }

        pub const WIDTH: dim = 4 * 16;
    }
}

#[test]
fn visibility_is_as_written() {
    assert_eq!(elsewhere::public(4.0), 9.0);
    assert_eq!(elsewhere::of_the_crate(4.0), 12.0);
    assert!(elsewhere::public::CORE_IR.contains("Mul"));
    assert_eq!(elsewhere::WIDTH, 64);
}

#[test]
fn a_value_bound_to_the_wildcard_is_dropped() {
    mind! {
        fn f(x: f32[2]) -> f32 {
            let _ = exp(x);
            let (_, total) = (x, sum(x));
            total
        }
    }
    assert_eq!(f(&Tensor::from([1.0, 2.0])), 3.0);
}

#[test]
fn a_parameter_may_be_returned_and_returned_twice() {
    mind! {
        fn same(x: f32[2], n: i64) -> (f32[2], f32[2], i64) {
            (x, x, n)
        }
    }
    let x = Tensor::from([1.0, 2.0]);
    assert_eq!(same(&x, 7), (x.clone(), x.clone(), 7));
}

#[test]
fn views_and_owned_tensors_pass_alike() {
    mind! {
        fn total<N>(x: f32[N]) -> f32 {
            sum(x)
        }
    }
    let x: Tensor![f32; 3] = Tensor::from([1.0, 2.0, 3.0]);
    assert_eq!(total(&x), 6.0);
    assert_eq!(total(&x.view()), 6.0);
    assert_eq!(total(&x.as_dyn()), 6.0);
    assert_eq!(total(&*x), 6.0);
}

#[test]
fn zeros_as_an_argument_infers_its_shape() {
    mind! {
        fn f(x: f32[2, 3]) -> f32 {
            sum(exp(x))
        }
    }
    assert_eq!(f(&Tensor::zeros()), 6.0);
}

#[test]
fn a_block_in_a_generic_function_is_compiled_once_for_all() {
    fn twice<S: mind::Dim>(x: &mind::TensorRef<f32, (S,)>) -> Tensor<f32, (S,)> {
        mind! {
            fn double<N>(x: f32[N]) -> f32[N] {
                x + x
            }
        }
        double(x)
    }
    assert_eq!(twice(&Tensor::from([1.0, 2.0])), Tensor::from([2.0, 4.0]));
}

#[test]
fn other_macros_can_write_blocks() {
    macro_rules! scaled {
        ($name:ident, $factor:literal, $body:expr) => {
            mind! {
                fn $name(x: f32[2]) -> f32[2] {
                    let y = $body;
                    x * $factor + y
                }
            }
        };
    }
    scaled!(tripled, 3.0, 1.0 + 1.0);
    assert_eq!(tripled(&Tensor::from([1.0, 2.0])), Tensor::from([5.0, 8.0]));
}

#[test]
fn a_chain_of_operators_may_be_long() {
    mind! {
        fn f(x: f32) -> f32 {
            x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x
            + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x
            + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x
            + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x
        }
    }
    assert_eq!(f(1.0), 100.0);
}

#[test]
fn several_threads_may_call_one_function() {
    mind! {
        fn f<N>(x: f32[N, N]) -> f32[N, N] {
            exp(x @ x.T) @ x @ x
        }
    }
    let x = crate::support::small_integers((24, 24), 3).map(|x| x * 0.05);
    let expected = f(&x);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(f(&x), expected);
                }
            });
        }
    });
}
