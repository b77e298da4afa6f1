//! Zeros of results that follow from zeros of operands.

use crate::map::{Map, Takes};

impl Map {
    /// Whether the result is 0, of either sign, where the marked operands are 0, whatever the other operands are.
    pub fn is_zero_at(self, zeros: &[bool]) -> bool {
        let row = self.row();
        let is_zero = |position: usize| zeros.get(position) == Some(&true);
        let is_kept = || row.keeps_zeros.is_some_and(|keeps| keeps.of.iter().any(|of| is_zero(*of)));
        // A truth value that is not known selects one of two zeros.
        let is_selected = || self == Self::SELECTION && is_zero(2) && (is_zero(0) || is_zero(1));
        let of_zeros = || zeros.iter().all(|zero| *zero) && self.maps_zeros_to_zero(zeros.len());
        is_kept() || is_selected() || self.is_masked_zero(zeros) || of_zeros()
    }

    /// The signs of zeros count: `atan2(0, -0)` is π.
    fn maps_zeros_to_zero(self, count: usize) -> bool {
        let row = self.row();
        match row.takes {
            Takes::Numbers | Takes::Floats | Takes::All => {
                of_every_sign(count, &|zeros| (row.float)(zeros) == 0.0)
            }
            Takes::Integers | Takes::Truths | Takes::Bits => (row.integer)(&vec![0; count]) == 0,
        }
    }

    /// Whether the result is 0 for both values of a mask, where the other operands are 0.
    fn is_masked_zero(self, zeros: &[bool]) -> bool {
        let row = self.row();
        let Some(mask) = row.mask else { return false };
        let others = zeros.iter().enumerate().all(|(position, zero)| position == mask || *zero);
        let is_zero = |operands: &[f64]| {
            let mut above = operands.to_vec();
            above[mask] = 1.0;
            [operands, &above].into_iter().all(|operands| (row.float)(operands) == 0.0)
        };
        others && of_every_sign(zeros.len(), &is_zero)
    }

    /// Whether most results are expected to be 0 if most of the marked operands are: as [`Self::is_zero_at`], for
    /// operands that are finite and masks that are 0. A comparison for equality is expected to fail for most elements.
    pub fn is_mostly_zero(self, zeros: &[bool]) -> bool {
        let is_masked = self.row().mask.is_some_and(|mask| zeros.get(mask) == Some(&true));
        let exact = self.keeping_zeros().unwrap_or(self);
        matches!(self, Self::Eq | Self::Same) || is_masked || exact.is_zero_at(zeros)
    }
}

/// Whether a condition holds for zeros of every combination of signs.
fn of_every_sign(count: usize, holds: &dyn Fn(&[f64]) -> bool) -> bool {
    (0..1_usize << count).all(|signs| {
        let zeros = (0..count).map(|operand| if signs >> operand & 1 == 1 { -0.0 } else { 0.0 });
        holds(&zeros.collect::<Vec<f64>>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the reference gives 0 for zeros of both signs and for any other operands.
    fn is_zero(map: Map, zeros: &[bool]) -> bool {
        const OTHERS: [f64; 7] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, -2.5, 0.0, -0.0];

        (0..OTHERS.len().pow(zeros.len() as u32)).all(|case| {
            let value = |(position, zero): (usize, &bool)| {
                let choice = case / OTHERS.len().pow(position as u32) % OTHERS.len();
                if *zero { [0.0, -0.0][choice % 2] } else { OTHERS[choice] }
            };
            let operands: Vec<f64> = zeros.iter().enumerate().map(value).collect();
            (map.row().float)(&operands) == 0.0
        })
    }

    #[test]
    fn zeros_that_follow_are_zeros_of_the_reference() {
        let takes_floats =
            |map: &&Map| matches!(map.row().takes, Takes::Numbers | Takes::Floats | Takes::All);
        for map in Map::ALL.iter().filter(takes_floats) {
            let arity = map.row().arity();
            for marks in 0..1 << arity {
                let zeros: Vec<bool> = (0..arity).map(|operand| marks >> operand & 1 == 1).collect();
                assert!(!map.is_zero_at(&zeros) || is_zero(*map, &zeros), "{map:?} of {zeros:?}");
            }
        }
    }

    #[test]
    fn products_keep_zeros_if_they_are_made_to() {
        assert!(Map::MulKeepZero.is_zero_at(&[true, false]) && Map::MulKeepZero.is_zero_at(&[false, true]));
        assert!(!Map::Mul.is_zero_at(&[true, false]) && Map::Mul.is_mostly_zero(&[true, false]));
        assert!(Map::Where.is_zero_at(&[true, false, true]) && !Map::Where.is_zero_at(&[true, true, false]));
        assert!(Map::ReluGrad.is_zero_at(&[true, false]) && !Map::Exp.is_zero_at(&[true]));
    }
}
