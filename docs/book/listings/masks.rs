use mind::{Tensor, mind};

mind! {
    /// The mean over the rows that are there, of sequences of which each has its own length.
    fn mean_of_there<N, T, D>(x: f32[N, T, D], length: i64[N]) -> f32[N, D] {
        let there = f32(iota([N, T], axis = 1) < length[.., _]);
        sum(x * there[.., _], axis = 1) / sum(there, axis = 1, keepdims = true)
    }

    /// Scores of which what is masked counts nothing.
    fn masked<N, T>(scores: f32[N, T], see: bool[N, T]) -> f32[N, T] {
        nn::softmax(where(see, scores, -inf))
    }
}

fn main() {
    let x: Tensor![f32; 2, 3, 1] = Tensor::from([[[1.0], [2.0], [9.0]], [[4.0], [5.0], [6.0]]]);
    println!("{}", mean_of_there(&x, &Tensor::from([2, 3])));
    let see = Tensor::from([[true, true, false], [false, true, false]]);
    println!("{:.2}", masked(&Tensor::zeros(), &see));
}
