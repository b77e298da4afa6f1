//! Fits a network to a sine curve with Adam: gradient and update are one program. The parameters and the optimiser's
//! state are then saved and loaded by functions that accept any [`Parameters`].
//!
//! ```text
//! cargo run --release --example adam
//! ```
//!
//! The files are in NumPy's format: `numpy.load("target/adam/hidden.w.npy")`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mind::optim::Adam;
use mind::{DType, Elements, ElementsMut, Parameters, Tensor, Xoshiro256, mind};

mind! {
    /// An affine layer.
    #[derive(Clone, Debug, PartialEq)]
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }

    /// A network that maps `x` to `y` and so describes a curve in the plane.
    #[derive(Clone, Debug, PartialEq)]
    struct Curve { first: Dense<1, 32>, hidden: Dense<32, 32>, last: Dense<32, 1> }

    fn dense<N, I, O>(x: f32[N, I], layer: Dense<I, O>) -> f32[N, O] { nn::dense(x, layer.w, layer.b) }

    fn curve<N>(x: f32[N, 1], p: Curve) -> f32[N, 1] {
        let h = relu(dense(x, p.first));
        dense(relu(dense(h, p.hidden)), p.last)
    }

    /// Mean squared error of the curve at the points `x`, `y`.
    fn error<N>(x: f32[N, 1], y: f32[N, 1], p: Curve) -> f32 { nn::mse(curve(x, p), y) }

    /// One step of Adam. Updates the parameters and Adam's moments in place; returns the error before the step.
    fn step<N>(x: f32[N, 1], y: f32[N, 1], p: &mut Curve, state: &mut optim::Adam<Curve>, rate: f32) -> f32 {
        let (e, gradient) = value_and_grad(error, wrt = p)(x, y, p);
        let (new, next) = optim::adam_step(p, gradient, state, rate);
        p = new;
        state = next;
        e
    }
}

/// Writes each parameter to its own file in NumPy's format (version 1.0), for example `first.w.npy`.
fn save(folder: &Path, parameters: &impl Parameters) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for part in parameters.parameters() {
        let mut bytes = npy_header(part.dtype(), &part.dims);
        match part.elements {
            Elements::F32(elements) => bytes.extend(elements.iter().flat_map(|x| x.to_le_bytes())),
            Elements::F64(elements) => bytes.extend(elements.iter().flat_map(|x| x.to_le_bytes())),
            Elements::U8(elements) => bytes.extend(elements),
            Elements::I32(elements) => bytes.extend(elements.iter().flat_map(|x| x.to_le_bytes())),
            Elements::I64(elements) => bytes.extend(elements.iter().flat_map(|x| x.to_le_bytes())),
            Elements::Bool(elements) => bytes.extend(elements.iter().map(|x| u8::from(*x))),
        }
        fs::write(file(folder, &part.name), bytes)?;
    }
    Ok(())
}

