use mind::{Tensor, mind};

mind! {
    /// The rows of `x`, each divided by its sum.
    fn shares<N, M>(x: f32[N, M]) -> f32[N, M] {
        x / sum(x, axis = 1, keepdims = true)
    }

    /// The distance of each row of `x` from each row of `y`, squared.
    fn distances<N, M, D>(x: f32[N, D], y: f32[M, D]) -> f32[N, M] {
        let d = x[0.., _, ..] - y[_, ..];
        sum(d * d, axis = 2)
    }
}

fn main() {
    // Extents in the type: rustc knows them.
    let fixed: Tensor![f32; 2, 2] = Tensor::from([[1.0, 3.0], [2.0, 2.0]]);
    println!("{}", shares(&fixed));

    // The first extent is known when the program runs.
    let numbers = vec![0.0, 0.0, 3.0, 4.0, 6.0, 8.0];
    let dims = (numbers.len() / 2, mind::Const);
    let read: Tensor![f32; ?, 2] = Tensor::from_vec(dims, numbers).expect("rows of two");
    println!("{}", distances(&read, &fixed));

    // Extents that are only known at run time are checked on entry.
    let wide: Tensor![f32; ?, ?] = Tensor::zeros_with((3, 5));
    match try_distances(&wide, &read.as_dyn()) {
        Ok(_) => println!("it fits"),
        Err(error) => println!("{error}"),
    }
}
