mod layers {
    mind::include!("files/types.mind");

    pub fn callers_compile(x: &mind::Tensor![f32; 2]) -> mind::Tensor![f32; 2] {
        other(x)
    }
}

fn main() {}
