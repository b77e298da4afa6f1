//! The functions that generated code calls for watched values: values that a program shows and, with `MIND_CHECK=nan`,
//! all floating-point values.
//!
//! For each value that holds NaN, the run knows where the NaN came from: a value that holds NaN though none of its
//! operands does, or an argument of the program. A NaN that the program computed and that reaches a result causes a
//! panic. A NaN that reaches no result is ignored, since programs drop NaN on purpose, as with `where`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use mind_shape::match_elements;

use crate::bare::Datum;
use crate::element::Element;
use crate::element::Elements;
use crate::inspect::{self, Inspected, type_text};

/// Shows a value.
pub fn show<T: Element>(label: &str, dims: &[usize], elements: &[T]) {
    inspect::show(&Inspected { label, dims, elements: T::elements(elements) });
}

/// A value that is searched for NaN.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// The number of the value in the program.
    pub value: usize,
    /// The numbers of its operands.
    pub made_of: &'static [usize],
    /// Its text in the program: an expression or a name.
    pub text: &'static str,
    /// The name that it is bound to; empty if none.
    pub name: &'static str,
    /// Its place, as in `src/main.rs:12:5`; empty if unknown.
    pub place: &'static str,
    /// The origin of the value.
    pub origin: Origin,
    /// Whether the caller gets the value.
    pub delivered: bool,
}

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The value is given to the program.
    Argument,
    /// The program computes it.
    Computed,
    /// The program computes it for the derivative of the expression that its text names.
    Derived,
}

