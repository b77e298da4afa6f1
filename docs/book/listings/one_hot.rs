use mind::{Tensor, mind};

mind! {
    /// The number of examples for each pair of true and predicted class.
    fn confusion<N>(scores: f32[N, 3], class: i64[N]) -> f32[3, 3] {
        let predicted = argmax(scores, axis = 1);
        one_hot(class, 3, dtype = f32).T @ one_hot(predicted, 3, dtype = f32)
    }
}

fn main() {
    let scores = Tensor::from([[0.9, 0.1, 0.0], [0.2, 0.1, 0.7], [0.3, 0.4, 0.3], [0.1, 0.8, 0.1]]);
    println!("{}", confusion(&scores, &Tensor::from([0, 2, 0, 1])));
}
