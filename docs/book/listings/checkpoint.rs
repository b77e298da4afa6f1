use mind::files::{Archive, Names, safetensors};
use mind::{Xoshiro256, mind, optim::Adam};
use std::{error::Error, fs};

mind! {
    #[derive(Clone, Debug, PartialEq)]
    struct Net { w: f32[3, 2], b: f32[2] }

    /// The state from which training continues.
    #[derive(Clone, Debug, PartialEq)]
    struct Run { net: Net, state: optim::Adam<Net>, epoch: i64 }
}

fn start(net: Net) -> Run {
    Run { state: Adam::zeros_like(&net), net, epoch: 0 }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("checkpoint-{}.safetensors", std::process::id()));
    let run = Run { epoch: 3, ..start(Net::he_normal(&mut Xoshiro256::new(1))) };
    safetensors::save(&path, &run)?;

    let mut loaded = start(Net::zeros());
    safetensors::load(&path, &mut loaded)?;
    println!("the same: {}", loaded == run);
    for (name, layout) in safetensors::File::open(&path)?.arrays() {
        println!("{name}: {layout}");
    }

    // Weights under other names, in a file with further arrays. The error lists every mismatch.
    let names = Names::pairs([("net.w", "w"), ("net.bias", "b")]).allow_unexpected();
    if let Err(error) = safetensors::load_as(&path, &mut Net::zeros(), &names) {
        println!("{}", error.fault);
    }
    fs::remove_file(&path)?;
    Ok(())
}
