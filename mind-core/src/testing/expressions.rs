//! Random expressions over Rust variables, as text.

use super::Random;
use crate::{
    map::{Domain, Map, Row},
    open::{self, Program},
    surface::parse_expression,
    ty::{DType, Shape, Type},
};

/// A random expression: statements over leaves whose types are known, and the values of its result.
#[derive(Clone, Debug)]
pub struct RandomExpression {
    /// `let v0 = …; let v1 = …;`
    pub statements: String,
    /// The names and types of the values. All have the floating-point element type of the leaves.
    pub values: Vec<(String, Type)>,
    /// The leaves that the statements may read, floating-point ones first.
    pub leaves: Vec<(String, Type)>,
}

/// The most elements of a value.
const MOST_ELEMENTS: i64 = 2_000;

/// A random expression of at most `size` statements and one to three values. All floating-point types are `dtype`.
pub fn random_expression(seed: u64, size: usize, dtype: DType) -> RandomExpression {
    let random = Random::new(seed);
    let mut generator = Generator { random, dtype, statements: String::new(), known: Vec::new() };
    let leaves = generator.leaves();
    generator.known.clone_from(&leaves);
    let own = generator.known.len();
    for number in 0..size {
        let Some((text, ty)) = (0..4).find_map(|_| generator.candidate()) else { continue };
        let name = format!("v{number}");
        generator.statements += &format!("let {name} = {text}; ");
        generator.known.push((name, ty));
    }
    let made = generator.known.split_off(own);
    let made = if made.is_empty() { vec![leaves[0].clone()] } else { made };
    let mut values = vec![made[made.len() - 1].clone()];
    for _ in 0..generator.random.below(3) {
        values.push(generator.random.pick(&made).clone());
    }
    RandomExpression { statements: generator.statements, values, leaves }
}

/// The open program of an expression.
///
/// # Errors
/// The mistakes in the expression.
pub fn open_program(source: &str) -> Result<Program, String> {
    let messages =
        |diags: crate::diag::Diags| diags.into_iter().map(|diag| diag.to_string()).collect::<Vec<_>>();
    let tokens = source.parse().map_err(|error| format!("{error}"))?;
    let (expression, diags) = parse_expression(tokens);
    let diags = messages(diags);
    let Some(expression) = expression.filter(|_| diags.is_empty()) else { return Err(diags.join("\n")) };
    let (program, diags) = open::lower(&expression);
    program.ok_or_else(|| messages(diags).join("\n"))
}

/// The types of a program's leaves, found by name.
pub fn leaf_types(program: &Program, types: &[(String, Type)]) -> Option<Vec<Type>> {
    let ty = |name: &str| types.iter().find(|(known, _)| known == name).map(|(_, ty)| ty.clone());
    program.leaves.iter().map(|leaf| ty(&leaf.text)).collect()
}

struct Generator {
    random: Random,
    dtype: DType,
    statements: String,
    /// The names that statements may read, with their types.
    known: Vec<(String, Type)>,
}

impl Generator {
    fn leaves(&mut self) -> Vec<(String, Type)> {
        let (n, m, k) = (self.extent(), self.extent(), self.extent());
        let shapes: [&[i64]; 9] =
            [&[n, m], &[m, k], &[m], &[], &[n, 1], &[n, m, k], &[k, k], &[1, 5, 4, 2], &[2, 2, 2, 3]];
        let mut leaves = Vec::new();
        for (position, shape) in shapes.iter().enumerate() {
            if position < 2 || self.random.once_in(2) {
                leaves.push((format!("x{position}"), Type::new(self.dtype, Shape::literal(shape))));
            }
        }
        leaves.push(("i".to_owned(), Type::new(DType::I64, Shape::literal(&[3]))));
        leaves
    }

    fn extent(&mut self) -> i64 {
        [1, 2, 3, 4][self.random.below(4)]
    }

