mod layers {
    mind::mind! {
        pub struct Block { pub w: f32[3] }
    }
}

fn main() {
    let _ = mind::mind!(|p: layers::Block[3]| sum(p.w));
}
