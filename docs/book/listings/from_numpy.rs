use mind::{Tensor, mind};

fn main() {
    let x = Tensor::from([[0.0, 0.0], [1.0, 2.0], [4.0, 6.0]]);

    // Columns with mean 0 and deviation 1.
    let z = mind!((x - mean(x, axis = 0)) / num::std(x, axis = 0));

    // The distances between rows, and the nearest other row.
    let far = mind! {
        let apart = x[0.., _] - x[_];
        sqrt(sum(apart * apart, axis = 2))
    };
    let nearest = mind! {
        let row = iota([3, 3], axis = 0);
        argmin(where(row == row.T, inf, far), axis = 1)
    };

    println!("{z:.3}\n{far:.3}\n{nearest}");
}
