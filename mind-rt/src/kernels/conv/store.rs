//! Convolutions that store their results unchanged and get scratch memory themselves: on the stack if it is small,
//! otherwise from the thread's workspace. A caller that already uses the workspace pays for allocating another one.

use super::{
    Conv2d, Convolve, conv2d_grad_filter_scratch, conv2d_grad_filter_with, conv2d_grad_input_scratch,
    conv2d_grad_input_with, conv2d_scratch, conv2d_with,
};
use crate::kernels::epilogue::Stored;
use crate::kernels::limit::limit;
use crate::kernels::memory::poison;
use crate::kernels::number::Number;
use crate::workspace::{carve, slot_bytes, with_workspace};

/// As [`conv2d_with`], stored to `out`.
pub fn conv2d<T: Convolve>(g: &Conv2d, input: &[T], filter: &[T], out: &mut [T]) {
    let g = &g.checked(Some(input.len()), Some(filter.len()), Some(out.len()));
    poison(out);
    let store = Stored::new(out, g.c_out);
    with_scratch(conv2d_scratch::<T>(g), |scratch| conv2d_with(g, input, filter, scratch, store));
}

/// As [`conv2d_grad_input_with`], stored to `out`.
pub fn conv2d_grad_input<T: Convolve>(g: &Conv2d, cotangent: &[T], filter: &[T], out: &mut [T]) {
    let g = &g.checked(Some(out.len()), Some(filter.len()), Some(cotangent.len()));
    poison(out);
    let store = Stored::new(out, g.c_in);
    with_scratch(conv2d_grad_input_scratch::<T>(g), |scratch| {
        conv2d_grad_input_with(g, cotangent, filter, scratch, store);
    });
}

/// As [`conv2d_grad_filter_with`], stored to `out`.
pub fn conv2d_grad_filter<T: Convolve>(g: &Conv2d, input: &[T], cotangent: &[T], out: &mut [T]) {
    let g = &g.checked(Some(input.len()), Some(out.len()), Some(cotangent.len()));
    poison(out);
    let store = Stored::new(out, g.c_out);
    with_scratch(conv2d_grad_filter_scratch::<T>(g), |scratch| {
        conv2d_grad_filter_with(g, input, cotangent, scratch, store);
    });
}

/// The most elements of scratch memory on the stack: enough for small filters, without an allocation.
const ON_STACK: usize = limit(4096, 64);

fn with_scratch<T: Number>(len: usize, f: impl FnOnce(&mut [T])) {
    if len <= ON_STACK {
        return f(&mut [T::ZERO; ON_STACK]);
    }
    with_workspace(slot_bytes::<T>(len), |workspace| f(carve(workspace.memory(), len).0));
}
