//! Formats numbers for people.

use mind_core::data::TensorData;

/// The first `most` elements, separated by commas, followed by `…` if there are more.
pub fn elements(data: &TensorData, most: usize) -> String {
    let shown: Vec<String> = data.texts(most);
    let shown: Vec<_> = shown.iter().map(|text| if text == "NaN" { "nan" } else { text }).collect();
    let more = if data.stored() > most { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// `1_234_567` as `1,234,567`.
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 input`, `2 inputs`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_threes() {
        assert_eq!(
            [0, 12, 123, 1234, -1234567, i64::MIN].map(grouped),
            ["0", "12", "123", "1,234", "-1,234,567", "-9,223,372,036,854,775,808"]
        );
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(elements(&vec![1.0f32, 0.5, f32::NAN].into(), 4), "1.0, 0.5, nan");
        assert_eq!(elements(&vec![1i64, 2, 3].into(), 2), "1, 2, …");
    }
}
