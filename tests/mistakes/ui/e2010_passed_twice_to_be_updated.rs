use mind::mind;

mind! {
    fn swap(a: &mut f32[3], b: &mut f32[3]) {
        let old = a;
        a = b;
        b = old;
    }

    fn f(w: &mut f32[3]) {
        swap(w, w);
    }
}

fn main() {}
