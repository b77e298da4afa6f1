use mind::mind;

mind! {
    struct Block { w: f32[3] }

    fn sums(p: Block[12]) -> f32 { sum(p.w) }

    fn call(p: Block[11]) -> f32 { sums(p) }

    fn result(p: Block[11]) -> Block[12] { p }
}

fn main() {}
