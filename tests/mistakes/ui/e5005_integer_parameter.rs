use mind::mind;

mind! {
    #[grad(rows)]
    fn f(table: f32[10, 3], rows: i64[5]) -> f32 {
        sum(gather(table, rows))
    }
}

fn main() {}
