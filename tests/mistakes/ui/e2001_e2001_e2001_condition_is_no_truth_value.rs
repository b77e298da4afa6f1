use mind::mind;

mind! {
    fn number(x: f32) -> f32 { if x { x } else { -x } }

    fn pair(x: f32[2]) -> f32[2] { while x = x if x < 1.0 { x * 2.0 } }

    fn carry(x: f32[2]) -> f32[2] { while x = x if sum(x) < 1.0 { x[..1] } }
}

fn main() {}
