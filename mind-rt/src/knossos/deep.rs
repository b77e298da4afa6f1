//! Values that nest as deeply as calls do: tapes within tapes.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
};

use super::{
    fault::{At, Fault},
    linear::{Grow, Zeros},
    stack,
};

/// A value in a tape that contains tapes. Functions that recurse through it continue on a new stack from time to time.
/// Otherwise dropping a tape of ten thousand calls could exhaust the stack of the code that drops it.
#[derive(Debug)]
pub struct Deep<T: Send>(Option<Box<T>>);

impl<T: Send> Deep<T> {
    /// Holds a value.
    #[inline]
    pub fn new(value: T) -> Self {
        Self(Some(Box::new(value)))
    }
}

const IS_HELD: &str = "a value is held until it is dropped";

impl<T: Send> Deref for Deep<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().expect(IS_HELD)
    }
}

impl<T: Send> DerefMut for Deep<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect(IS_HELD)
    }
}

impl<T: Send> Drop for Deep<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            deeper_in(move || drop(value));
        }
    }
}

impl<T: Clone + Send + Sync> Clone for Deep<T> {
    fn clone(&self) -> Self {
        deeper_in(|| Self::new(T::clone(self)))
    }
}

impl<T: PartialEq + Send + Sync> PartialEq for Deep<T> {
    fn eq(&self, other: &Self) -> bool {
        deeper_in(|| T::eq(self, other))
    }
}

impl<T: Grow<B> + Send, B: Send + Sync> Grow<Deep<B>> for Deep<T> {
    fn grow(&mut self, by: &Deep<B>, at: At) -> Result<(), Fault> {
        deeper_in(|| T::grow(self, by, at))
    }
}

impl<T: Zeros<S> + Send, S: Send + Sync> Zeros<Deep<S>> for Deep<T> {
    fn zeros(shape: &Deep<S>, at: At) -> Result<Self, Fault> {
        deeper_in(|| T::zeros(shape, at).map(Self::new))
    }
}

/// The number of nested values that are processed on the stack of a caller.
const VALUES_OF_A_CALLER: u32 = 256;

thread_local! {
    /// The number of nested values that this thread is processing.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Processes a nested value, on a new stack if the current one may have no room. If no stack can be allocated, it
/// continues on the current one.
fn deeper_in<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    // While a thread ends, its depth is gone, and counting starts again.
    let depth = DEPTH.try_with(|depth| depth.replace(depth.get() + 1)).unwrap_or_default();
    let (mut work, mut result) = (Some(work), None);
    let mut run = || result = work.take().map(|work| work());
    let has_room = depth < VALUES_OF_A_CALLER || stack::has_room();
    if has_room || stack::on_new(&mut run).is_err() {
        run();
    }
    let _ = DEPTH.try_with(|own| own.set(depth));
    result.expect("the work is done on one stack or the other")
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A list of numbers, like the tape of nested calls, which is a list of the values that they keep.
    #[derive(Clone, Debug, PartialEq)]
    struct List(f64, Option<Deep<List>>);

    impl Grow<Self> for List {
        fn grow(&mut self, by: &Self, at: At) -> Result<(), Fault> {
            self.0 += by.0;
            match (&mut self.1, &by.1) {
                (Some(rest), Some(by)) => rest.grow(by, at),
                _ => Ok(()),
            }
        }
    }

    impl Zeros<Self> for List {
        fn zeros(shape: &Self, at: At) -> Result<Self, Fault> {
            Ok(Self(0.0, shape.1.as_ref().map(|rest| Zeros::zeros(rest, at)).transpose()?))
        }
    }

    #[test]
    fn deep_values_are_gone_through_on_a_small_stack() {
        let work = || {
            let at = At(&("f", 1, 1));
            let mut list = List(0.0, None);
            for position in 1..100_000 {
                list = List(f64::from(position), Some(Deep::new(list)));
            }
            let mut sum = List::zeros(&list, at).expect("there is memory");
            sum.grow(&list, at).expect("the sizes agree");
            assert!(sum == list && sum.clone() == list);
        };
        let thread = thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread can be had");
        thread.join().expect("the work ends");
    }
}
