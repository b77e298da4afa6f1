//! An LSTM and a GRU as one would write them by hand in Rust: products by matrixmultiply, loops for the rest. They run on
//! one thread. Each has the results and gradients of the program with the same name in `recurrence.rs`.

/// The states of a cell.
pub const STATES: usize = 128;
/// The features of an input.
pub const FEATURES: usize = 64;

/// The inputs of a recurrence: `xs` is `[steps, batch, FEATURES]`, `w` is `[FEATURES, gates * STATES]`, `u` is
/// `[STATES, gates * STATES]` and `b` is `[gates * STATES]`.
pub struct Inputs<'a> {
    pub batch: usize,
    pub h: &'a [f32],
    pub xs: &'a [f32],
    pub w: &'a [f32],
    pub u: &'a [f32],
    pub b: &'a [f32],
}

/// The gradients by `w`, `u` and `b`.
pub struct Gradients {
    pub w: Vec<f32>,
    pub u: Vec<f32>,
    pub b: Vec<f32>,
}

/// A matrix of rows and columns, which may be transposed.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    elements: &'a [f32],
    rows: usize,
    columns: usize,
    is_transposed: bool,
}

impl<'a> Matrix<'a> {
    fn new(elements: &'a [f32], columns: usize) -> Self {
        Self { elements, rows: elements.len() / columns, columns, is_transposed: false }
    }

    fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, is_transposed: !self.is_transposed, ..self }
    }

    fn strides(self) -> (isize, isize) {
        match self.is_transposed {
            true => (1, self.rows as isize),
            false => (self.columns as isize, 1),
        }
    }
}

/// Adds `scale` times `c` and the product of `a` and `b` to `c`.
fn product(a: Matrix<'_>, b: Matrix<'_>, scale: f32, c: &mut [f32]) {
    assert!(a.columns == b.rows && c.len() == a.rows * b.columns);
    assert!(a.elements.len() >= a.rows * a.columns && b.elements.len() >= b.rows * b.columns);
    let ((a_row, a_column), (b_row, b_column)) = (a.strides(), b.strides());
    // SAFETY: the lengths of all slices were compared with the extents.
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.columns,
            b.columns,
            1.0,
            a.elements.as_ptr(),
            a_row,
            a_column,
            b.elements.as_ptr(),
            b_row,
            b_column,
            scale,
            c.as_mut_ptr(),
            b.columns as isize,
            1,
        );
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// `xs @ w + b` for all steps.
fn of_inputs(inputs: &Inputs<'_>) -> Vec<f32> {
    let rows = inputs.xs.len() / FEATURES;
    let mut z: Vec<f32> = inputs.b.iter().copied().cycle().take(rows * inputs.b.len()).collect();
    product(Matrix::new(inputs.xs, FEATURES), Matrix::new(inputs.w, inputs.b.len()), 1.0, &mut z);
    z
}

/// The values of all steps of an LSTM: the gates after their functions, the cells and the states.
pub struct Lstm {
    gates: Vec<f32>,
    cells: Vec<f32>,
    pub states: Vec<f32>,
}

pub fn lstm(inputs: &Inputs<'_>, c: &[f32]) -> Lstm {
    let (row, step) = (4 * STATES, inputs.batch * STATES);
    let mut gates = of_inputs(inputs);
    let steps = gates.len() / (inputs.batch * row);
    let (mut cells, mut states) = (vec![0.0; steps * step], vec![0.0; steps * step]);
    for (t, z) in gates.chunks_exact_mut(inputs.batch * row).enumerate() {
        let (cells_before, cells) = cells.split_at_mut(t * step);
        let (states_before, states) = states.split_at_mut(t * step);
        let before = if t == 0 { inputs.h } else { &states_before[(t - 1) * step..] };
        let cell_before = if t == 0 { c } else { &cells_before[(t - 1) * step..] };
        product(Matrix::new(before, STATES), Matrix::new(inputs.u, row), 1.0, z);
        for (at, z) in z.chunks_exact_mut(row).enumerate() {
            let of_row = at * STATES..(at + 1) * STATES;
            let (cell, state) = (&mut cells[of_row.clone()], &mut states[of_row.clone()]);
            let cell_before = &cell_before[of_row];
            let (i, rest) = z.split_at_mut(STATES);
            let (f, rest) = rest.split_at_mut(STATES);
            let (g, o) = rest.split_at_mut(STATES);
            for k in 0..STATES {
                (i[k], f[k], g[k], o[k]) = (sigmoid(i[k]), sigmoid(f[k]), g[k].tanh(), sigmoid(o[k]));
                cell[k] = f[k] * cell_before[k] + i[k] * g[k];
                state[k] = o[k] * cell[k].tanh();
            }
        }
    }
    Lstm { gates, cells, states }
}

