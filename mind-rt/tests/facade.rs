//! The run time as seen by a crate that reaches it through a facade, as generated code does.
#![forbid(unsafe_code)]

mod layers;

mod facade {
    pub use mind_rt::{Const, Tensor, TensorRef, dim};

    pub mod __private {
        pub use mind_rt::private::*;
    }
}

use facade::{Tensor, TensorRef};

facade::dim!(Batch);

/// The code that the macro generates for a function with one symbolic dim.
fn try_scale<N: facade::__private::Dim>(
    x: &TensorRef<f32, (N, facade::Const<3>)>,
    y: &TensorRef<f32, (N,)>,
) -> Result<Tensor<f32, (N,)>, facade::__private::Error> {
    use facade::__private as rt;

    let n = x.shape().0.extent();
    rt::check_positive("scale", "parameter `x`", 0, n as i64)?;
    rt::check_dim("scale", "y", 0, y.shape().0.extent(), n, "N, from `x`")?;
    let mut out = Tensor::<f32, (N,)>::try_zeros_with((x.shape().0,))?;
    rt::with_workspace(rt::segment_bytes(rt::Lens { f32: n, ..rt::Lens::NONE }), |workspace| {
        let segments = workspace.segments(rt::Lens { f32: n, ..rt::Lens::NONE })?;
        let [sums, _] = rt::split(segments.f32, [0..n, n..n]);
        rt::dispatch(Rows { x: x.as_slice(), sums });
        rt::dispatch(Times { sums, y: y.as_slice(), out: out.as_mut_slice() });
        Ok(out)
    })
}

struct Rows<'a> {
    x: &'a [f32],
    sums: &'a mut [f32],
}

impl facade::__private::Kernel for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sum, row) in self.sums.iter_mut().zip(self.x.chunks_exact(3)) {
            *sum = <f32 as facade::__private::Reduce>::lane_sum(row);
        }
    }
}

struct Times<'a> {
    sums: &'a [f32],
    y: &'a [f32],
    out: &'a mut [f32],
}

impl facade::__private::Kernel for Times<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((out, sum), y) in self.out.iter_mut().zip(self.sums).zip(self.y) {
            *out = facade::__private::exp(facade::__private::ln(sum * y));
        }
    }
}

#[test]
fn the_type_and_its_macro_come_by_one_name() {
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let y: facade::Tensor![f32; 2] = Tensor::full(1.0);
    let out: Tensor![f32; 2] = try_scale(&x, &y).expect("static shapes agree");
    assert_eq!(out.map(f32::round).as_slice(), [6.0, 15.0]);
}

#[test]
fn dynamic_and_named_dims_are_checked_on_entry() {
    let x = Tensor::from_vec((Batch(2), facade::Const::<3>), vec![1.0; 6]).expect("6 elements");
    let error = try_scale(&x, &Tensor::full_with((Batch(3),), 1.0)).expect_err("3 is not 2");
    assert_eq!(error.to_string(), "E6009: `scale`: parameter `y`: dimension 0 is 3, needed 2 (N, from `x`)");
    let error = try_scale(&Tensor::zeros_with((0_usize, facade::Const)), &Tensor::zeros_with((0,)));
    assert_eq!(error.expect_err("0 is not positive").code(), "E3006");
}

#[test]
fn a_fresh_argument_infers_its_type() {
    fn two(x: &TensorRef<f32, (facade::Const<2>, facade::Const<3>)>) -> usize {
        x.len()
    }
    assert_eq!(two(&Tensor::zeros()), 6);
}
