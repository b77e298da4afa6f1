//! Range checks before loops whose functions have a faster form for operands in range.

use super::{Control, Expr, Loops, Statement, Var};

/// The range checks of each element before a loop over elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranges<'a> {
    /// The numbers that the checks read, in order.
    pub numbers: Vec<(Var, &'a Expr)>,
    /// Each check ([`Row::range`](crate::map::Row::range)) and the operands that it is applied to.
    pub questions: Vec<(&'static str, &'a [Expr])>,
}

/// An iteration of a loop that checks its elements before it changes anything.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedLoop<'a> {
    /// The statements before the loop, which only define names.
    pub before: &'a [Statement],
    /// The loop over elements.
    pub head: &'a Control,
    /// Its body.
    pub elements: &'a [Statement],
    /// The range checks.
    pub ranges: Ranges<'a>,
    /// The statements after the loop.
    pub after: &'a [Statement],
}

impl Loops {
    /// The parts of a body that can check its elements before it changes anything, so that it can be restarted after
    /// the check.
    pub fn checked_loop<'a>(&self, body: &'a [Statement]) -> Option<CheckedLoop<'a>> {
        let names = |statement: &&Statement| {
            matches!(
                statement,
                Statement::Size(..)
                    | Statement::Chunk { .. }
                    | Statement::TakeOut { .. }
                    | Statement::Draw { .. }
                    | Statement::OneByOne
            )
        };
        let (before, rest) = body.split_at(body.iter().take_while(names).count());
        let (Statement::Do(head @ Control::Elements { .. }, elements), after) = rest.split_first()? else {
            return None;
        };
        Some(CheckedLoop { before, head, elements, ranges: self.ranges(elements)?, after })
    }

    /// The range checks of each element before a loop of this body. If they hold, all of its functions use their faster
    /// form. `None` if it has no such function, if no function depends on fused multiplication and addition, or if an
    /// operand takes longer to compute than the check saves.
    pub fn ranges<'a>(&self, body: &'a [Statement]) -> Option<Ranges<'a>> {
        let mut questions = Vec::new();
        for statement in body {
            // A statement that is not checked must not use the faster form.
            statement.element_value()?.into_iter().for_each(|value| ask(value, &mut questions));
        }
        if questions.is_empty() || !self.depends_on_fusing {
            return None;
        }
        let mut read = Vec::new();
        questions.iter().flat_map(|(_, operands)| *operands).for_each(|operand| operand.variables(&mut read));
        let mut numbers = Vec::new();
        for statement in body.iter().rev() {
            let Statement::Number(var, value) = statement else { continue };
            if read.contains(var) {
                value.variables(&mut read);
                numbers.push((*var, value));
            }
        }
        numbers.reverse();
        let operands = questions.iter().flat_map(|(_, operands)| *operands);
        let is_short = operands.chain(numbers.iter().map(|(_, value)| *value)).all(Expr::is_short);
        is_short.then_some(Ranges { numbers, questions })
    }
}

fn ask<'a>(value: &'a Expr, questions: &mut Vec<(&'static str, &'a [Expr])>) {
    match value {
        Expr::Apply { op, operands, .. } => {
            operands.iter().for_each(|operand| ask(operand, questions));
            if let Some(question) = op.row().range
                && !questions.contains(&(question, operands))
            {
                questions.push((question, operands));
            }
        }
        Expr::Mean { sum, .. } => ask(sum, questions),
        Expr::Number(_) | Expr::Constant(_) | Expr::Element(_) | Expr::Position(_) | Expr::Lanes { .. } => {}
    }
}

impl Statement {
    /// The value that the statement computes for one element, if it computes one. The outer option is `None` for
    /// statements that process more than one element.
    fn element_value(&self) -> Option<Option<&Expr>> {
        match self {
            Self::Number(_, value) | Self::Store(_, value) | Self::Combine { value, .. } => Some(Some(value)),
            Self::Size(..) | Self::Mask { .. } => Some(None),
            Self::Array(..)
            | Self::Copy { .. }
            | Self::Assign { .. }
            | Self::Borrow { .. }
            | Self::ProductRow { .. }
            | Self::Chunks { .. }
            | Self::Chunk { .. }
            | Self::TakeOut { .. }
            | Self::PutBack { .. }
            | Self::Padded { .. }
            | Self::Whole { .. }
            | Self::CopyInto { .. }
            | Self::Fill(..)
            | Self::Divide(..)
            | Self::CombineChains { .. }
            | Self::Columns { .. }
            | Self::FoldRows { .. }
            | Self::SumColumns { .. }
            | Self::Draws(_)
            | Self::Draw { .. }
            | Self::OneByOne
            | Self::Do(..) => None,
        }
    }
}

impl Expr {
    /// Adds the variables that it reads.
    fn variables(&self, read: &mut Vec<Var>) {
        match self {
            Self::Number(var) => read.push(*var),
            Self::Apply { operands, .. } => operands.iter().for_each(|operand| operand.variables(read)),
            Self::Mean { sum, .. } => sum.variables(read),
            Self::Constant(_) | Self::Element(_) | Self::Position(_) | Self::Lanes { .. } => {}
        }
    }

    /// Whether it is cheap to compute twice.
    fn is_short(&self) -> bool {
        match self {
            Self::Number(_) | Self::Constant(_) | Self::Element(_) | Self::Position(_) => true,
            Self::Apply { op, operands, .. } => {
                !op.row().cost.is_worth_keeping() && operands.iter().all(Self::is_short)
            }
            Self::Mean { .. } | Self::Lanes { .. } => false,
        }
    }
}
