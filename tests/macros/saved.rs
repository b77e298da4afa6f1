//! Structs of `mind!` and states of their optimisers, in files.

use mind::files::{Archive, Names, npz, safetensors};
use mind::optim::Adam;
use mind::{Parameters, Xoshiro256, mind};

mind! {
    #[derive(Clone, Debug, PartialEq)]
    struct Network {
        w1: f32[64, 256],
        b1: f32[256],
        w2: f32[256, 10],
        b2: f32[10],
    }

    /// A training run with the state of its optimiser.
    #[derive(Clone, Debug, PartialEq)]
    struct Run { net: Network, state: optim::Adam<Network>, epoch: i64, rate: f64, warm: bool }
}

fn network(seed: u64) -> Network {
    Network::he_uniform(&mut Xoshiro256::new(seed))
}

/// A run in which all parts differ.
fn run() -> Run {
    let mut state = Adam::zeros_like(&network(1));
    (state.mean, state.square, state.steps) = (network(2), network(3), i64::MAX);
    Run { net: network(4), state, epoch: -1, rate: 0.1, warm: true }
}

fn empty() -> Run {
    let net = Network::zeros();
    Run { state: Adam::zeros_like(&net), net, epoch: 0, rate: 0.0, warm: false }
}

#[test]
fn a_run_is_saved_and_loaded_to_the_bit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.safetensors");
    safetensors::save(&path, &run()).expect("it is written");
    let mut loaded = empty();
    safetensors::load(&path, &mut loaded).expect("it is whole");
    assert_eq!(loaded, run());
    let file = safetensors::File::open(&path).expect("it is there");
    let mut names: Vec<_> = run().parameters().into_iter().map(|part| part.name.to_string()).collect();
    names.sort_unstable();
    assert_eq!(file.arrays().keys().cloned().collect::<Vec<_>>(), names);
    assert_eq!(file.arrays()["state.mean.w1"].to_string(), "f32[64, 256]");
    assert_eq!(file.arrays()["epoch"].to_string(), "i64[]");
}

#[test]
fn a_run_is_saved_and_loaded_as_an_archive_of_numpy() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.npz");
    let names = || Names::by(|name| name.replace('.', "/"));
    npz::save_as(&path, &run(), &names()).expect("it is written");
    let mut loaded = empty();
    npz::load_as(&path, &mut loaded, &names()).expect("it is whole");
    assert_eq!(loaded, run());
    let mut file = npz::File::open(&path).expect("it is there");
    let b2 = file.tensor::<f32, (usize,)>("net/b2").expect("it is there");
    assert_eq!(b2.as_slice(), run().net.b2.as_slice());
}

#[test]
fn names_are_mapped_both_ways() {
    let names = || Names::pairs([("fc1.weight", "w1"), ("fc1.bias", "b1")]);
    let bytes = safetensors::to_bytes(&network(5), &names()).expect("the names are other ones");
    let mut loaded = Network::zeros();
    safetensors::from_bytes(&bytes, &mut loaded, &names()).expect("the names are the same");
    assert_eq!(loaded, network(5));
    let error = safetensors::from_bytes(&bytes, &mut loaded, &Names::same()).expect_err("they are not");
    assert_eq!(
        error.to_string(),
        "the arrays do not match the parameters, 4 differences:\n  `w1` f32[64, 256] is missing\n  `b1` f32[256] is missing\n  \
         `fc1.bias` f32[256] is unexpected\n  `fc1.weight` f32[64, 256] is unexpected"
    );
}

mod nets {
    mind::mind! {
        /// The arrays in `mind-files/tests/data/arrays.safetensors`.
        #[derive(Debug, PartialEq)]
        pub struct Arrays {
            pub w: f32[2, 3],
            pub columns: f32[2, 3],
            pub big: f64[2, 3],
            pub count: i64,
            pub ids: i32[2],
            pub mask: bool[3],
        }

        #[derive(Debug, PartialEq)]
        pub struct Table<R, C> { pub rows: f32[R, C] }

        pub struct Columns { pub columns: f32[2, 3] }

        pub struct Pair { pub first: Table<2, 3>, pub second: Columns }

        pub struct Wanted { pub columns: f32[2, 3] }
    }
}

/// The same arrays, read from the file at run time.
fn arrays() -> nets::Arrays {
    let mut arrays = nets::Arrays::zeros();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../mind-files/tests/data/arrays.safetensors");
    safetensors::load(path, &mut arrays).expect("it is whole");
    arrays
}

#[test]
fn weights_are_those_of_the_file() {
    let found = mind::weights!("../../mind-files/tests/data/arrays.safetensors", nets::Arrays);
    assert_eq!(found, arrays());
    assert_eq!(found.w.as_slice(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    assert_eq!(found.count, -7);
}

#[test]
fn weights_have_dimensions_other_names_and_structs_in_structs() {
    use nets::{Columns, Pair};
    let table = mind::weights!(
        "../../mind-files/tests/data/arrays.safetensors",
        nets::Table<2, 3>,
        names = [("w", "rows")],
        allow_unexpected,
    );
    assert_eq!(table.rows, arrays().w);
    let pair = mind::weights!(
        "../../mind-files/tests/data/arrays.safetensors",
        Pair,
        names = [("w", "first.rows"), ("columns", "second.columns")],
        allow_unexpected
    );
    let Columns { columns } = pair.second;
    assert_eq!((pair.first.rows, columns), (arrays().w, arrays().columns));
}

#[test]
fn weights_are_of_what_optimisers_remember_too() {
    use nets::Wanted;
    // The velocity is an array of the file.
    let state = mind::weights!(
        "../../mind-files/tests/data/arrays.safetensors",
        optim::Momentum<Wanted>,
        names = [("columns", "velocity.columns")],
        allow_unexpected
    );
    assert_eq!(state.velocity.columns, arrays().columns);
}
