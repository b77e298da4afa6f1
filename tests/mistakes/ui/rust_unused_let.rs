#![deny(unused_variables)]

use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 3] = Tensor::full(1.0);
    let _y = mind!({
        let h = 2.0 * x;
        let (h, _k) = (h, x);
        let mean = mean(h);
        h
    });
    let _f = mind!(|x: f32[3]| {
        let y = {
            let y = x;
            2.0 * y
        };
        y
    });
}
