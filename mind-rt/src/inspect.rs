//! The values that a program shows by `inspect(x, "h")`.
//!
//! A thread that has set a callback passes the values to it. Other threads print them to the standard error stream. A
//! program shows its values on the thread that calls it, in the order of its text.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;
use std::rc::Rc;

use mind_shape::{match_elements, write_in_brackets};

use crate::element::Elements;
use crate::element::{DType, Element};

/// A value that a program shows. Its `Display` is the default output: the label, the type, a summary of the elements,
/// then the elements, with long axes shortened.
///
/// ```
/// use mind_rt::inspect::Inspected;
/// let x = [0.5_f32, -2.0, f32::NAN, 1.0];
/// let seen = Inspected { label: "h", dims: &[2, 2], elements: mind_rt::Elements::F32(&x) };
/// assert_eq!(seen.to_string(), "h: f32[2, 2], from -2 to 1, mean -0.1667, 1 NaN\n[[0.5, -2],\n [NaN, 1]]");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Inspected<'a> {
    /// The second argument of `inspect`.
    pub label: &'a str,
    /// The extents; empty for a number.
    pub dims: &'a [usize],
    /// The elements in row-major order.
    pub elements: Elements<'a>,
}

type Callback = dyn FnMut(&Inspected<'_>);

thread_local! {
    static CALLBACK: RefCell<Option<Box<Callback>>> = const { RefCell::new(None) };
}

/// Passes the values that programs show on this thread to a callback, until the guard is dropped. Dropping the guard
/// restores the previous callback.
///
/// Values that the callback itself shows are printed. A guard that the callback makes must be dropped before the
/// callback returns: otherwise the guard removes this callback.
///
/// ```
/// use std::{cell::RefCell, rc::Rc};
/// let largest = Rc::new(RefCell::new(f32::NEG_INFINITY));
/// let seen = largest.clone();
/// let guard = mind_rt::inspect::set(move |x| {
///     if let mind_rt::Elements::F32(elements) = x.elements {
///         seen.replace_with(|so_far| elements.iter().copied().fold(*so_far, f32::max));
///     }
/// });
/// // Programs run.
/// drop(guard);
/// assert_eq!(*largest.borrow(), f32::NEG_INFINITY);
/// ```
#[must_use = "the callback is set for as long as the guard lives"]
pub fn set(callback: impl FnMut(&Inspected<'_>) + 'static) -> Guard {
    Guard { before: CALLBACK.replace(Some(Box::new(callback))), on_its_thread: PhantomData }
}

/// Restores the callback that was set before [`set`]. Drop guards in the reverse order of their creation.
pub struct Guard {
    before: Option<Box<Callback>>,
    on_its_thread: PhantomData<Rc<()>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // While a thread ends, its callback may already be gone.
        let _ = CALLBACK.try_with(|callback| callback.replace(self.before.take()));
    }
}

/// Shows a value.
pub(crate) fn show(seen: &Inspected<'_>) {
    /// Restores the callback, also after it panics.
    struct Running(Option<Box<Callback>>);

    impl Drop for Running {
        fn drop(&mut self) {
            let callback = self.0.take();
            let _ = CALLBACK.try_with(|current| {
                let mut current = current.borrow_mut();
                if current.is_none() {
                    *current = callback;
                }
            });
        }
    }

    let mut running = Running(CALLBACK.try_with(RefCell::take).ok().flatten());
    match &mut running.0 {
        Some(callback) => callback(seen),
        None => eprintln!("{seen}"),
    }
}

impl Display for Inspected<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.label.is_empty() {
            write!(f, "{}: ", self.label)?;
        }
        match_elements!(self.elements, Elements(elements) {
            truths => {
                let count = elements.iter().filter(|element| **element).count();
                self.described(elements, &format!("{count} of {} true", elements.len()), f)
            },
            integers => self.integers(elements, f),
            floats => self.floats(elements, f),
        })
    }
}

