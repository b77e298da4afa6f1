//! Lowers Fourier transforms. StableHLO has complex numbers, which are made of pairs and become pairs again.

use super::{
    elements::evaluate,
    tensor::{Tensor, list, number},
    writer::{SsaValue, Writer},
};
use crate::{ir::Fourier, ty::DType};

pub(super) fn lower(writer: &mut Writer, fourier: &Fourier, x: SsaValue, to: Tensor) -> SsaValue {
    match fourier {
        Fourier::Fft { inverse } => {
            let [re, im] = parts(writer, x);
            // `IFFT` would divide by the length.
            let [re, im] = if *inverse { [im, re] } else { [re, im] };
            let shape = writer.tensor(re).shape.clone();
            let z = complex(writer, re, im);
            let z = transform(writer, z, "FFT", shape[shape.len() - 1], to.complex(shape));
            let [re, im] = both(writer, z);
            pairs(writer, if *inverse { [im, re] } else { [re, im] }, to)
        }
        Fourier::RealFft => {
            let n = *writer.tensor(x).shape.last().expect("it has rows");
            let z = transform(writer, x, "RFFT", n, to.complex(&to.shape[..to.rank() - 1]));
            let parts = both(writer, z);
            pairs(writer, parts, to)
        }
        Fourier::RealFftGrad { .. } => {
            let n = *to.shape.last().expect("it has rows");
            let [re, im] = parts(writer, x);
            // `IRFFT` counts each element twice whose conjugate it adds, and divides by the length.
            let shape = writer.tensor(re).shape.clone();
            let positions = Tensor::new(DType::I64, shape.clone());
            let k = writer.iota(shape.len() - 1, positions.clone());
            let [zero, last] = [0, n].map(|number| writer.constant(&number.to_string(), positions.clone()));
            let [whole, half] = [1.0, 0.5]
                .map(|by| writer.constant(&number(by * n as f64, to.dtype), to.with_shape(&shape[..])));
            let scaled = |writer: &mut Writer, x| {
                let names =
                    [("x", x), ("k", k), ("zero", zero), ("last", last), ("whole", whole), ("half", half)];
                evaluate(writer, "x * where(eq(k, zero), whole, where(eq(k + k, last), whole, half))", &names)
            };
            let (re, im) = (scaled(writer, re), scaled(writer, im));
            let z = complex(writer, re, im);
            transform(writer, z, "IRFFT", n, to)
        }
    }
}

fn transform(writer: &mut Writer, x: SsaValue, kind: &str, length: i64, to: Tensor) -> SsaValue {
    writer.operation("stablehlo.fft", &[x], format_args!(", type = {kind}, length = [{length}]"), to)
}

/// The two elements of pairs.
fn parts(writer: &mut Writer, x: SsaValue) -> [SsaValue; 2] {
    let of = writer.tensor(x).clone();
    let outer = &of.shape[..of.rank() - 1];
    [0, 1].map(|part| {
        let ranges = outer.iter().map(|extent| format!("0:{extent}")).chain([format!("{part}:{}", part + 1)]);
        let one = of.with_shape([outer, &[1]].concat());
        let part = writer.operation("stablehlo.slice", &[x], format_args!(" {}", list(ranges)), one);
        writer.reshaped(part, outer)
    })
}

/// The pairs of two elements.
fn pairs(writer: &mut Writer, parts: [SsaValue; 2], to: Tensor) -> SsaValue {
    let axis = to.rank() - 1;
    let one = [&to.shape[..axis], &[1]].concat();
    let parts = parts.map(|part| writer.reshaped(part, &one));
    writer.operation("stablehlo.concatenate", &parts, format_args!(", dim = {axis}"), to)
}

fn complex(writer: &mut Writer, re: SsaValue, im: SsaValue) -> SsaValue {
    let of = writer.tensor(re);
    let to = of.complex(&of.shape[..]);
    writer.operation("stablehlo.complex", &[re, im], format_args!(""), to)
}

/// The real and the imaginary parts.
fn both(writer: &mut Writer, z: SsaValue) -> [SsaValue; 2] {
    let of = writer.tensor(z);
    let to = of.with_shape(&of.shape[..]);
    ["real", "imag"]
        .map(|part| writer.operation(&format!("stablehlo.{part}"), &[z], format_args!(""), to.clone()))
}
