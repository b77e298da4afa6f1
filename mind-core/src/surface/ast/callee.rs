//! What a function, struct or constant is named by: its name or its path.

use std::fmt;

use proc_macro2::Ident;

use crate::diag::Site;

/// What a call, a type or a constant names: `f`, `nn::softmax`, `crate::layers::Dense`.
#[derive(Clone, Debug)]
pub struct Callee {
    /// What stands before the name, outermost first.
    pub path: Vec<Ident>,
    /// The last segment.
    pub name: Ident,
    /// Whether it is a function of the library, whose file the path is.
    pub of_library: bool,
    /// Whether it stands in the text of the library, whose functions may call its private ones.
    pub in_library: bool,
}

impl Callee {
    /// Whether it is a name by itself.
    pub fn is_name(&self) -> bool {
        self.path.is_empty()
    }

    /// Its tokens.
    pub fn site(&self) -> Site {
        let first = self.path.first().unwrap_or(&self.name);
        Site::token(first.span()).to(Site::token(self.name.span()))
    }
}

impl From<Ident> for Callee {
    fn from(name: Ident) -> Self {
        Self { path: Vec::new(), name, of_library: false, in_library: false }
    }
}

/// As it is written, without spaces.
impl fmt::Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.iter().try_for_each(|segment| write!(f, "{segment}::"))?;
        self.name.fmt(f)
    }
}
