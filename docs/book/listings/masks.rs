use mind::{Tensor, mind};

mind! {
    /// The mean of each sequence over its first `length` rows.
    fn mean_of_sequences<N, T, D>(x: f32[N, T, D], length: i64[N]) -> f32[N, D] {
        let mask = f32(iota([N, T], axis = 1) < length[.., _]);
        sum(x * mask[.., _], axis = 1) / sum(mask, axis = 1, keepdims = true)
    }

    /// The softmax of scores, in which masked scores get 0.
    fn masked<N, T>(scores: f32[N, T], see: bool[N, T]) -> f32[N, T] {
        nn::softmax(where(see, scores, -inf))
    }
}

fn main() {
    let x: Tensor![f32; 2, 3, 1] = Tensor::from([[[1.0], [2.0], [9.0]], [[4.0], [5.0], [6.0]]]);
    println!("{}", mean_of_sequences(&x, &Tensor::from([2, 3])));
    let see = Tensor::from([[true, true, false], [false, true, false]]);
    println!("{:.2}", masked(&Tensor::zeros(), &see));
}
