//! The error for Fourier transforms in a build without the feature `fft`, in which the run time has none.

use mind_core::{
    diag::{Code, Diag, Site},
    open,
    surface::lower::Function,
};

/// The error for the first transform of a function, if it may have none.
pub(crate) fn refused(function: &Function) -> Option<Diag> {
    let program = function.program.as_ref()?;
    let mut sites = program.module.insts().iter().zip(&program.sites);
    let (_, site) = sites.find(|(inst, _)| inst.op.has_transform())?;
    error(*site)
}

/// The same for an expression over Rust variables.
pub(crate) fn refused_in_expression(program: &open::Program) -> Option<Diag> {
    let node = program.nodes.iter().find(|node| node.op.is_transform())?;
    error(node.spot.as_ref().map_or(program.site, |spot| spot.site))
}

fn error(site: Site) -> Option<Diag> {
    let message = "Fourier transforms need the feature `fft` of mind-dsl";
    let help = "add `features = [\"fft\"]` to `mind-dsl` in Cargo.toml";
    (!cfg!(feature = "fft")).then(|| Diag::new(Code::E2002, site, message).help(help))
}