thread_local! {
    /// The programs that run on this thread, innermost last.
    static RUNNING: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// The state of a run.
struct Frame {
    program: &'static str,
    /// The values searched so far, by their numbers.
    seen: BTreeMap<usize, Seen>,
}

struct Seen {
    ty: String,
    watched: Watched,
    /// The number of infinite elements, which often lead to NaN.
    infinite: usize,
    /// The origin of the NaN, if the value holds one.
    nan: Option<Nan>,
}

/// The origin of a NaN.
#[derive(Clone)]
struct Nan {
    /// The value that first held NaN.
    from: Watched,
    /// The message about that value.
    message: String,
}

/// A running program, which ends when this is dropped.
pub struct WatchedRun(());

/// Begins a program of this name.
pub fn begin(program: &'static str) -> WatchedRun {
    RUNNING.with_borrow_mut(|running| running.push(Frame { program, seen: BTreeMap::new() }));
    WatchedRun(())
}

impl Drop for WatchedRun {
    fn drop(&mut self) {
        let _ = RUNNING.try_with(|running| running.borrow_mut().pop());
    }
}

/// Searches a value of the running program for NaN. Only floats can hold NaN.
///
/// # Panics
/// If the caller gets the value, and it holds a NaN that the program computed.
pub fn search<T: Datum>(dims: &[usize], elements: &[T], watched: Watched) {
    let report = RUNNING.with_borrow_mut(|running| {
        running.last_mut().and_then(|frame| frame.search(dims, T::elements(elements), watched))
    });
    match report {
        None => {}
        Some(Report::Panic(message)) => panic!("{message}"),
        Some(Report::Note { of, message }) => note(of, &message),
    }
}

/// A report about a value with NaN.
enum Report {
    Panic(String),
    /// A message, with the program and value that it is about.
    Note {
        of: String,
        message: String,
    },
}

/// Prints a message, once per process for each value.
fn note(of: String, message: &str) {
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // A poisoned lock is used as any other.
    let is_new = REPORTED.lock().unwrap_or_else(PoisonError::into_inner).insert(of);
    if is_new {
        eprintln!("{message}");
    }
}

impl Frame {
    fn search(&mut self, dims: &[usize], elements: Elements<'_>, watched: Watched) -> Option<Report> {
        let ty = type_text(elements.dtype(), dims);
        let (found, infinite) = match_elements!(elements, Elements(elements) {
            floats => (nans(elements), infinite(elements)),
            others => (None, 0),
        });
        let nan = found.map(|(first, count)| {
            let before = || watched.made_of.iter().filter_map(|of| self.seen.get(of)?.nan.as_ref());
            // A NaN that the program computed is reported before one that it was given.
            let made = before().find(|nan| nan.from.origin != Origin::Argument);
            made.or_else(|| before().next()).cloned().unwrap_or_else(|| {
                let message = self.message(&watched, &ty, dims, first, count);
                Nan { from: watched, message }
            })
        });
        let report =
            nan.as_ref().filter(|_| watched.delivered).map(|Nan { from, message }| match from.origin {
                Origin::Argument => {
                    let of = format!("{}: {:?}", self.program, from.value);
                    Report::Note { of, message: message.clone() }
                }
                Origin::Computed | Origin::Derived => {
                    let reaches = match from.value == watched.value {
                        true => String::new(),
                        false => format!("\n  it reaches {}, a result", described(&watched)),
                    };
                    Report::Panic(format!("{message}{reaches}"))
                }
            });
        self.seen.insert(watched.value, Seen { ty, watched, infinite, nan });
        report
    }

    /// The message about the value that first holds NaN.
    fn message(&self, watched: &Watched, ty: &str, dims: &[usize], first: usize, count: usize) -> String {
        let (program, what) = (self.program, described(watched));
        let at = match dims {
            [] => String::new(),
            _ => format!(
                " at {:?}, {count} of {} elements",
                place(first, dims),
                dims.iter().product::<usize>()
            ),
        };
        if watched.origin == Origin::Argument {
            return format!(
                "MIND_CHECK=nan: {program}: {what}, {ty}, is already NaN as given{at}; values computed from it are \
                    NaN too"
            );
        }
        let made_of = watched.made_of.iter().filter_map(|of| {
            let Seen { ty, watched, infinite, .. } = self.seen.get(of)?;
            let infinite = match infinite {
                0 => String::new(),
                count => format!(", {count} infinite"),
            };
            Some(format!("\n  of {}, {ty}, without NaN{infinite}", described(watched)))
        });
        let made_of: String = made_of.collect();
        format!("MIND_CHECK=nan: {program}: {what}, {ty}, is the first value that is NaN{at}{made_of}")
    }
}

/// The text of a value in the program, with its place.
fn described(watched: &Watched) -> String {
    let Watched { text, name, place, origin, .. } = watched;
    let named = if name.is_empty() || name == text { String::new() } else { format!("`{name}` = ") };
    let derivative = if *origin == Origin::Derived { "the derivative of " } else { "" };
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    match (text.is_empty(), name.is_empty()) {
        (true, true) => format!("{derivative}a value{place}"),
        (true, false) => format!("{derivative}`{name}`{place}"),
        (false, _) => format!("{derivative}{named}`{text}`{place}"),
    }
}

/// The position of the first NaN, and the number of NaNs.
fn nans<T: Copy + Into<f64>>(elements: &[T]) -> Option<(usize, usize)> {
    let is_nan = |element: &T| (*element).into().is_nan();
    let first = elements.iter().position(is_nan)?;
    Some((first, elements[first..].iter().filter(|element| is_nan(element)).count()))
}

/// The number of infinite elements.
fn infinite<T: Copy + Into<f64>>(elements: &[T]) -> usize {
    elements.iter().filter(|element| (**element).into().is_infinite()).count()
}

/// The index of the element at `offset` in a shape.
fn place(mut offset: usize, dims: &[usize]) -> Vec<usize> {
    let mut place: Vec<usize> = dims
        .iter()
        .rev()
        .map(|extent| {
            let at = offset % extent;
            offset /= extent;
            at
        })
        .collect();
    place.reverse();
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: Watched = Watched {
        value: 0,
        made_of: &[],
        text: "x",
        name: "",
        place: "",
        origin: Origin::Argument,
        delivered: false,
    };

    fn told(run: impl FnOnce() + std::panic::UnwindSafe) -> Option<String> {
        let panic = std::panic::catch_unwind(run).err()?;
        Some(panic.downcast_ref::<String>().expect("a message").clone())
    }

    #[test]
    fn the_value_that_went_nan_is_named_where_it_reaches_a_result() {
        let found = told(|| {
            let _run = begin("`f`");
            search(&[2], &[1.0_f32, -1.0], VALUE);
            let log = Watched {
                value: 1,
                made_of: &[0],
                text: "log(x)",
                name: "l",
                origin: Origin::Computed,
                ..VALUE
            };
            search(&[2], &[0.0, f32::NAN], Watched { place: "a.rs:3:9", ..log });
            let sum = Watched { value: 2, made_of: &[1], text: "sum(l)", delivered: true, ..log };
            search(&[], &[f32::NAN], Watched { name: "", ..sum });
        });
        let wanted = "MIND_CHECK=nan: `f`: `l` = `log(x)` (a.rs:3:9), f32[2], is the first value that is NaN at [1], \
                      1 of 2 elements\n  of `x`, f32[2], without NaN\n  it reaches `sum(l)`, a result";
        assert_eq!(found.as_deref(), Some(wanted));
        assert!(RUNNING.with_borrow(Vec::is_empty), "the run has ended");
    }

    #[test]
    fn nan_that_reaches_no_result_or_was_given_is_no_panic() {
        let computed = Watched { value: 1, made_of: &[0], origin: Origin::Computed, ..VALUE };
        let result = Watched { value: 2, made_of: &[0, 1], delivered: true, ..computed };
        let dropped = told(move || {
            let _run = begin("`f`");
            search(&[1], &[1.0_f64], VALUE);
            search(&[1], &[f64::NAN], computed);
            search(&[1], &[1.0_f64], result);
        });
        assert_eq!(dropped, None);
        let given = told(move || {
            let _run = begin("`f`");
            search(&[1], &[f64::NAN], VALUE);
            search(&[1], &[f64::NAN], computed);
            search(&[1], &[f64::NAN], result);
        });
        assert_eq!(given, None);
    }

    #[test]
    fn places_are_counted_in_row_major_order() {
        assert_eq!(place(5, &[2, 3]), [1, 2]);
        assert_eq!(nans(&[0.0_f32, f32::NAN, 1.0, f32::NAN]), Some((1, 2)));
        assert_eq!(infinite(&[f64::INFINITY, 1.0, f64::NAN]), 1);
    }
}
