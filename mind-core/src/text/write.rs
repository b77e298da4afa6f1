//! Functions shared by the printers of both text forms. Each appends to a text.

use std::fmt::Write;

use mind_shape::{element_types, match_elements};

use super::cursor::Quiet;
use crate::data::TensorData;

/// Appends an unsigned integer in decimal.
pub(super) fn unsigned(text: &mut String, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.push_str(std::str::from_utf8(&digits[start..]).expect("digits are ASCII"));
}

/// Appends a signed integer in decimal.
pub(super) fn integer(text: &mut String, value: i64) {
    if value < 0 {
        text.push('-');
    }
    unsigned(text, value.unsigned_abs());
}

/// Appends a value by its `Display` implementation.
pub(super) fn shown(text: &mut String, value: impl std::fmt::Display) {
    write!(text, "{value}").expect("writing to a string cannot fail");
}

/// Appends items in brackets with a separator between them.
pub(super) fn list<T>(text: &mut String, items: &[T], separator: &str, item: impl Fn(&mut String, &T)) {
    text.push('[');
    for (position, value) in items.iter().enumerate() {
        if position > 0 {
            text.push_str(separator);
        }
        item(text, value);
    }
    text.push(']');
}

/// Appends the elements of a constant tensor: a list, or the single number that fills it.
pub(super) fn data(text: &mut String, data: &TensorData, separator: &str) {
    fn elements<T: Copy>(text: &mut String, elements: &[T], separator: &str, element: fn(&mut String, T)) {
        match elements {
            [single] => element(text, *single),
            several => list(text, several, separator, |text, value| element(text, *value)),
        }
    }
    match_elements!(data, TensorData(values) => {
        elements(text, values, separator, |text, value| value.get().write(text))
    });
}

/// An element as printed in both text forms.
pub(super) trait PrintElement {
    /// Appends the element. A float is the shortest decimal with the same bits, `inf`, `-inf`, `nan`, or `nan:` and all
    /// bits.
    fn write(self, text: &mut String);
}

macro_rules! integers {
    ($($element:ident $variant:ident;)*) => {$(
        impl PrintElement for $element {
            fn write(self, text: &mut String) {
                integer(text, self.into());
            }
        }
    )*};
}

macro_rules! floats {
    ($($float:ident $variant:ident;)*) => {$(
        impl PrintElement for $float {
            fn write(self, text: &mut String) {
                let (bits, width) = (self.to_bits(), 2 + 2 * size_of::<Self>());
                let written = match bits {
                    _ if bits == Self::QUIET.to_bits() => write!(text, "nan"),
                    _ if self.is_nan() => write!(text, "nan:{bits:#0width$x}"),
                    _ => write!(text, "{self:?}"),
                };
                written.expect("writing to a string cannot fail");
            }
        }
    )*};
}

impl PrintElement for bool {
    fn write(self, text: &mut String) {
        shown(text, self);
    }
}

element_types!(integers => integers!);
element_types!(floats => floats!);

/// Appends text in double quotes, escaped to fit on one line.
pub(super) fn quoted(text: &mut String, value: &str) {
    text.push('"');
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            control if control.is_control() || matches!(control, '\u{2028}' | '\u{2029}') => {
                text.extend(control.escape_unicode());
            }
            plain => text.push(plain),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_shortest_and_keep_their_bits() {
        let shown = |values: Vec<f32>| {
            let mut text = String::new();
            list(&mut text, &values, ", ", |text, value| value.write(text));
            text
        };
        let values = vec![0.1, 1.0, -0.0, 1e-7, f32::MAX, f32::INFINITY, f32::NEG_INFINITY];
        assert_eq!(shown(values), "[0.1, 1.0, -0.0, 1e-7, 3.4028235e38, inf, -inf]");
        let nans =
            vec![f32::from_bits(0x7fc0_0000), f32::from_bits(0x7fc0_0001), f32::from_bits(0xffc0_0000)];
        assert_eq!(shown(nans), "[nan, nan:0x7fc00001, nan:0xffc00000]");
        let mut text = String::new();
        f64::from_bits(0x7ff8_0000_0000_0001).write(&mut text);
        assert_eq!(text, "nan:0x7ff8000000000001");
    }

    #[test]
    fn names_are_quoted_on_one_line() {
        let mut text = String::new();
        quoted(&mut text, "a\"b\\c\nd\te\rf\u{1}g\u{e9}");
        assert_eq!(text, r#""a\"b\\c\nd\te\rf\u{1}g"#.to_string() + "\u{e9}\"");
    }

    #[test]
    fn integers_are_decimal_at_both_ends() {
        let mut text = String::new();
        list(&mut text, &[0, -1, i64::MAX, i64::MIN], ",", |text, value| integer(text, *value));
        assert_eq!(text, "[0,-1,9223372036854775807,-9223372036854775808]");
    }
}
