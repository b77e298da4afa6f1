use mind::{angle, mind};

fn main() {
    angle! {
        let _f = mind!< |x: f32[2]| x + >;
    }
}
