use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let row: Tensor![f32; 3] = Tensor::from([10.0, 20.0, 30.0]);
    let column: Tensor![f32; 2] = Tensor::from([100.0, 200.0]);

    println!("{}", mind!(x + row));
    println!("{}", mind!(x + column[.., _]));
    println!("{}", mind!(x - mean(x, axis = 1, keepdims = true)));
    println!("{}", mind!(x.T[1..3, 0]));
    println!("{}", mind!(reshape(x, [3, -1])));
    println!("{}", mind!(concat([x, x + 10.0], axis = 1)));
}
