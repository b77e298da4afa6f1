//! Parses values on the command line: `0.5`, `true`, `[1, 2, 3]`, `[[1, 0], [0, 1]]`.

use std::str::FromStr;

use mind_core::{
    diag::Code,
    interp::{Array, Elements},
    memory::Budget,
    ty::{DType, Type},
};
use mind_shape::match_dtype;

use crate::{
    commands::with_help,
    report::{Failure, Mistake, Outcome},
};

/// The number or truth value of an input of rank 0.
pub fn number(name: &str, dtype: DType, text: &str) -> Outcome<Array> {
    Ok(Array::new([], elements(name, dtype, &[text])?))
}

/// The tensor of nested lists. Its memory is taken from a budget.
pub fn tensor(name: &str, ty: &Type, text: &str, budget: &mut Budget) -> Outcome<Array> {
    let refused = |code, why: String| Failure::mistake(Mistake::new(code, format!("input `{name}` {why}")));
    let mut lists = Lists { rest: text, extents: vec![None; ty.rank()], numbers: Vec::new() };
    lists.read(0, ty).and_then(|()| lists.end()).map_err(|(code, why)| refused(code, why))?;
    budget.take((lists.numbers.len() * ty.dtype.bytes()) as u64).map_err(|error| {
        Failure::mistake(with_help(Mistake::new(Code::E6004, format!("input `{name}`: {error}"))))
    })?;
    let shape: Vec<usize> = lists.extents.iter().map(|extent| extent.unwrap_or(0)).collect();
    Ok(Array::new(shape, elements(name, ty.dtype, &lists.numbers)?))
}

/// A parser of nested lists: the text left to read, and the contents so far.
struct Lists<'a> {
    rest: &'a str,
    /// The extent of each axis, known after the first list along the axis has ended.
    extents: Vec<Option<usize>>,
    numbers: Vec<&'a str>,
}

impl Lists<'_> {
    /// Reads a list along `axis`, or a number after the last axis.
    fn read(&mut self, axis: usize, ty: &Type) -> Result<(), (Code, String)> {
        let is_list = self.take('[');
        match (is_list, axis < self.extents.len()) {
            (true, true) => self.list(axis, ty),
            (true, false) if axis == 0 => Err((Code::E2001, format!("is a list, needed {ty}"))),
            (true, false) => Err((Code::E2001, format!("has a list in place of a number, needed {ty}"))),
            (false, true) => Err((Code::E2001, format!("has a number in place of a list, needed {ty}"))),
            (false, false) => self.number(),
        }
    }

    fn list(&mut self, axis: usize, ty: &Type) -> Result<(), (Code, String)> {
        let mut count = 0;
        while !self.take(']') {
            self.read(axis + 1, ty)?;
            count += 1;
            if !self.take(',') && !self.rest.trim_start().starts_with(']') {
                return Err(self.needed("`,` or `]`"));
            }
        }
        match self.extents[axis].replace(count) {
            Some(first) if first != count => {
                let why = format!("has lists of {first} and {count} along axis {axis}, needed {ty}");
                Err((Code::E3010, why))
            }
            _ => Ok(()),
        }
    }

    fn number(&mut self) -> Result<(), (Code, String)> {
        let text = self.rest.trim_start();
        let end = text.find([',', '[', ']']).unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        if number.trim_end().is_empty() {
            return Err(self.needed("a number"));
        }
        self.numbers.push(number.trim_end());
        self.rest = rest;
        Ok(())
    }

    fn end(&self) -> Result<(), (Code, String)> {
        if self.rest.trim_start().is_empty() { Ok(()) } else { Err(self.needed("the end")) }
    }

    fn take(&mut self, mark: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn needed(&self, what: &str) -> (Code, String) {
        let found = self.rest.trim_start().chars().next();
        let found = found.map_or("the end".to_owned(), |found| format!("`{}`", found.escape_debug()));
        (Code::E1007, format!("has {found}, expected {what}"))
    }
}

fn elements(name: &str, dtype: DType, texts: &[&str]) -> Outcome<Elements> {
    let elements = match_dtype!(dtype, T => parsed::<T>(texts).map(Into::into));
    elements.map_err(|text| {
        let needed = match dtype {
            DType::Bool => "`true` or `false`".to_owned(),
            dtype => format!("a number of type {dtype}"),
        };
        let what = if texts.len() == 1 { "is" } else { "has" };
        let message = format!("input `{name}` {what} {text}, needed {needed}");
        Failure::mistake(Mistake::new(Code::E1005, message))
    })
}

/// The elements, or the first text that is not an element.
fn parsed<'a, T: FromStr>(texts: &[&'a str]) -> Result<Vec<T>, &'a str> {
    texts.iter().map(|text| text.parse().map_err(|_| *text)).collect()
}
