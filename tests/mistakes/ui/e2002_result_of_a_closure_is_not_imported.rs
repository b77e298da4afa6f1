mod layers {
    mind::mind! {
        pub struct Dense { pub w: f32[2, 3] }
        pub fn dense(w: f32[2, 3]) -> Dense { Dense { w } }
    }
}

fn main() {
    let f = mind::mind!(use layers::dense; |w: f32[2, 3]| dense(w));
    f(&mind::Tensor::zeros());
}
