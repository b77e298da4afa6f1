//! The text of an `einsum`: its terms, its output, and the indices of both.

use std::{collections::BTreeMap, ops::Range};

use crate::{diag::Code, ty::MAX_RANK};

/// A mistake in the text, or in how it fits the operands.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    /// The bytes of the text that the message is about.
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Fault {
    fn new(code: Code, at: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, at, message: message.into(), help: None }
    }

    fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// An index of an einsum: a letter, or an axis of `...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Index(u8);

/// The number of letters. The indices after them are axes of `...`.
const LETTERS: u8 = 52;

impl Index {
    fn letter(letter: char) -> Option<Self> {
        match letter {
            'A'..='Z' => Some(Self(letter as u8 - b'A')),
            'a'..='z' => Some(Self(letter as u8 - b'a' + LETTERS / 2)),
            _ => None,
        }
    }

    /// The axis of `...` that has this number of axes after it. Axes with the same number are aligned.
    fn leading(behind: usize) -> Self {
        Self(LETTERS + u8::try_from(behind).expect("a rank is small"))
    }

    /// The letter, or `...`.
    pub(crate) fn name(self) -> String {
        match self.0 {
            letter @ 0..26 => char::from(b'A' + letter).to_string(),
            letter @ 26..LETTERS => char::from(b'a' + letter - LETTERS / 2).to_string(),
            _ => "...".to_owned(),
        }
    }

    /// Whether it is an axis of `...`.
    pub(crate) fn is_of_ellipsis(self) -> bool {
        self.0 >= LETTERS
    }

    /// The index in messages.
    pub(crate) fn text(self) -> String {
        match self.0 {
            ..LETTERS => format!("index `{}`", self.name()),
            axis => format!("axis {} of `...`", i64::from(LETTERS) - i64::from(axis) - 1),
        }
    }
}

/// A set of indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Indices(u64);

impl Indices {
    pub(crate) fn contains(self, index: Index) -> bool {
        self.0 >> index.0 & 1 == 1
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Index> {
        (0..64).map(Index).filter(move |index| self.contains(*index))
    }
}

impl FromIterator<Index> for Indices {
    fn from_iter<T: IntoIterator<Item = Index>>(indices: T) -> Self {
        Self(indices.into_iter().fold(0, |set, index| set | 1 << index.0))
    }
}

/// The indices of one operand or of the output, as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// The letters, each with its place in the text.
    letters: Vec<(Index, usize)>,
    /// The number of letters before `...`, if the term has it.
    ellipsis: Option<usize>,
    /// The bytes of the text.
    pub(crate) at: Range<usize>,
}

impl Term {
    /// The number of letters.
    pub(crate) fn letters(&self) -> usize {
        self.letters.len()
    }

    /// Whether the term has `...`.
    pub(crate) fn is_open(&self) -> bool {
        self.ellipsis.is_some()
    }

    /// The number of letters before `...` and of those after it. `None` if the term does not have it.
    pub(crate) fn around_ellipsis(&self) -> Option<[usize; 2]> {
        self.ellipsis.map(|before| [before, self.letters.len() - before])
    }

    /// The number of axes of `...` in a tensor of this rank. `None` if the term does not fit it.
    pub(crate) fn axes_of_ellipsis(&self, rank: usize) -> Option<usize> {
        let axes = rank.checked_sub(self.letters.len())?;
        (axes == 0 || self.is_open()).then_some(axes)
    }

    /// The place in the text of the axis of a tensor.
    pub(crate) fn place(&self, axis: usize, rank: usize) -> Range<usize> {
        let axes = rank - self.letters.len();
        let before = self.ellipsis.unwrap_or(self.letters.len());
        let letter = match axis {
            _ if axis < before => self.letters[axis].1,
            _ if axis < before + axes => return self.at.clone(),
            _ => self.letters[axis - axes].1,
        };
        letter..letter + 1
    }

    /// The index of each axis, where `...` is this number of axes.
    fn indices(&self, axes: usize) -> Vec<Index> {
        let letters = || self.letters.iter().map(|(index, _)| *index);
        let before = self.ellipsis.unwrap_or(self.letters.len());
        let leading = (0..axes).rev().map(Index::leading);
        letters().take(before).chain(leading).chain(letters().skip(before)).collect()
    }
}

/// The text of an einsum, read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Equation {
    /// The term of each operand.
    pub(crate) terms: Vec<Term>,
    /// The term of the output. If there is none, NumPy's rule decides.
    output: Option<Term>,
    /// The number of bytes of the text.
    length: usize,
}

/// The index of each axis of the operands and of the output.
#[derive(Debug, PartialEq)]
pub(crate) struct Indexed {
    pub(crate) operands: Vec<Vec<Index>>,
    pub(crate) output: Vec<Index>,
}

