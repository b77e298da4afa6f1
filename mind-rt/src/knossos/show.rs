//! Values as text, as `print` writes them.

use std::fmt::Write;

/// A value that can be shown as text, in the notation of programs. Bools and Floats differ: they are shown as in
/// programs that ksc compiles, as `1` or `0`, and with six significant digits.
pub trait Show {
    /// Appends the value to `text`.
    fn show(&self, text: &mut String);
}

macro_rules! show {
    ($($ty:ty)+) => {$(
        impl Show for $ty {
            fn show(&self, text: &mut String) {
                write!(text, "{self:?}").expect("writing to a string cannot fail");
            }
        }
    )+};
}

show!(i64 str String);

macro_rules! show_floats {
    ($($ty:ty)+) => {$(
        impl Show for $ty {
            fn show(&self, text: &mut String) {
                text.push_str(&mind_special::six_digits(f64::from(*self)));
            }
        }
    )+};
}

show_floats!(f32 f64);

impl Show for bool {
    fn show(&self, text: &mut String) {
        text.push(if *self { '1' } else { '0' });
    }
}

/// Appends the elements of a tensor in brackets; `show` appends the element at a position.
pub fn show_elements(size: &[usize], text: &mut String, show: &mut dyn FnMut(usize, &mut String)) {
    show_from(size, 0, text, show);
}

fn show_from(size: &[usize], first: usize, text: &mut String, show: &mut dyn FnMut(usize, &mut String)) {
    text.push('[');
    if let [outer, inner @ ..] = size {
        let count = inner.iter().product::<usize>();
        for position in 0..*outer {
            if position > 0 {
                text.push(' ');
            }
            match inner {
                [] => show(first + position, text),
                _ => show_from(inner, first + position * count, text, show),
            }
        }
    }
    text.push(']');
}

/// Writes to standard output.
pub fn print(text: &str) {
    print!("{text}");
}