    /// The text and the type of an operation on known values, if it keeps the rules.
    fn candidate(&mut self) -> Option<(String, Type)> {
        let text = self.text();
        let program = open_program(&text).ok()?;
        let types = open::types(&program, &leaf_types(&program, &self.known)?).ok()?;
        let [node] = program.result.nodes()[..] else { return None };
        let ty = types[node.index()].clone();
        let count = ty.shape.element_count().ok()?.as_literal()?;
        (ty.dtype == self.dtype && ty.rank() <= 4 && count <= MOST_ELEMENTS).then_some((text, ty))
    }

    fn name(&mut self) -> String {
        self.random.pick(&self.known).0.clone()
    }

    /// An elementwise function, with an argument in its domain.
    fn function(&mut self, x: &str) -> String {
        let rows = Map::ALL.iter().map(|map| map.row()).filter(|row| row.arity() == 1);
        let named: Vec<(&Row, &str)> = rows.filter_map(|row| Some((row, row.function()?))).collect();
        let (row, name) = *self.random.pick(&named);
        match row.domain {
            Domain::Any | Domain::NonZero | Domain::OffHalves | Domain::Apart => {
                format!("{name}({x} * 0.25)")
            }
            Domain::Positive => format!("{name}({x} * {x} + 1.0)"),
            Domain::AboveOne => format!("{name}({x} * {x} + 1.5)"),
            Domain::Unit => format!("{name}({x} / ({x} * {x} + 1.0))"),
        }
    }

