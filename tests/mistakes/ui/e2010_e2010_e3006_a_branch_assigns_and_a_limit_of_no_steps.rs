use mind::mind;

mind! {
    fn assigns(c: bool, x: &mut f32[2]) -> f32 {
        if c { x = x + 1.0; 1.0 } else { 0.0 }
    }

    fn repeats(x: &mut f32[2]) -> f32[2] {
        while y = x if sum(y) < 1.0 { x = y; y * 2.0 }
    }

    fn none(x: f32) -> f32 { while x = x if x < 1.0, at most = 0 { x * 2.0 } }
}

fn main() {}
