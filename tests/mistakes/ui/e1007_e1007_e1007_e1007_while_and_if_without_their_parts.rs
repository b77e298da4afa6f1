use mind::mind;

mind! {
    fn no_else(c: bool, x: f32) -> f32 { if c { x } }
}

mind! {
    fn no_carry(x: f32) -> f32 { while x < 1.0 { x * 2.0 } }
}

mind! {
    fn no_condition(x: f32) -> f32 { while x = x { x * 2.0 } }
}

mind! {
    fn no_limit(x: f32) -> f32 { while x = x if x < 1.0, at = 3 { x * 2.0 } }
}

fn main() {}