    /// The name of a type of floats, mostly the one of the leaves.
    fn float(&mut self) -> &'static str {
        let is_single = (self.dtype == DType::F32) != self.random.once_in(5);
        if is_single { "f32" } else { "f64" }
    }

    fn text(&mut self) -> String {
        let (a, b) = (self.name(), self.name());
        let axis = self.random.below(5) as i64 - 2;
        let literal = ["1.5", "-0.5", "2.0", "[0.5, 1.0]", "zeros([1])"][self.random.below(5)];
        match self.random.below(71) {
            0 | 1 => format!("{a} + {b}"),
            2 => format!("{a} - {b} * {a}"),
            3 | 4 => format!("{a} * {b}"),
            5 => format!("{a} / ({b} * {b} + 1.0)"),
            6..=8 => self.function(&a),
            9 => format!("-{a}"),
            10 => format!("{a} * {literal}"),
            11 | 12 => format!("{a} @ {b}"),
            13 => format!("{a} @ {a}.T"),
            14 => format!("dot({a}, {b})"),
            15 => format!("sum({a}, axis = {axis})"),
            16 => format!("mean({a}, axes = [{axis}], keepdims = true)"),
            17 => format!("{a}.sum(axes = [0, {axis}], keepdims = {})", self.random.once_in(2)),
            18 => format!("mean({a})"),
            19 => format!("reshape({a}, [-1])"),
            20 => format!("{a}.reshape([{}, -1])", self.extent()),
            21 => format!("{a}.T"),
            22 => format!("transpose({a}, [{axis}, 0, 1])"),
            23 => format!("expand_dims({a}, axes = [{axis}])"),
            24 => format!("squeeze({a})"),
            25 => format!("{a}[{axis}]"),
            26 => format!("{a}[.., 1..;2]"),
            27 => format!("{a}[..-1, {axis}, ..]"),
            28 => format!("slice({a}, [0, 1], [2, 2], [1, 1])"),
            29 => format!("gather({a}, i)"),
            30 => format!("gather({a}, [0, 0, 0])"),
            31 => {
                let padding = ["same", "valid", "[[1, 0], [0, 2]]"][self.random.below(3)];
                format!("conv2d({a}, {b}, strides = [1, 2], padding = {padding})")
            }
            32 => format!("stop_gradient({a}) * {b} + ones_like({a}) - broadcast_to({a}, [2, 3])"),
            34 => format!("{a}.mT"),
            36 => format!("concat([{a}, {b}, {a}], axis = {axis})"),
            40 => format!("cumsum({a} + {b}, axis = {axis}, exclusive = true)"),
            41 => format!("cumsum({a}, axis = {axis}, reverse = true) * {b}"),
            42 => format!("{a} * {b} + {}(iota({}))", ["f32", "f64"][self.random.below(2)], self.extent()),
            43 => format!("where(one_hot(i, {}, dtype = bool), {a}, {literal})", self.extent()),
            44 => {
                format!("take_along({a}, argmax({a}, axis = {axis}, keepdims = true), axis = {axis})")
            }
            45 => format!("{a}[.., ..extent({b}, {axis})]"),
            46 => format!("{a}[extent({b}, {axis}) - 1, -extent({b}, 0)..]"),
            47 => {
                let half = format!("extent({a}, 0) / 2");
                format!("{a}[{half}..extent({b}, {axis}), ..].sum() * {a}[..extent({a}, 0) - {half}]")
            }
            48 => format!("slice({a}, [0, extent({b}, {axis}) / 2], [1, extent({a}, 1)], [1, 2])"),
            // Masks with other operations between them and the values that they exclude.
            49 => format!("where(min({a}) > 0.0, mean(sqrt({a})), 0.5) * {b}"),
            50 => format!("where({a} > 0.0, cumsum(sqrt(abs({a})), axis = {axis}), 0.0)"),
            51 => format!("maximum(reshape(log({a} * {a} + 1.0), [-1]), 0.5)"),
            52 => format!("where({a} > 0.0, sum({a} / {a}, axis = {axis}, keepdims = true), {literal})"),
            53 => format!("sort({a}, axis = {axis}, descending = {})", self.random.once_in(2)),
            54 => format!("sort({a})[.., ..{}] + {b}", self.extent()),
            55 => format!("sort({a}, axis = 0)[..{}]", self.extent()),
            56 => {
                let order = format!("argsort({a}, descending = true)[.., ..{}]", self.extent());
                format!("take_along({a}, {order}, axis = -1) * {}({order})", self.float())
            }
            57 => format!(
                "take_along({a}, argsort({a} * {b}, axis = {axis})[.., ..{}], axis = {axis})",
                self.extent()
            ),
            58 => {
                let places = format!("num::searchsorted(sort(reshape({a}, [-1])), {b})");
                format!("{}({places})", self.float())
            }
            59 => format!("num::unique(reshape({a}, [-1]), size = {})", self.extent()),
            60 => format!("tile({a}, [2, {}])", self.extent()),
            61 => format!("repeat({a}, {}, axis = {axis})", self.extent()),
            62 => {
                let mode = ["edge", "reflect", "symmetric", "wrap"][self.random.below(4)];
                format!("pad({a}, [1, 0], [0, 1], mode = \"{mode}\")")
            }
            63 => format!("pad({a}, [0, 1], [0, 0], interior = [1, 0], value = 0.5)"),
            64 => format!("{a}[..;-1] * {b}"),
            65 => format!("{a}[.., 0..2;-1]"),
            66 => {
                let spec =
                    ["ij,jk->ik", "ij,kj->ki", "ij,ij->j", "...i,i->...", "ij->ji"][self.random.below(5)];
                let operands = if spec.contains(',') { format!("{a}, {b}") } else { a };
                format!("einsum(\"{spec}\", {operands})")
            }
            67 => format!(
                "{a} * random::uniform({}, [{}], dtype = {})",
                self.extent(),
                self.extent(),
                self.float()
            ),
            68 => format!(
                "flip({a}, axis = {axis}) + roll({a}, {}, axis = {axis})",
                self.random.below(7) as i64 - 3
            ),
            69 => format!("num::scatter({a}, [0, 1, 0], {b}, axis = {axis})"),
            70 => format!(
                "num::median({a}, axis = {axis}) + num::add_along({b}, argmax({b}, axis = {axis}, keepdims = true), max({b}, axis = {axis}, keepdims = true), axis = {axis})"
            ),
            39 => format!("pad({a}, [1, 0], high = [0, 2])"),
            38 => format!("stack([{a} * 0.5, {a}, {b}], axis = {axis})"),
            37 => format!("concat([{a} * 0.5, {literal}], axis = {axis})"),
            35 => format!("{a}[{}]", ["_", ".., _", "0, _, .., _", "_, 1.., _"][self.random.below(4)]),
            _ => format!("grad(sum({a} * {a} * {b}), wrt = zero_ok x{})", self.random.below(2)),
        }
    }
}