impl Equation {
    /// Reads `"ij,jk->ik"`.
    ///
    /// # Errors
    /// The first part of the text that the grammar does not allow.
    pub(crate) fn read(text: &str) -> Result<Self, Fault> {
        let term = |start| Term { letters: Vec::new(), ellipsis: None, at: start..start };
        let (mut terms, mut output) = (Vec::new(), None);
        let (mut current, mut at) = (term(0), 0);
        while let Some(letter) = text[at..].chars().next() {
            let length = match letter {
                '.' if text[at..].starts_with("...") => 3,
                '-' if text[at..].starts_with("->") => 2,
                _ => letter.len_utf8(),
            };
            let place = at..at + length;
            at = place.end;
            let found = |what: &str| {
                Fault::new(
                    Code::E1007,
                    place.clone(),
                    format!("found `{}`, expected {what}", &text[place.clone()]),
                )
            };
            match (letter, Index::letter(letter)) {
                (_, Some(index)) => current.letters.push((index, place.start)),
                (' ', None) => continue,
                (',', None) if output.is_some() => return Err(found("letters: there is one output")),
                (',', None) => {
                    terms.push(std::mem::replace(&mut current, term(at)));
                    continue;
                }
                ('.', None) if length == 3 && current.is_open() => {
                    return Err(found("letters: a term has at most one `...`").help("remove it"));
                }
                ('.', None) if length == 3 => current.ellipsis = Some(current.letters.len()),
                ('.', None) => return Err(found("letters or `...`").help("write three dots: `...`")),
                ('-', None) if length == 2 && output.is_some() => {
                    return Err(found("letters: there is one output"));
                }
                ('-', None) if length == 2 => {
                    terms.push(std::mem::replace(&mut current, term(at)));
                    output = Some(at);
                    continue;
                }
                _ => {
                    return Err(
                        found("letters, `...`, `,` or `->`").help("an index is a letter, such as `i`")
                    );
                }
            }
            current.at.end = at;
        }
        let output = match output {
            Some(_) => Some(current),
            None => {
                terms.push(current);
                None
            }
        };
        Ok(Self { terms, output, length: text.len() })
    }

    /// The indices of the operands, which have these numbers of axes in place of `...`, and of the output.
    ///
    /// # Errors
    /// An output that the operands do not have.
    pub(crate) fn indexed(&self, axes: &[usize]) -> Result<Indexed, Fault> {
        let operands: Vec<_> = self.terms.iter().zip(axes).map(|(term, axes)| term.indices(*axes)).collect();
        let most = axes.iter().copied().max().unwrap_or(0);
        let output = match &self.output {
            Some(output) => self.written(output, most, operands.iter().flatten().copied().collect())?,
            None => implicit(&operands, most),
        };
        Ok(Indexed { operands, output })
    }

    /// The indices of a written output.
    fn written(&self, output: &Term, axes: usize, known: Indices) -> Result<Vec<Index>, Fault> {
        for (position, (index, at)) in output.letters.iter().enumerate() {
            let fault = |code, problem: &str| {
                let message = format!("{} of the output {problem}", index.text());
                Fault::new(code, *at..at + 1, message)
            };
            if !known.contains(*index) {
                let fault = fault(Code::E2002, "is an index of no operand");
                return Err(fault.help("remove it, or name an axis of an operand so"));
            }
            if output.letters[..position].iter().any(|(other, _)| other == index) {
                return Err(
                    fault(Code::E2008, "occurs twice").help("remove it: an output names each axis once")
                );
            }
        }
        if axes > 0 && !output.is_open() {
            let at = if output.at.is_empty() {
                self.length.saturating_sub(2)..self.length
            } else {
                output.at.clone()
            };
            return Err(Fault::new(Code::E3002, at, "the output lacks `...`, which operands have")
                .help("write `...` in the output, or sum over the result"));
        }
        let indices = output.indices(axes);
        if indices.len() > MAX_RANK {
            let message = format!("the output has {} indices, at most {MAX_RANK} needed", indices.len());
            return Err(Fault::new(Code::E1008, output.at.clone(), message));
        }
        Ok(indices)
    }
}

/// The output if none is written: the axes of `...`, then the letters that occur once, in alphabetical order with
/// capital letters first.
fn implicit(operands: &[Vec<Index>], axes: usize) -> Vec<Index> {
    let mut counts: BTreeMap<Index, usize> = BTreeMap::new();
    operands.iter().flatten().for_each(|index| *counts.entry(*index).or_default() += 1);
    let once = counts.into_iter().filter(|(index, count)| index.0 < LETTERS && *count == 1);
    (0..axes).rev().map(Index::leading).chain(once.map(|(index, _)| index)).collect()
}