/// The gradients of the sum of the squares of all states.
pub fn lstm_gradients(inputs: &Inputs<'_>, c: &[f32]) -> Gradients {
    let Lstm { gates, cells, states } = lstm(inputs, c);
    let (row, step) = (4 * STATES, inputs.batch * STATES);
    let mut dz = vec![0.0; gates.len()];
    let (mut dh, mut dc) = (vec![0.0; step], vec![0.0; step]);
    for t in (0..states.len() / step).rev() {
        let dz = &mut dz[t * inputs.batch * row..][..inputs.batch * row];
        for at in 0..step {
            let (sample, k) = (at / STATES, at % STATES);
            let place = sample * row + k;
            let gate = |number: usize| gates[t * inputs.batch * row + place + number * STATES];
            let (i, f, g, o) = (gate(0), gate(1), gate(2), gate(3));
            let cell_before = if t == 0 { c[at] } else { cells[(t - 1) * step + at] };
            let tanh = cells[t * step + at].tanh();
            let dh = dh[at] + 2.0 * states[t * step + at];
            let dcell = dc[at] + dh * o * (1.0 - tanh * tanh);
            dz[place] = dcell * g * i * (1.0 - i);
            dz[place + STATES] = dcell * cell_before * f * (1.0 - f);
            dz[place + 2 * STATES] = dcell * i * (1.0 - g * g);
            dz[place + 3 * STATES] = dh * tanh * o * (1.0 - o);
            dc[at] = dcell * f;
        }
        product(Matrix::new(dz, row), Matrix::new(inputs.u, row).transposed(), 0.0, &mut dh);
    }
    gradients(inputs, &states, &dz, &dz)
}

/// The gradients from the cotangents of the gates: `of_x` of `x @ w + b`, `of_h` of `h @ u`.
fn gradients(inputs: &Inputs<'_>, states: &[f32], of_x: &[f32], of_h: &[f32]) -> Gradients {
    let row = inputs.b.len();
    let before = [inputs.h, &states[..states.len() - inputs.batch * STATES]].concat();
    let (mut w, mut u, mut b) = (vec![0.0; FEATURES * row], vec![0.0; STATES * row], vec![0.0; row]);
    product(Matrix::new(inputs.xs, FEATURES).transposed(), Matrix::new(of_x, row), 0.0, &mut w);
    product(Matrix::new(&before, STATES).transposed(), Matrix::new(of_h, row), 0.0, &mut u);
    for dz in of_x.chunks_exact(row) {
        b.iter_mut().zip(dz).for_each(|(sum, dz)| *sum += dz);
    }
    Gradients { w, u, b }
}

/// The values of all steps of a GRU: the gates after their functions, the part of `h @ u` that the reset gate scales,
/// and the states.
pub struct Gru {
    gates: Vec<f32>,
    scaled: Vec<f32>,
    pub states: Vec<f32>,
}

pub fn gru(inputs: &Inputs<'_>) -> Gru {
    let (row, step) = (3 * STATES, inputs.batch * STATES);
    let mut gates = of_inputs(inputs);
    let steps = gates.len() / (inputs.batch * row);
    let (mut scaled, mut states) = (vec![0.0; steps * step], vec![0.0; steps * step]);
    let mut y = vec![0.0; inputs.batch * row];
    for (t, x) in gates.chunks_exact_mut(inputs.batch * row).enumerate() {
        let (states_before, states) = states.split_at_mut(t * step);
        let before = if t == 0 { inputs.h } else { &states_before[(t - 1) * step..] };
        product(Matrix::new(before, STATES), Matrix::new(inputs.u, row), 0.0, &mut y);
        for (at, (x, y)) in x.chunks_exact_mut(row).zip(y.chunks_exact(row)).enumerate() {
            let of_row = at * STATES..(at + 1) * STATES;
            let (state, before) = (&mut states[of_row.clone()], &before[of_row.clone()]);
            let scaled = &mut scaled[t * step..][of_row];
            let (r, rest) = x.split_at_mut(STATES);
            let (z, n) = rest.split_at_mut(STATES);
            for k in 0..STATES {
                scaled[k] = y[2 * STATES + k];
                (r[k], z[k]) = (sigmoid(r[k] + y[k]), sigmoid(z[k] + y[STATES + k]));
                n[k] = (n[k] + r[k] * scaled[k]).tanh();
                state[k] = (1.0 - z[k]) * n[k] + z[k] * before[k];
            }
        }
    }
    Gru { gates, scaled, states }
}

/// The gradients of the sum of the squares of all states.
pub fn gru_gradients(inputs: &Inputs<'_>) -> Gradients {
    let Gru { gates, scaled, states } = gru(inputs);
    let (row, step) = (3 * STATES, inputs.batch * STATES);
    let (mut of_x, mut of_h) = (vec![0.0; gates.len()], vec![0.0; gates.len()]);
    let mut dh = vec![0.0; step];
    for t in (0..states.len() / step).rev() {
        let of_step = t * inputs.batch * row..(t + 1) * inputs.batch * row;
        let (of_x, of_h) = (&mut of_x[of_step.clone()], &mut of_h[of_step.clone()]);
        let gates = &gates[of_step];
        for at in 0..step {
            let (sample, k) = (at / STATES, at % STATES);
            let place = sample * row + k;
            let (r, z, n) = (gates[place], gates[place + STATES], gates[place + 2 * STATES]);
            let before = if t == 0 { inputs.h[at] } else { states[(t - 1) * step + at] };
            let dstate = dh[at] + 2.0 * states[t * step + at];
            let dn = dstate * (1.0 - z) * (1.0 - n * n);
            let dr = dn * scaled[t * step + at] * r * (1.0 - r);
            let dz = dstate * (before - n) * z * (1.0 - z);
            (of_x[place], of_x[place + STATES], of_x[place + 2 * STATES]) = (dr, dz, dn);
            (of_h[place], of_h[place + STATES], of_h[place + 2 * STATES]) = (dr, dz, dn * r);
            dh[at] = dstate * z;
        }
        product(Matrix::new(of_h, row), Matrix::new(inputs.u, row).transposed(), 1.0, &mut dh);
    }
    gradients(inputs, &states, &of_x, &of_h)
}
