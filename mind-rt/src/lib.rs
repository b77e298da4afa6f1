//! The run time of the mind tensor language.
