use mind::mind;

mind! {
    #[allow(non_camel_case_types)]
    struct line { w: f32[3], b: f32 }

    fn line(p: line) -> f32[3] { p.w }
}

fn main() {}
