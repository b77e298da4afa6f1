//! A long short-term memory with diagonal weights that predicts the next character of a text.

use mind::{Const, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::{Matrix, matrix};
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    /// A step of a layer: the new state and the new cell. `p` holds the weights and the biases of the gates.
    fn step<H>(x: f64[H], h: f64[H], c: f64[H], p: f64[2, 4, H]) -> (f64[H], f64[H]) {
        let forget = nn::sigmoid(x * p[0, 0] + p[1, 0]);
        let input = nn::sigmoid(h * p[0, 1] + p[1, 1]);
        let output = nn::sigmoid(x * p[0, 2] + p[1, 2]);
        let change = tanh(h * p[0, 3] + p[1, 3]);
        let cell = c * forget + input * change;
        (output * tanh(cell), cell)
    }

    /// The loss over a text. `state` holds the first state and the first cell of each of `L` layers.
    #[grad(main, extra)]
    fn loss<T, L, H>(main: f64[L, 2, 4, H], extra: f64[3, H], state: f64[L, 2, H], text: f64[T, H]) -> f64 {
        let (_, _, total) = fold (h, c, total) = (state[0.., 0], state[0.., 1], 0.0)
            for (x, next) in (text[..-1], text[1..])
        {
            let (top, (h, c)) = scan x = x * extra[0] for (h, c, p) in (h, c, main) {
                let (h, c) = step(x, h, c, p);
                (h, (h, c))
            };
            let y = top * extra[1] + extra[2];
            (h, c, total + sum(next * (y - log(2.0 + sum(exp(y))))))
        };
        -total / ((T - 1.0) * H)
    }
}

#[derive(Deserialize)]
struct Input {
    main_params: Vec<Vec<f64>>,
    extra_params: Vec<Vec<f64>>,
    state: Vec<Vec<f64>>,
    sequence: Vec<Vec<f64>>,
}

struct Problem {
    main: mind::Tensor![f64; ?, 2, 4, ?],
    extra: mind::Tensor![f64; 3, ?],
    state: mind::Tensor![f64; ?, 2, ?],
    text: Matrix,
}

impl Problem {
    fn new(input: Input) -> Result<Self, Failure> {
        let Input { main_params, extra_params, state, sequence } = input;
        let (layers, width) = (main_params.len() / 2, sequence.first().map_or(0, Vec::len));
        Ok(Self {
            main: Tensor::from_vec((layers, Const, Const, width), main_params.concat())?,
            extra: Tensor::from_vec((Const, width), extra_params.concat())?,
            state: Tensor::from_vec((layers, Const, width), state.concat())?,
            text: matrix(&sequence, width)?,
        })
    }
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?.prepared(Problem::new)?;
    match function {
        "objective" => Ok(call.run(|p| loss(&p.main, &p.extra, &p.state, &p.text), Value::from)),
        "jacobian" => {
            let gradient = |p: &Problem| loss_grad(&p.main, &p.extra, &p.state, &p.text).1;
            Ok(call.run(gradient, |(main, extra)| [main.as_slice(), extra.as_slice()].concat().into()))
        }
        _ => Err(Failure::Function(function.into())),
    }
}
