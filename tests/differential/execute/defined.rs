//! Definitions of variables in loops: each variable is defined once, before it is read, and holds the declared kind of
//! value.

use mind_core::loops::{Control, Holds, Loops, Statement, Var};

/// Checks that each variable is captured or defined by one statement, and holds the declared kind of value.
pub(super) fn assert_defined_once(loops: &Loops) {
    let mut seen = vec![false; loops.variables.len()];
    let mut define = |var: Var, of: &str| {
        assert!(!std::mem::replace(&mut seen[var.0], true), "{var:?} is defined twice: {of}");
    };
    loops.captures.iter().for_each(|capture| define(capture.var, "given"));
    each(&loops.body, &mut |statement| {
        for var in defined(statement) {
            define(var, "by statements");
            let holds = loops.variable(var).holds;
            let fits = match statement {
                Statement::Size(..) | Statement::Do(..) => holds == Holds::Size,
                Statement::Mask { .. } => holds == Holds::Mask,
                Statement::Number(..) => matches!(holds, Holds::Number(_)),
                Statement::Draws(_) => holds == Holds::Draws,
                Statement::Borrow { .. } => matches!(holds, Holds::Borrowed(_)),
                Statement::Chunks { rest, .. } => match var == *rest {
                    true => matches!(holds, Holds::Borrowed(_)),
                    false => matches!(holds, Holds::Chunks(..)),
                },
                _ => matches!(holds, Holds::Array(..)),
            };
            assert!(fits, "{var:?} holds {holds:?}: {statement:?}");
        }
    });
    assert!(seen.iter().all(|seen| *seen), "every variable is defined");
}

fn each<'s>(statements: &'s [Statement], visit: &mut impl FnMut(&'s Statement)) {
    for statement in statements {
        visit(statement);
        if let Statement::Do(_, body) = statement {
            each(body, visit);
        }
    }
}

/// The variables that a statement defines, without those of its body.
pub(super) fn defined(statement: &Statement) -> Vec<Var> {
    match statement {
        Statement::Size(var, _)
        | Statement::Number(var, _)
        | Statement::Mask { var, .. }
        | Statement::Array(var, _)
        | Statement::Copy { var, .. }
        | Statement::Borrow { var, .. }
        | Statement::ProductRow { var, .. }
        | Statement::Chunk { var, .. }
        | Statement::Draws(var)
        | Statement::Draw { var, .. }
        | Statement::Padded { var, .. } => vec![*var],
        Statement::Chunks { var, rest, .. } => vec![*var, *rest],
        Statement::Whole { var, spare, .. } => vec![*var, *spare],
        Statement::TakeOut { var, home, .. } => vec![*var, *home],
        Statement::Do(head, _) => match head {
            Control::For { index, .. } | Control::Elements { index, .. } | Control::Nonzero { index, .. } => {
                vec![*index]
            }
            Control::Chains { first, end, .. } => vec![*first, *end],
            Control::Registers { first, count, .. } => vec![*first, *count],
            Control::Blocks { first, rows, .. } => vec![*first, *rows],
            Control::If { .. } => Vec::new(),
        },
        Statement::Assign { .. }
        | Statement::PutBack { .. }
        | Statement::CopyInto { .. }
        | Statement::Fill(..)
        | Statement::Divide(..)
        | Statement::Store(..)
        | Statement::Combine { .. }
        | Statement::CombineChains { .. }
        | Statement::Columns { .. }
        | Statement::FoldRows { .. }
        | Statement::SumColumns { .. }
        | Statement::OneByOne => Vec::new(),
    }
}
