//! The names of parameters in a file.

use std::fmt;

/// The names of parameters in a file, and whether a file may contain other arrays.
///
/// A parameter that a list does not contain has the same name in the file.
///
/// ```
/// use mind_files::Names;
///
/// let names = Names::pairs([("fc1.weight", "w1"), ("fc1.bias", "b1")]);
/// assert_eq!(names.in_file("w1"), "fc1.weight");
/// assert_eq!(names.in_file("w2"), "w2");
/// let names = Names::by(|name| format!("encoder.{name}")).allow_unexpected();
/// assert_eq!(names.in_file("first.w"), "encoder.first.w");
/// ```
pub struct Names<'a> {
    mapping: Mapping<'a>,
    may_have_more: bool,
}

enum Mapping<'a> {
    /// Pairs of the name in the file and the name of the parameter.
    Pairs(Vec<(String, String)>),
    By(Box<dyn Fn(&str) -> String + 'a>),
}

impl<'a> Names<'a> {
    /// Parameters have the same names in the file.
    #[must_use]
    pub const fn same() -> Self {
        Self { mapping: Mapping::Pairs(Vec::new()), may_have_more: false }
    }

    /// Names from a list. Each pair is the name in the file, then the name of the parameter.
    #[must_use]
    pub fn pairs<F: Into<String>, P: Into<String>>(pairs: impl IntoIterator<Item = (F, P)>) -> Self {
        let pairs = pairs.into_iter().map(|(file, parameter)| (file.into(), parameter.into()));
        Self { mapping: Mapping::Pairs(pairs.collect()), may_have_more: false }
    }

    /// Names in the file that a function computes from the names of parameters.
    #[must_use]
    pub fn by(in_file: impl Fn(&str) -> String + 'a) -> Self {
        Self { mapping: Mapping::By(Box::new(in_file)), may_have_more: false }
    }

    /// The same names, for a file that may contain other arrays. Those are not read.
    #[must_use]
    pub fn allow_unexpected(self) -> Self {
        Self { may_have_more: true, ..self }
    }

    /// The name of a parameter in the file.
    #[must_use]
    pub fn in_file(&self, parameter: &str) -> String {
        match &self.mapping {
            Mapping::Pairs(pairs) => {
                let pair = pairs.iter().find(|(_, ours)| ours == parameter);
                pair.map_or(parameter, |(file, _)| file).to_owned()
            }
            Mapping::By(in_file) => in_file(parameter),
        }
    }

    /// Whether a file may contain other arrays.
    pub(crate) const fn may_have_more(&self) -> bool {
        self.may_have_more
    }

    /// The pairs of a list. Empty for other names.
    pub(crate) fn listed(&self) -> &[(String, String)] {
        match &self.mapping {
            Mapping::Pairs(pairs) => pairs,
            Mapping::By(_) => &[],
        }
    }
}

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = f.debug_struct("Names");
        match &self.mapping {
            Mapping::Pairs(pairs) => names.field("pairs", pairs),
            Mapping::By(_) => names.field("by", &"a function"),
        };
        names.field("may_have_more", &self.may_have_more).finish()
    }
}
