//! The programs of GradBench, each with the functions that its eval calls.

mod ba;
mod det;
mod gmm;
mod hello;
mod ht;
mod kmeans;
mod llsq;
mod lse;
mod lstm;
mod minimise;
mod ode;
mod particle;
mod saddle;

use mind::Tensor;
use serde_json::Value;

use crate::protocol::{Evaluation, Failure};

/// Calls a function of a module with an input.
pub type Evaluate = fn(&str, Value) -> Result<Evaluation, Failure>;

/// The modules.
const MODULES: [(&str, Evaluate); 12] = [
    ("ba", ba::evaluate),
    ("det", det::evaluate),
    ("gmm", gmm::evaluate),
    ("hello", hello::evaluate),
    ("ht", ht::evaluate),
    ("kmeans", kmeans::evaluate),
    ("llsq", llsq::evaluate),
    ("lse", lse::evaluate),
    ("lstm", lstm::evaluate),
    ("ode", ode::evaluate),
    ("particle", particle::evaluate),
    ("saddle", saddle::evaluate),
];

/// # Errors
/// If there is no module of this name.
pub fn find(module: &str) -> Result<Evaluate, Failure> {
    let found = MODULES.iter().find(|(name, _)| *name == module);
    found.map(|(_, evaluate)| *evaluate).ok_or_else(|| Failure::Module(module.into()))
}

/// A vector.
type Vector = mind::Tensor![f64; ?];
/// A matrix.
type Matrix = mind::Tensor![f64; ?, ?];

fn vector(elements: Vec<f64>) -> Result<Vector, Failure> {
    Ok(Tensor::from_vec((elements.len(),), elements)?)
}

/// A matrix of these rows, each of `columns` elements.
fn matrix(rows: &[Vec<f64>], columns: usize) -> Result<Matrix, Failure> {
    Ok(Tensor::from_vec((rows.len(), columns), rows.concat())?)
}

/// The rows of a matrix.
fn rows(matrix: &Matrix) -> Vec<&[f64]> {
    let [_, columns] = matrix.dims();
    matrix.as_slice().chunks(columns.max(1)).collect()
}
