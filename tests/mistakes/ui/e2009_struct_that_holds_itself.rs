use mind::mind;

mind! {
    struct List { head: f32[3], tail: Rest }
    struct Rest { list: List }

    fn head(p: List) -> f32[3] { p.head }
}

fn main() {}
