//! The programs of the book: `cargo run -p mind-book -- NAME` runs one.
//!
//! Each is a complete program in its own file, which the book includes. The programs are modules of one crate, so that
//! they are compiled and linked once. They therefore name their own items by `self` and `super`, not by `crate`.

use std::process::ExitCode;

macro_rules! programs {
    ($($name:ident)*) => {
        $(
            mod $name {
                include!(concat!(stringify!($name), ".rs"));

                /// `main` is private, as in any program.
                pub fn run() -> std::process::ExitCode {
                    std::process::Termination::report(main())
                }
            }
        )*

        fn main() -> ExitCode {
            match std::env::args().nth(1).as_deref() {
                $(Some(stringify!($name)) => $name::run(),)*
                Some("--list") => {
                    print!(concat!($(stringify!($name), "\n"),*));
                    ExitCode::SUCCESS
                }
                other => {
                    eprintln!("no program {other:?}; `--list` lists them");
                    ExitCode::from(2)
                }
            }
        }
    };
}

programs! {
    xor
    variables
    modules
    angle
    dynamic
    tensors
    transforms
    parts
    broadcast
    gradients
    masked_gradient
    second
    straight_through
    adam
    batches
    loops
    layers
    checkpointed_functions
    checkpoints
    conditions
    knossos
    library
    systems
    spectra
    from_numpy
    from_jax
    from_torch
    in_ndarray
    from_ndarray
    from_candle
    masks
    pooling
    one_hot
    checkpoint
    dropout
    random
    inside
}
