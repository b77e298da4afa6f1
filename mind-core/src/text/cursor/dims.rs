//! Reads extents in texts.

use super::{Cursor, ReadResult, Spaces};
use crate::{
    diag::Code,
    dim::{Dim, Overflow},
};

/// Reads an expression of extents: `N`, `2*N+1`, `(H-3)/2+1`, where `/` rounds down.
///
/// It is iterative, and limits the operations and terms, so that no text takes long to read.
pub(in crate::text) fn dim(cursor: &mut Cursor<'_>, spaced: Spaces) -> ReadResult<Dim> {
    // The common case: an integer.
    let start = cursor.position();
    let (value, digits) = cursor.decimal();
    if matches!(digits, 1..=18) && matches!(cursor.peek(), b',' | b']' | b':') {
        return Ok(Dim::literal(value.cast_signed()));
    }
    cursor.rewind(start);
    let (dim, end) = computed(*cursor, spaced)?;
    cursor.rewind(end);
    Ok(dim)
}

/// Reads an expression of extents. Returns it and the position of its end.
#[inline(never)]
fn computed(mut cursor: Cursor<'_>, spaced: Spaces) -> ReadResult<(Dim, usize)> {
    let start = cursor.position();
    let reader = DimReader { levels: Vec::new(), level: DimSum::default(), operations: 0, start };
    Ok((reader.read(&mut cursor, spaced)?, cursor.position()))
}

/// The maximum number of operators in one dimension. No dimension is printed with more.
const MAX_DIM_OPERATORS: usize = 2 * Dim::LEEWAY * Dim::MAX_SIZE;

struct DimReader {
    /// The unfinished sums outside the open parentheses.
    levels: Vec<DimSum>,
    level: DimSum,
    operations: usize,
    start: usize,
}

/// The sum read so far, and the product to be added to it.
#[derive(Default)]
struct DimSum {
    addends: Vec<Dim>,
    product: Option<Dim>,
    negative: bool,
}

impl DimReader {
    fn read(mut self, cursor: &mut Cursor<'_>, spaced: Spaces) -> ReadResult<Dim> {
        self.level.negative = cursor.eat(b'-');
        loop {
            spaced.skip(cursor);
            if cursor.eat(b'(') {
                self.count(cursor)?;
                self.levels.push(std::mem::take(&mut self.level));
                spaced.skip(cursor);
                self.level.negative = cursor.eat(b'-');
                continue;
            }
            let factor = self.factor(cursor)?;
            self.multiply(cursor, factor)?;
            // Operators and closing parentheses between two factors.
            loop {
                let end = *cursor;
                spaced.skip(cursor);
                match cursor.peek() {
                    b'*' => {
                        self.count(cursor)?;
                        cursor.advance(1);
                        break;
                    }
                    b'/' => {
                        self.count(cursor)?;
                        cursor.advance(1);
                        spaced.skip(cursor);
                        self.divide(cursor)?;
                    }
                    sign @ (b'+' | b'-') => {
                        self.count(cursor)?;
                        cursor.advance(1);
                        self.add(cursor)?;
                        self.level.negative = sign == b'-';
                        break;
                    }
                    b')' if !self.levels.is_empty() => {
                        cursor.advance(1);
                        self.add(cursor)?;
                        let inner = self.fits(cursor, Dim::sum_of(&self.level.addends))?;
                        self.level = self.levels.pop().unwrap_or_default();
                        self.multiply(cursor, inner)?;
                    }
                    _ if !self.levels.is_empty() => return cursor.unexpected("`)` or an operator"),
                    _ => {
                        *cursor = end;
                        self.add(cursor)?;
                        return self.fits(cursor, Dim::sum_of(&self.level.addends));
                    }
                }
            }
        }
    }

    fn factor(&mut self, cursor: &mut Cursor<'_>) -> ReadResult<Dim> {
        let expected = "a dimension: an integer, a symbol or an expression";
        if !cursor.peek().is_ascii_digit() {
            return cursor.identifier(expected).map(Dim::symbol);
        }
        let start = cursor.position();
        let magnitude = cursor.digits(expected)?;
        if let Ok(value) = i64::try_from(magnitude) {
            return Ok(Dim::literal(value));
        }
        // The least integer has no positive counterpart, so its sign is applied here.
        if magnitude == i64::MIN.unsigned_abs() && self.level.negative && self.level.product.is_none() {
            self.level.negative = false;
            return Ok(Dim::literal(i64::MIN));
        }
        cursor.fault_at(start, Code::E1005, format!("{magnitude} exceeds 64 bits"))
    }

    fn count(&mut self, cursor: &Cursor<'_>) -> ReadResult<()> {
        self.operations += 1;
        if self.operations > MAX_DIM_OPERATORS {
            let message = format!("a dimension has more operators than the limit of {MAX_DIM_OPERATORS}");
            return cursor.fault_at(self.start, Code::E1008, message);
        }
        Ok(())
    }

    fn fits(&self, cursor: &Cursor<'_>, dim: Result<Dim, Overflow>) -> ReadResult<Dim> {
        match dim {
            Ok(dim) => Ok(dim),
            Err(overflow) => cursor.fault_at(self.start, Code::E1008, overflow.to_string()),
        }
    }

    fn multiply(&mut self, cursor: &Cursor<'_>, factor: Dim) -> ReadResult<()> {
        self.level.product = Some(match &self.level.product {
            None => factor,
            Some(product) => self.fits(cursor, product.mul(&factor))?,
        });
        Ok(())
    }

    fn divide(&mut self, cursor: &mut Cursor<'_>) -> ReadResult<()> {
        let start = cursor.position();
        let divisor = cursor.digits("a positive integer to divide by")?;
        let Some(divisor) = i64::try_from(divisor).ok().filter(|divisor| *divisor > 0) else {
            return cursor.fault_at(start, Code::E1005, format!("divided by {divisor}, needed at least 1"));
        };
        let product = self.level.product.take().unwrap_or(Dim::ONE);
        self.level.product = Some(self.fits(cursor, product.floor_div(divisor))?);
        Ok(())
    }

    /// Adds the product to the sum.
    fn add(&mut self, cursor: &Cursor<'_>) -> ReadResult<()> {
        let mut product = self.level.product.take().unwrap_or(Dim::ZERO);
        if std::mem::take(&mut self.level.negative) {
            product = self.fits(cursor, product.mul(&Dim::literal(-1)))?;
        }
        self.level.addends.push(product);
        Ok(())
    }
}
