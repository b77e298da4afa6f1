mind::angle! {
    fn wrong() -> u8 {
        let f = mind::mind!< |x: f32[2]| relu(x) >;
        let _ = f;
        let number = "text";
        number
    }
}

fn main() {
    wrong();
}
