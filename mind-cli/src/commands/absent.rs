//! Messages about parts of the command that this build does not have.

use crate::report::Failure;

/// The failure that a part of the command is absent, with the command that installs it.
pub fn failure(part: &str, feature: &str) -> Failure {
    Failure::with_help(
        format!("`{part}` is not in this build of `mind`, which lacks the feature `{feature}`"),
        format!("in the checkout: cargo install --path mind-cli --features {feature}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_wrong_use_with_the_command_that_installs_it() {
        let Failure::Usage { message, help } = failure("mind run --on xla", "xla") else {
            panic!("it is told as something else than wrong use");
        };
        assert_eq!(
            message,
            "`mind run --on xla` is not in this build of `mind`, which lacks the feature `xla`"
        );
        assert_eq!(help.as_deref(), Some("in the checkout: cargo install --path mind-cli --features xla"));
    }

    /// The features in the messages must exist.
    #[test]
    fn each_feature_that_is_named_is_one_of_the_package() {
        let manifest = include_str!("../../Cargo.toml");
        let (_, features) = manifest.split_once("[features]\n").expect("the package has features");
        for feature in ["bench", "png", "xla"] {
            assert!(features.contains(&format!("\n{feature} = [")), "{feature} is no feature");
        }
    }
}
