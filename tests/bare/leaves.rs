//! The values that an expression can read, and the Rust types of its results.

use std::sync::Arc;

use mind::{Const, Shape, Tensor, TensorRef, TensorView, TensorViewMut, mind};

#[test]
fn statements_need_no_braces_of_their_own() {
    let x: Tensor![f32; 3] = Tensor::from([1.0, 2.0, 3.0]);
    let y = mind! { let h = x * x; sum(h) };
    assert_eq!(y, 14.0);
    let y = mind!( let h = x * x; let (a, b) = (h, 2.0); a * b : f32[3] );
    assert_eq!(y, Tensor::from([2.0, 8.0, 18.0]));
    let dx = mind! { let h = x * x; grad(sum(h * x), wrt = x) };
    assert_eq!(dx, Tensor::from([3.0, 12.0, 27.0]));
    fn last(x: &Tensor![f32; 3]) -> f32 {
        mind! {
            let h = x - 1.0;
            sum(h)
        }
    }
    assert_eq!(last(&x), 3.0);
}

#[test]
fn tensors_views_references_and_numbers_stand_alike() {
    let mut owned: Tensor![f32; 3] = Tensor::from([1.0, 2.0, 3.0]);
    let shared = Arc::new(owned.clone());
    let mut other = owned.clone();
    let unique = &mut other;
    let expected = [6.0, 12.0, 18.0];
    {
        let view: TensorView<'_, f32, _> = owned.view();
        let (reference, twice): (&TensorRef<f32, _>, _) = (&owned, &&owned);
        let y = mind!(owned + view + reference + twice + shared + unique);
        assert_eq!(y.as_slice(), expected);
    }
    let view: TensorViewMut<'_, f32, _> = owned.view_mut();
    let (factor, reference) = (2.0_f32, &4.0_f32);
    assert_eq!(mind!(view * factor + view * reference).as_slice(), expected);
    unique[[0]] = 5.0;
    assert_eq!(mind!(unique - 1.0).as_slice(), [4.0, 1.0, 2.0]);
}

#[test]
fn arrays_of_rust_slices_and_vectors_are_leaves() {
    let (x, w) = ([[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]], vec![1.0_f32, 0.0, -1.0]);
    let (slice, boxed): (&[f32], Box<[f32]>) = (&w[..2], Box::from([0.5_f32, 1.5]));
    let y = mind!(x @ w + slice * boxed);
    let y: Tensor![f32; 2] = y.into();
    assert_eq!(y.as_slice(), [-1.5, -2.0]);
    // The extents of an array are static, those of a slice are dynamic. A gradient by either is a tensor.
    type ByBoth = (Tensor![f32; 2, 3], Tensor![f32; ?]);
    let (dx, dw): ByBoth = mind!(grad(sum(x @ w), wrt = (x, w)));
    assert_eq!((dx.as_slice()[..3] == w[..], dw.as_slice()), (true, &[5.0, 7.0, 9.0][..]));
    let deep = [[[[[[7_i32; 2]; 1]; 3]; 1]; 2]; 1];
    assert_eq!(mind!(sum(deep)), 84);
    let open = [1.0, 2.0];
    let doubled = mind!(open * 2.0 + {open.to_vec()} : f64[2]);
    assert_eq!(doubled.as_slice(), [3.0, 6.0]);
}

#[test]
#[should_panic(
    expected = "[E3001] `+`: extents 3 and 2 do not broadcast in dimension 0: x is f32[3], b is f32[2]"
)]
fn the_length_of_a_vector_is_checked_on_entry() {
    let (x, b) = ([1.0_f32, 2.0, 3.0], vec![1.0_f32, 2.0]);
    let _ = mind!(x + b);
}

struct Dense {
    w: Tensor![f32; 2, 2],
    b: [Tensor![f32; 2]; 1],
}

struct Net<'a> {
    layers: (&'a Dense, f32),
}

impl Dense {
    fn forward<S: Shape>(&self, x: &TensorRef<f32, S>) -> Vec<f32> {
        let bias = &self.b[0];
        mind!(late: x @ self.w + bias).into_vec()
    }
}

#[test]
fn places_and_rust_expressions_are_leaves() {
    let dense = Dense { w: Tensor::from([[1.0, 2.0], [3.0, 4.0]]), b: [Tensor::from([0.5, -0.5])] };
    let x: Tensor![f32; 1, 2] = Tensor::from([[1.0, 1.0]]);
    assert_eq!(dense.forward(&x), [4.5, 5.5]);
    let net = Net { layers: (&dense, 10.0) };
    let y = mind!(x @ net.layers.0.w * net.layers.1 + {dense.b[0].view()} + {x.map(|x| x * 100.0)});
    assert_eq!(y.as_slice(), [140.5, 159.5]);
    // Each block in braces is evaluated once, in the order of the text.
    let mut calls = Vec::new();
    let mut number = |value: f32| {
        calls.push(value);
        value
    };
    let y = mind!({ number(1.0) } - { number(2.0) });
    assert_eq!(calls, [1.0, 2.0]);
    assert!(y == -1.0 && y < 0.0, "{y}");
}

