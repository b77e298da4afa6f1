use mind::mind;

mind! {
    struct Block { w: f32[3] }

    struct Net { block: Block }

    fn literal(w: f32[12, 3]) -> Block[12] { Block[12] { w } }

    fn field(w: f32[12, 3]) -> Block { Block { w } }

    fn inner(p: Block[12]) -> Net { Net { block: p } }
}

fn main() {}
