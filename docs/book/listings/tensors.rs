use mind::{Axis, Tensor, Xoshiro256};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]]);
    println!("{} {} {}", x.sum(), x.argmax(), x[(1, 0)]);
    println!("{}", x.mean_axis(Axis(0)));
    println!("{}", 2.0 * &x - Tensor::ones());
    for row in x.rows() {
        println!("{} and at most {}", row, row.max());
    }
    println!("{}", x.slice((.., 1..)));
    println!("{}", x.select(Axis(1), &[2, 0]).t());

    let squares: Tensor![i64; ?] = (0..5).map(|i| i * i).collect();
    println!("{}", Tensor::stack(Axis(0), &[&squares, &Tensor::arange(0, 10, 2)]));

    let noise: Tensor![f32; 2, 3] = Tensor::randn(&mut Xoshiro256::new(1));
    println!("{}", (&x + 1e-6 * noise).all_close(&x, 1e-4));
}
