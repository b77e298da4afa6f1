//! Structs of `mind!`, and what optimisers remember of them, in files: with the features `safetensors` and `npy`.

use mind::files::{Names, safetensors};
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

    /// A run of training, with its optimiser.
    #[derive(Clone, Debug, PartialEq)]
    struct Run { net: Network, state: optim::Adam<Network>, epoch: i64, rate: f64, warm: bool }
}

fn network(seed: u64) -> Network {
    Network::he_uniform(&mut Xoshiro256::new(seed))
}

/// A run in which every element is another.
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
fn names_are_mapped_both_ways() {
    let names = || Names::pairs([("fc1.weight", "w1"), ("fc1.bias", "b1")]);
    let bytes = safetensors::to_bytes(&network(5), &names()).expect("the names are other ones");
    let mut loaded = Network::zeros();
    safetensors::from_bytes(&bytes, &mut loaded, &names()).expect("the names are the same");
    assert_eq!(loaded, network(5));
    let error = safetensors::from_bytes(&bytes, &mut loaded, &Names::same()).expect_err("they are not");
    assert_eq!(
        error.to_string(),
        "it does not fit, 4 differences:\n  `w1` f32[64, 256] is missing\n  `b1` f32[256] is missing\n  \
         `fc1.bias` f32[256] is unexpected\n  `fc1.weight` f32[64, 256] is unexpected"
    );
}
