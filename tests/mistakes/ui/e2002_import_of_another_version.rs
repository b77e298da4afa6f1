use mind::{Tensor, mind};

mod model {
    // The exports of a block that another version of the library expanded.
    pub mod layer {
        macro_rules! function {
            (@then $($tokens:tt)*) => { $($tokens)* };
            ([[$($next:tt)*] $($more:tt)*] $($rest:tt)*) => {
                $($next)* ! { [$($more)*] $($rest)* (layer h1 "1000.2.3" and more) }
            };
        }
        macro_rules! source {
            ([[$($next:tt)*] $($more:tt)*] $($rest:tt)*) => { $($next)* ! { [$($more)*] $($rest)* < 1 2 > } };
        }
        pub(crate) use {function as __mind_function, source as __mind_source};
    }
}

mind! {
    use model::layer;

    pub fn twice<N>(x: f32[N]) -> f32[N] { layer(layer(x)) }
}

fn main() {
    twice(&Tensor::from([1.0]));
}
