mind::mind! {
    struct Dense { w: f32[2, 3] }
    struct Dense { w: f32[4, 3] }
}

fn main() {}