impl Inspected<'_> {
    fn floats<T: Element + Into<f64>>(&self, elements: &[T], f: &mut Formatter<'_>) -> fmt::Result {
        let (mut low, mut high, mut total) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        let (mut numbers, mut nan, mut infinite) = (0_usize, 0_usize, 0_usize);
        for element in elements.iter().map(|element| (*element).into()) {
            if element.is_nan() {
                nan += 1;
                continue;
            }
            infinite += usize::from(element.is_infinite());
            numbers += 1;
            (low, high, total) = (low.min(element), high.max(element), total + element);
        }
        let mut words = match numbers {
            0 => "no number".to_owned(),
            _ => range(low, high, total / numbers as f64),
        };
        for (count, what) in [(nan, "NaN"), (infinite, "infinite")] {
            if count > 0 {
                words += &format!(", {count} {what}");
            }
        }
        self.described(elements, &words, f)
    }

    fn integers<T: Element + Into<i64>>(&self, elements: &[T], f: &mut Formatter<'_>) -> fmt::Result {
        let all = || elements.iter().map(|element| (*element).into());
        let total: f64 = all().map(|element| element as f64).sum();
        let words = match (all().min(), all().max()) {
            (Some(low), Some(high)) => {
                format!("from {low} to {high}, mean {}", short(total / elements.len() as f64))
            }
            _ => "empty".to_owned(),
        };
        self.described(elements, &words, f)
    }

    /// Writes a number as its type and value. Writes a tensor as its type and `words`, then the elements on separate
    /// lines.
    fn described<T: Element>(&self, elements: &[T], words: &str, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", T::DTYPE)?;
        if let ([element], []) = (elements, self.dims) {
            return write!(f, " = {element}");
        }
        writeln!(f, "{:?}, {words}", self.dims)?;
        write_in_brackets(f, self.dims, &|at, f| Display::fmt(&elements[at], f))
    }
}

fn range(low: f64, high: f64, mean: f64) -> String {
    format!("from {} to {}, mean {}", short(low), short(high), short(mean))
}

/// The number with as many digits as a summary needs.
fn short(number: f64) -> String {
    let size = number.abs();
    if number == number.trunc() && size < 1e15 {
        format!("{number}")
    } else if (1e-3..1e6).contains(&size) {
        let text = format!("{number:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{number:.4e}")
    }
}

/// The type of a value as in messages: `f32[2, 3]`, `f32`.
pub(crate) fn type_text(dtype: DType, dims: &[usize]) -> String {
    if dims.is_empty() { dtype.to_string() } else { format!("{dtype}{dims:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen<'a>(label: &'a str, dims: &'a [usize], elements: Elements<'a>) -> Inspected<'a> {
        Inspected { label, dims, elements }
    }

    #[test]
    fn values_are_described_whatever_they_are() {
        let nans = [f64::NAN, f64::NAN];
        let ends = [f64::NEG_INFINITY, 1.0];
        for (elements, dims, wanted) in [
            (Elements::F64(&[1.5]), &[][..], "x: f64 = 1.5"),
            (Elements::F64(&nans), &[2], "x: f64[2], no number, 2 NaN\n[NaN, NaN]"),
            (Elements::F64(&ends), &[2], "x: f64[2], from -inf to 1, mean -inf, 1 infinite\n[-inf, 1]"),
            (Elements::I32(&[3, -1]), &[2, 1], "x: i32[2, 1], from -1 to 3, mean 1\n[[3],\n [-1]]"),
            (Elements::I64(&[i64::MIN]), &[], "x: i64 = -9223372036854775808"),
            (Elements::Bool(&[true, false, true]), &[3], "x: bool[3], 2 of 3 true\n[true, false, true]"),
        ] {
            assert_eq!(seen("x", dims, elements).to_string(), wanted);
        }
        assert_eq!(seen("", &[], Elements::I32(&[7])).to_string(), "i32 = 7");
    }

    #[test]
    fn long_values_are_shortened() {
        let all = vec![0.25_f32; 1000];
        let text = seen("x", &[1000], Elements::F32(&all)).to_string();
        assert!(text.contains("...") && text.len() < 200, "{text}");
    }

    #[test]
    fn the_callback_set_last_is_called_and_a_guard_puts_the_one_before_back() {
        let calls = Rc::new(RefCell::new(Vec::new()));
        let note = |name: &'static str| {
            let calls = calls.clone();
            move |seen: &Inspected<'_>| calls.borrow_mut().push(format!("{name} {}", seen.label))
        };
        let show = |label| show(&seen(label, &[], Elements::I32(&[1])));
        let outer = set(note("outer"));
        show("a");
        let inner = set(note("inner"));
        show("b");
        drop(inner);
        show("c");
        drop(outer);
        show("d");
        assert_eq!(*calls.borrow(), ["outer a", "inner b", "outer c"]);
    }

    #[test]
    fn a_callback_that_panics_is_called_the_next_time_too() {
        let calls = Rc::new(RefCell::new(0));
        let count = calls.clone();
        let _guard = set(move |_| {
            *count.borrow_mut() += 1;
            assert!(*count.borrow() > 1, "the first time");
        });
        let once = || show(&seen("x", &[], Elements::I32(&[1])));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(once)).is_err());
        once();
        assert_eq!(*calls.borrow(), 2);
    }

    #[test]
    fn what_a_callback_shows_is_not_passed_to_itself() {
        let calls = Rc::new(RefCell::new(0));
        let count = calls.clone();
        let _guard = set(move |seen| {
            *count.borrow_mut() += 1;
            show(seen);
        });
        show(&seen("x", &[], Elements::I32(&[1])));
        assert_eq!(*calls.borrow(), 1);
    }
}
