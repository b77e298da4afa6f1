use mind::{Tensor, mind};

mod model {
    // The export of a struct by a version of the library that did not yet write its version there.
    macro_rules! net {
        (@then $($tokens:tt)*) => { $($tokens)* };
        ([[$($next:tt)*] $($more:tt)*] $($rest:tt)*) => { $($next)* ! { [$($more)*] $($rest)* (Net h2) } };
    }
    pub(crate) use net as Net;
    pub struct Net {
        pub w: f32,
    }
}

mind! {
    use model::Net;

    pub fn scaled<N>(x: f32[N], net: Net) -> f32[N] { net.w * x }
}

fn main() {
    scaled(&Tensor::from([1.0]), &model::Net { w: 1.0 });
}