/// Reads each parameter from the file that `save` wrote.
///
/// # Errors
/// A file is missing, or holds a tensor of another element type or shape.
fn load(folder: &Path, parameters: &mut impl Parameters) -> io::Result<()> {
    for part in parameters.parameters_mut() {
        let path = file(folder, &part.name);
        let bytes = fs::read(&path)?;
        let header = npy_header(part.dtype(), &part.dims);
        let data = bytes.strip_prefix(&header[..]).ok_or_else(|| {
            let message = format!("{} does not hold {}{:?}", path.display(), part.dtype(), part.dims);
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        match part.elements {
            ElementsMut::F32(elements) => read(data, elements, f32::from_le_bytes)?,
            ElementsMut::F64(elements) => read(data, elements, f64::from_le_bytes)?,
            ElementsMut::U8(elements) => read(data, elements, |[byte]| byte)?,
            ElementsMut::I32(elements) => read(data, elements, i32::from_le_bytes)?,
            ElementsMut::I64(elements) => read(data, elements, i64::from_le_bytes)?,
            ElementsMut::Bool(elements) => read(data, elements, |[byte]| byte != 0)?,
        }
    }
    Ok(())
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.npy"))
}

fn read<T, const BYTES: usize>(
    data: &[u8],
    elements: &mut [T],
    from: impl Fn([u8; BYTES]) -> T,
) -> io::Result<()> {
    let (chunks, rest) = data.as_chunks::<BYTES>();
    if chunks.len() != elements.len() || !rest.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file has another length"));
    }
    for (element, bytes) in elements.iter_mut().zip(chunks) {
        *element = from(*bytes);
    }
    Ok(())
}

fn npy_header(dtype: DType, dims: &[usize]) -> Vec<u8> {
    let descr = match dtype {
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::U8 => "|u1",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::Bool => "|b1",
    };
    let extents: Vec<String> = dims.iter().map(ToString::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", extents.join(", "));
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // The format wants the elements to begin at a multiple of 64 bytes.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text = format!("{text:<width$}\n", width = length - 1);
    let length = u16::try_from(length).expect("a header is short");
    [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], text.as_bytes()].concat()
}

fn main() -> io::Result<()> {
    let x = Tensor::from_fn_with((128, mind::Const), |[i, _]| i as f32 / 64.0 - 1.0);
    let y = x.map(|x| (4.0 * x).sin());

    let mut p = Curve::he_normal(&mut Xoshiro256::new(1));
    let mut state = Adam::zeros_like(&p);
    println!("{} numbers in {} parameters", p.element_count(), p.parameters().len());
    for _ in 0..=1000 {
        let error = step(&x, &y, &mut p, &mut state, 0.01);
        if state.steps % 250 == 1 {
            println!("step {:>4}: error {error:.6}", state.steps);
        }
    }

    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/target/adam"));
    let of_state = folder.join("state");
    save(folder, &p)?;
    save(&of_state, &state)?;
    let mut loaded = Curve::zeros();
    let mut remembered = Adam::zeros_like(&loaded);
    load(folder, &mut loaded)?;
    load(&of_state, &mut remembered)?;
    let is_same = loaded == p && remembered == state;
    println!("saved and loaded: {}", if is_same { "the same" } else { "something else" });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adam_learns_a_curve() {
        let x = Tensor::from_fn_with((32, mind::Const), |[i, _]| i as f32 / 16.0 - 1.0);
        let y = x.map(|x| (4.0 * x).sin());
        let mut p = Curve::he_normal(&mut Xoshiro256::new(1));
        let mut state = Adam::zeros_like(&p);
        let before = error(&x, &y, &p);
        for _ in 0..200 {
            step(&x, &y, &mut p, &mut state, 0.01);
        }
        assert!(error(&x, &y, &p) < 0.05 * before, "{} of {before}", error(&x, &y, &p));
    }

    #[test]
    fn the_first_step_is_as_long_as_the_rate() {
        let (x, y) = (
            Tensor::<f32, (usize, mind::Const<1>)>::full_with((4, mind::Const), 1.0),
            Tensor::full_with((4, mind::Const), 3.0),
        );
        let mut p = Curve::he_normal(&mut Xoshiro256::new(1));
        let before = p.clone();
        step(&x, &y, &mut p, &mut Adam::zeros_like(&before), 0.5);
        let length = (p.last.b[[0]] - before.last.b[[0]]).abs();
        assert!((length - 0.5).abs() < 1e-5, "{length}");
    }

    #[test]
    fn what_is_saved_is_loaded_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("mind_adam_{}", std::process::id()));
        let p = Curve::glorot_uniform(&mut Xoshiro256::new(2));
        save(&folder, &p).expect("the folder can be written");
        let mut q = Curve::zeros();
        load(&folder, &mut q).expect("it was saved");
        assert_eq!(p, q);
        let state = Adam { mean: p.clone(), square: q.clone(), steps: 7 };
        save(&folder.join("state"), &state).expect("the folder can be written");
        let mut remembered = Adam::zeros_like(&p);
        load(&folder.join("state"), &mut remembered).expect("it was saved");
        assert_eq!(state, remembered);
        let mut other = Dense::zeros_with(3, 3);
        assert!(load(&folder, &mut other).is_err(), "there is no file `w.npy`");
        fs::copy(folder.join("last.b.npy"), folder.join("first.b.npy")).expect("both are files");
        let error = load(&folder, &mut q).expect_err("it has another shape");
        assert!(error.to_string().contains("does not hold f32[32]"), "{error}");
        fs::remove_dir_all(folder).expect("the folder can be removed");
    }

    #[test]
    fn headers_are_those_of_numpy() {
        let header = npy_header(DType::F32, &[3, 2]);
        assert_eq!(header.len() % 64, 0);
        let text = String::from_utf8_lossy(&header[10..]);
        assert_eq!(text.trim_end(), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }");
        let shape_of = |dims: &[usize]| {
            let text = String::from_utf8(npy_header(DType::I64, dims).split_off(10)).expect("it is ASCII");
            text.split_once("'shape': ").map(|(_, shape)| shape.trim_end().to_owned())
        };
        assert_eq!(shape_of(&[]).as_deref(), Some("(), }"));
        assert_eq!(shape_of(&[7]).as_deref(), Some("(7,), }"));
    }
}
