//! The items that the Rust code of Knossos programs uses: tensors of any structure, failures with their places,
//! numbers.
//!
//! A tensor of tuples is a tuple of tensors, one per member. A tensor therefore has elements of one kind: numbers,
//! truth values, texts, other tensors, tapes. An [`Array`] owns a tensor, a [`View`] borrows one for reading, and a
//! [`ViewMut`] borrows one for adding to it.

mod array;
mod bound;
mod calls;
mod deep;
mod fault;
mod linear;
mod number;
mod rows;
mod show;
mod stack;
mod strided;
mod turns;
mod view;

pub use crate::kernels::math::MultiplyAdd;
pub use array::{Array, Nest, Nested, again, elements, owned, stale, summand, tensor};
pub use bound::{AsTensor, IntoReturned, Returned, returned, tensor_argument};
pub use calls::{FIRST_CALL, has_room, on_new_stack};
pub use deep::Deep;
pub use fault::{At, Fault};
pub use linear::{Grow, Linear, Zeros, dot, negated, scaled, sum_of, zeros};
pub use mind_special::{erf, lgamma, polygamma, power, random_hash};
pub use number::{Real, arg_max, divide, extent, from_integer, maximum, minimum, total};
pub use rows::{inner_product, row_sum};
pub use show::{Show, print, show_elements};
pub use strided::{Strided, copy, extent_of_turns, product};
pub use turns::{Turn, turns};
pub use view::{Extents, View, ViewMut, within};
