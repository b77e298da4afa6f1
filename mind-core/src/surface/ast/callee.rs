//! The name or path by which a function, struct or constant is used.

use std::fmt;

use proc_macro2::Ident;

use crate::diag::Site;

/// The name or path of a function, type or constant: `f`, `nn::softmax`, `crate::layers::Dense`.
#[derive(Clone, Debug)]
pub struct Callee {
    /// The segments before the name, outermost first.
    pub path: Vec<Ident>,
    /// The last segment.
    pub name: Ident,
    /// Whether it is a function of the library; its path is then the library file.
    pub of_library: bool,
    /// Whether it occurs in the source text of the library, where private functions of the library may be called.
    pub in_library: bool,
}

impl Callee {
    /// Whether it is a name without a path.
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

/// As written, without spaces.
impl fmt::Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.iter().try_for_each(|segment| write!(f, "{segment}::"))?;
        self.name.fmt(f)
    }
}
