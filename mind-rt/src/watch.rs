//! What generated code calls of values that are watched: those that a program shows, and with `MIND_CHECK=nan` all of floats.
//!
//! Of each value in which NaN is found it is known from which one that came: one that holds NaN though nothing that it was
//! made of does, or one that was given. A caller that gets NaN that the program made is told by a panic; NaN that no result
//! holds was meant to be dropped, as `where` does.

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
    /// Its number in the program.
    pub value: usize,
    /// The numbers of what it is made of.
    pub made_of: &'static [usize],
    /// As the program has it: an expression, or a name.
    pub text: &'static str,
    /// What it is bound to, or nothing.
    pub name: &'static str,
    /// `src/main.rs:12:5`, or nothing.
    pub place: &'static str,
    /// How it comes about.
    pub comes: Comes,
    /// Whether the caller gets it.
    pub delivered: bool,
}

/// How a value comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comes {
    /// It is given to the program.
    Given,
    /// The program computes it.
    Computed,
    /// The program computes it for the derivative of what its text says.
    Derived,
}

thread_local! {
    /// The programs that run on this thread, the innermost last.
    static RUNNING: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// What is known of a run.
struct Frame {
    program: &'static str,
    /// The type of each value, and what is written of it.
    seen: BTreeMap<usize, Seen>,
}

struct Seen {
    ty: String,
    watched: Watched,
    /// How many elements are infinite: what often leads to NaN.
    infinite: usize,
    /// If it holds NaN.
    nan: Option<Nan>,
}

/// Where NaN of a value comes from.
#[derive(Clone)]
struct Nan {
    /// The value that went NaN.
    from: Watched,
    /// What is told of it.
    message: String,
}

/// A program begins, and ends when this is dropped.
pub struct Run(());

/// A program of this name begins.
pub fn begin(program: &'static str) -> Run {
    RUNNING.with_borrow_mut(|running| running.push(Frame { program, seen: BTreeMap::new() }));
    Run(())
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = RUNNING.try_with(|running| running.borrow_mut().pop());
    }
}

/// Searches a value of a program that has begun. Values of other types than floats hold no NaN.
///
/// # Panics
/// If the caller gets it, it holds NaN, and the program made that.
pub fn search<T: Datum>(dims: &[usize], elements: &[T], watched: Watched) {
    let told = RUNNING.with_borrow_mut(|running| {
        running.last_mut().and_then(|frame| frame.search(dims, T::elements(elements), watched))
    });
    match told {
        None => {}
        Some(Report::Panic(message)) => panic!("{message}"),
        Some(Report::Note { of, message }) => note(of, &message),
    }
}

/// What is to be told.
enum Report {
    Panic(String),
    /// A message, and which value of which program it is of.
    Note {
        of: String,
        message: String,
    },
}

/// Told once a process of each value.
fn note(of: String, message: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // No lock's poison is heeded.
    let is_new = TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(of);
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
            // What the program made is told before what it was given.
            let made = before().find(|nan| nan.from.comes != Comes::Given);
            made.or_else(|| before().next()).cloned().unwrap_or_else(|| {
                let message = self.message(&watched, &ty, dims, first, count);
                Nan { from: watched, message }
            })
        });
        let told = nan.as_ref().filter(|_| watched.delivered).map(|Nan { from, message }| match from.comes {
            Comes::Given => {
                let of = format!("{}: {:?}", self.program, from.value);
                Report::Note { of, message: message.clone() }
            }
            Comes::Computed | Comes::Derived => {
                let reaches = match from.value == watched.value {
                    true => String::new(),
                    false => format!("\n  it reaches {}, a result", described(&watched)),
                };
                Report::Panic(format!("{message}{reaches}"))
            }
        });
        self.seen.insert(watched.value, Seen { ty, watched, infinite, nan });
        told
    }

    /// What is told of a value that went NaN.
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
        if watched.comes == Comes::Given {
            return format!(
                "MIND_CHECK=nan: {program}: {what}, {ty}, is NaN as it is given{at}; what is computed of it is NaN too"
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

/// A value in the program's words, with its place.
fn described(watched: &Watched) -> String {
    let Watched { text, name, place, comes, .. } = watched;
    let named = if name.is_empty() || name == text { String::new() } else { format!("`{name}` = ") };
    let derivative = if *comes == Comes::Derived { "the derivative of " } else { "" };
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    match (text.is_empty(), name.is_empty()) {
        (true, true) => format!("{derivative}a value{place}"),
        (true, false) => format!("{derivative}`{name}`{place}"),
        (false, _) => format!("{derivative}{named}`{text}`{place}"),
    }
}

/// The position of the first NaN, and how many there are.
fn nans<T: Copy + Into<f64>>(elements: &[T]) -> Option<(usize, usize)> {
    let is_nan = |element: &T| (*element).into().is_nan();
    let first = elements.iter().position(is_nan)?;
    Some((first, elements[first..].iter().filter(|element| is_nan(element)).count()))
}

/// How many elements are infinite.
fn infinite<T: Copy + Into<f64>>(elements: &[T]) -> usize {
    elements.iter().filter(|element| (**element).into().is_infinite()).count()
}

/// The position of an element in a shape.
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
        comes: Comes::Given,
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
                comes: Comes::Computed,
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
        let computed = Watched { value: 1, made_of: &[0], comes: Comes::Computed, ..VALUE };
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