#[test]
fn names_of_the_expansion_hide_no_name_of_the_user() {
    #[allow(non_snake_case, reason = "the expansion has such names")]
    let (rt, view_0, owner_0, n0, nodes, T0) = (1.0_f32, 2.0_f32, 4.0_f32, 8.0_f32, 16.0_f32, 32.0_f32);
    struct Types;
    struct Expression;
    impl Types {
        fn number(&self) -> f32 {
            64.0
        }
    }
    impl Expression {
        fn number(&self) -> f32 {
            128.0
        }
    }
    let sum = mind!(rt + view_0 + owner_0 + n0 + nodes + T0 + { Types.number() } + { Expression.number() });
    assert_eq!(sum, 255.0);
}

#[test]
fn a_result_has_a_plain_type_where_one_is_known() {
    let x: Tensor![f32; 2, 3] = Tensor::full(2.0);
    let written: Tensor![f32; 2, 2] = mind!(x @ x.T : f32[2, 2]);
    assert_eq!(written.as_slice(), [12.0; 4]);
    let like_a_leaf: Tensor![f32; 2, 3] = mind!(relu(x * 2.0 - 1.0));
    assert_eq!(like_a_leaf.as_slice(), [3.0; 6]);
    let number: f32 = mind!(sum(x) * 0.5);
    assert_eq!(number, 6.0);
    let written: f32 = mind!(x[0, 0] : f32);
    assert_eq!(written, 2.0);
    let (pair, number): (Tensor![f32; 3], f32) = mind!((sum(x, axes = [0]), x[1, 1]) : (f32[3], f32));
    assert_eq!((pair.as_slice(), number), ([4.0; 3].as_slice(), 2.0));
}

#[test]
fn an_inferred_shape_converts_to_a_written_one() {
    let x: Tensor![f32; 2, 3] = Tensor::full(2.0);
    let y = mind!(x @ x.T);
    assert_eq!((y.dims(), y[[1, 0]], y.shape().dims().len()), ([2, 2], 12.0, 2));
    assert_eq!(format!("{y:?}"), "[[12.0, 12.0],\n [12.0, 12.0]], f32[2, 2]");
    // The result can be read by the next expression, and by functions that are generic in shapes.
    let z = mind!(y @ y - y);
    let z: Tensor![f32; 2, 2] = z.into();
    assert_eq!(z.as_slice(), [276.0; 4]);
    let rows: Tensor![f32; ?, 2] = y.clone().into();
    assert_eq!(rows.dims(), [2, 2]);
    let dynamic: Tensor<f32, (usize, usize)> = y.as_dyn::<2>().to_owned();
    assert_eq!(dynamic, rows.try_into_shape().expect("any shape is of this type"));
    let corner = mind!(x[0, 0]);
    assert_eq!(f32::from(corner), 2.0);
}

#[test]
fn an_annotated_leaf_may_be_dynamic() {
    let x = Tensor::<f32, _>::full_with((2, 3), 1.0);
    let y: Tensor<f32, (Const<2>, Const<1>)> =
        mind!(sum((x: f32[2, 3]), axis = 1, keepdims = true) : f32[2, 1]);
    assert_eq!(y.as_slice(), [3.0; 2]);
}

#[test]
#[should_panic(expected = "[E2001] `x`: expected f32[2, 3], found f32[2, 4]")]
fn an_annotated_leaf_is_checked_on_entry() {
    let x = Tensor::<f32, _>::full_with((2, 4), 1.0);
    let _ = mind!(sum((x: f32[2, 3]), axis = 1));
}

#[test]
#[should_panic(expected = "[E3003] `@`: inner dimensions differ, 3 and 4: x is f32[2, 3], w is f32[4, 2]")]
fn dynamic_extents_are_checked_on_entry_by_the_same_rules() {
    let (x, w) = (Tensor::<f32, _>::zeros_with((2, 3)), Tensor::<f32, _>::zeros_with((4, 2)));
    let _ = mind!(relu(x @ w));
}

#[test]
#[should_panic(expected = "[E3006]")]
fn an_empty_tensor_is_refused_on_entry() {
    let x = Tensor::<f32, _>::zeros_with((2, 0));
    let _ = mind!(x + 1.0);
}

#[test]
#[should_panic(expected = "E6010: an integer is divided by 0")]
fn an_integer_divided_by_zero_panics() {
    let (x, y) = (Tensor::from([7, 8, 9]), Tensor::from([1, 0, 2]));
    let _ = mind!(x / y);
}

#[test]
#[should_panic(expected = "E6001: `rows`: index 4 at position 1 is out of range, needed 0 to 2")]
fn an_index_out_of_range_panics() {
    let (table, rows) = (Tensor::<f32, _>::zeros_with((3, 2)), Tensor::from([0_i64, 4]));
    let _ = mind!(gather(table, rows));
}
