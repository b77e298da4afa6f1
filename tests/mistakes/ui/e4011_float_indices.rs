use mind::mind;

mind! {
    fn f(table: f32[10, 3], rows: f32[5]) -> f32[5, 3] {
        gather(table, rows)
    }
}

fn main() {}
