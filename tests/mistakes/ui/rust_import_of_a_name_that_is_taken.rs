#![allow(unused_imports)]

mod model {
    mind::mind! {
        pub fn model(x: f32[3]) -> f32[3] { x }
    }
}

use model::model;

fn main() {}
