//! Sums of two numbers of three digits, as strings and as tokens.
//!
//! An example is `123+456=9750`. The digits of the sum are reversed, so that each follows from earlier symbols and a
//! carry.

use mind::Rng;

/// The symbols of the strings. A symbol's index is its token.
const SYMBOLS: &str = "0123456789+=";
/// The number of symbols in a question such as `123+456=`.
pub const QUESTION: usize = 8;
/// The number of symbols in an answer.
pub const ANSWER: usize = 4;
/// One pair in `HELD_OUT` is kept for the test.
const HELD_OUT: u64 = 16;

/// The sum of two numbers below 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum(pub u32, pub u32);

impl Sum {
    /// Draws a random pair, either from those kept for the test or from the others.
    pub fn draw(random: &mut impl Rng, held_out: bool) -> Self {
        loop {
            let pair = ((random.next_u64() >> 32) * 1_000_000) >> 32;
            let sum = Self((pair / 1000) as u32, (pair % 1000) as u32);
            if sum.held_out() == held_out {
                return sum;
            }
        }
    }

    /// Whether the pair is kept for the test. The order of the two numbers does not matter.
    fn held_out(self) -> bool {
        let (low, high) = (self.0.min(self.1), self.0.max(self.1));
        let mixed = u64::from(low * 1000 + high).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32).is_multiple_of(HELD_OUT)
    }

    /// The question, for example `123+456=`.
    pub fn question(self) -> String {
        format!("{:03}+{:03}=", self.0, self.1)
    }

    /// The answer, for example `9750`: the digits of the sum in reverse order.
    pub fn answer(self) -> String {
        reversed(&format!("{:04}", self.0 + self.1))
    }

    /// The number of carries in the addition.
    pub fn carries(self) -> usize {
        [10, 100, 1000].into_iter().filter(|power| self.0 % power + self.1 % power >= *power).count()
    }
}

/// The characters of a text in reverse order.
pub fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// The tokens of a text.
pub fn tokens(text: &str) -> impl Iterator<Item = i64> {
    text.chars().map(|symbol| SYMBOLS.find(symbol).expect("texts are made of these symbols") as i64)
}

/// The symbol of a token.
pub fn symbol(token: i64) -> char {
    SYMBOLS.chars().nth(token as usize).expect("scores are of these symbols")
}

#[cfg(test)]
mod tests {
    use mind::Xoshiro256;

    use super::*;

    #[test]
    fn a_sum_is_written_with_its_answer_in_reverse() {
        let sum = Sum(7, 995);
        assert_eq!((sum.question(), sum.answer()), ("007+995=".into(), "2001".into()));
        assert_eq!((sum.question().len(), sum.answer().len()), (QUESTION, ANSWER));
        let text = sum.question() + &sum.answer();
        assert_eq!(tokens(&text).map(symbol).collect::<String>(), text);
        assert_eq!(tokens("09+=").collect::<Vec<_>>(), [0, 9, 10, 11]);
    }

    #[test]
    fn carries_are_those_of_adding_by_hand() {
        let sums = [(123, 456), (5, 5), (995, 5), (95, 5), (500, 500), (999, 999)];
        assert_eq!(sums.map(|(a, b)| Sum(a, b).carries()), [0, 1, 3, 2, 1, 3]);
    }

    #[test]
    fn one_sum_in_sixteen_is_kept_in_both_orders_and_never_learnt() {
        let kept = (0..1_000_000).filter(|pair| Sum(pair / 1000, pair % 1000).held_out()).count();
        assert!((kept as f64 * HELD_OUT as f64 / 1e6 - 1.0).abs() < 0.02, "{kept}");
        let mut random = Xoshiro256::new(1);
        for held_out in [true, false] {
            for _ in 0..1000 {
                let Sum(a, b) = Sum::draw(&mut random, held_out);
                assert!(a < 1000 && b < 1000);
                assert_eq!([Sum(a, b), Sum(b, a)].map(Sum::held_out), [held_out; 2]);
            }
        }
    }
}
