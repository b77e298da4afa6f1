use mind::{angle, mind};

angle! {
    fn callers_compile() {
        let _f = mind!< |x: f32[2, 3], w: f32[2, 4]| relu(x @ w) >;
    }
}

fn main() {
    callers_compile();
}
