//! Expressions over Rust variables: ordinary Rust fits a plane to points by gradient descent.

use mind::{Tensor, mind};

struct Plane {
    slope: Tensor![f32; 2],
    height: f32,
}

impl Plane {
    /// One step of gradient descent; returns the mean squared error before it.
    fn descend(&mut self, x: &Tensor![f32; 4, 2], y: &Tensor![f32; 4], rate: f32) -> f32 {
        let (error, (slope, height)) = mind!(value_and_grad(
            {
                let miss = x @ self.slope + self.height - y;
                mean(miss * miss)
            },
            wrt = (self.slope, self.height)
        ));
        self.slope = mind!(self.slope - rate * slope : f32[2]);
        self.height -= rate * height;
        error
    }
}

fn main() {
    let x = Tensor::from([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
    let y = Tensor::from([1.0, 3.0, 0.5, 2.5]);
    let mut plane = Plane { slope: Tensor::zeros(), height: 0.0 };
    for step in 0..=300 {
        let error = plane.descend(&x, &y, 0.3);
        if step % 100 == 0 {
            println!("step {step:>3}: error {error:.6}");
        }
    }
    println!("slope {:.2}, height {:.2}", plane.slope, plane.height);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plane_is_found() {
        let x = Tensor::from([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
        let y = Tensor::from([1.0, 3.0, 0.5, 2.5]);
        let mut plane = Plane { slope: Tensor::zeros(), height: 0.0 };
        for _ in 0..500 {
            plane.descend(&x, &y, 0.3);
        }
        let found = [plane.slope[[0]], plane.slope[[1]], plane.height];
        assert!(
            found.iter().zip([-0.5, 2.0, 1.0]).all(|(found, real)| (found - real).abs() < 1e-3),
            "{found:?}"
        );
    }
}
