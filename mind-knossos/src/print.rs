//! Prints the IR for people: a program with all generated derivatives.
//!
//! A function is its name and type, followed by its parameters and one line per instruction. The lines of a block are
//! indented below the instruction that runs it and end with `->` and its result. A value has its name in the program if
//! that name is unique, else a number after `%`, which may follow the name.

use std::{collections::HashMap, fmt::Write as _};

use crate::{
    ir::{
        BlockId, Body, Check, Definition, Function, Instruction, LayoutId, Loop, Operation, Program,
        Projection, ValueId,
    },
    types::TypeId,
};

/// Prints every function of a program, then the types that its tapes hold.
///
/// ```
/// use mind_knossos::{check, print};
///
/// let program = check("(def total Float (v : Vec Float) (sum v))")?;
/// let listing = "\
/// total : (Tensor 1 Float) -> Float
///   (v : (Tensor 1 Float))
///   %1 : Integer = size v
///   %2 : Float = sum %1
///     (%3 : Integer)
///     %4 : Float = index %3 v
///     -> %4
///   -> %2
/// ";
/// assert_eq!(print(&program), listing);
/// # Ok::<(), mind_core::diag::Diags>(())
/// ```
pub fn print(program: &Program) -> String {
    let mut listing = String::new();
    for function in &program.functions {
        if !listing.is_empty() {
            listing.push('\n');
        }
        print_function(program, function, &mut listing);
    }
    let layouts = program.layouts.iter().enumerate().filter(|(_, layout)| !layout.is_empty());
    for (position, (index, layout)) in layouts.enumerate() {
        let types: String = layout.iter().map(|ty| format!(" {}", program.types.show(*ty))).collect();
        let before = if position == 0 { "\n" } else { "" };
        line(&mut listing, 0, &format!("{before}tape #{index} ={types}"));
    }
    listing
}

fn line(listing: &mut String, depth: usize, text: &str) {
    writeln!(listing, "{:1$}{text}", "", 2 * depth).expect("writing to a string cannot fail");
}

fn print_function(program: &Program, function: &Function, listing: &mut String) {
    let types: Vec<_> = function.parameters.iter().map(|ty| program.types.show(*ty)).collect();
    let types = if types.is_empty() { "()".into() } else { types.join(" ") };
    let header = format!("{} : {types} -> {}", function.name, program.types.show(function.result));
    match &function.definition {
        Definition::Defined(body) => {
            line(listing, 0, &header);
            Printer { program, body, names: names(body), listing }.block(body.entry, 1);
        }
        Definition::Declared => line(listing, 0, &(header + ", declared")),
        Definition::Bound(_) => line(listing, 0, &(header + ", a Rust function")),
        Definition::Pending(..) | Definition::Wrong => line(listing, 0, &(header + ", without a body")),
    }
}

/// The name of each value, with numbers in the order of the lines.
fn names(body: &Body) -> HashMap<ValueId, String> {
    let mut order = Vec::new();
    in_order(body, body.entry, &mut order);
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for value in &order {
        if let Some(name) = &body.values[value.index()].name {
            *uses.entry(name).or_default() += 1;
        }
    }
    let name = |(position, value): (usize, &ValueId)| {
        let name = match &body.values[value.index()].name {
            Some(name) if uses[&**name] == 1 => name.to_string(),
            Some(name) => format!("{name}%{position}"),
            None => format!("%{position}"),
        };
        (*value, name)
    };
    order.iter().enumerate().map(name).collect()
}

/// The values that a block and its nested blocks define, in order.
fn in_order(body: &Body, block: BlockId, order: &mut Vec<ValueId>) {
    let block = body.block(block);
    order.extend(&block.parameters);
    for instruction in &block.instructions {
        order.push(instruction.result);
        instruction.operation.blocks().for_each(|inner| in_order(body, inner, order));
    }
}

struct Printer<'p> {
    program: &'p Program,
    body: &'p Body,
    names: HashMap<ValueId, String>,
    listing: &'p mut String,
}

impl Printer<'_> {
    fn block(&mut self, id: BlockId, depth: usize) {
        let block = self.body.block(id);
        if !block.parameters.is_empty() {
            let typed = |value: &ValueId| format!("({})", self.typed(*value));
            let parameters: Vec<_> = block.parameters.iter().map(typed).collect();
            line(self.listing, depth, &parameters.join(" "));
        }
        for instruction in &block.instructions {
            let text = self.instruction(instruction);
            line(self.listing, depth, &text);
            for (position, inner) in instruction.operation.blocks().enumerate() {
                if position > 0 {
                    line(self.listing, depth, "else");
                }
                self.block(inner, depth + 1);
            }
        }
        let result = format!("-> {}", self.name(block.result));
        line(self.listing, depth, &result);
    }

    fn name(&self, value: ValueId) -> &str {
        self.names.get(&value).map_or("%?", String::as_str)
    }

    fn typed(&self, value: ValueId) -> String {
        format!("{} : {}", self.name(value), self.program.types.show(self.body.ty(value)))
    }

    fn operands(&self, values: &[ValueId]) -> String {
        values.iter().map(|value| format!(" {}", self.name(*value))).collect()
    }

    fn instruction(&self, instruction: &Instruction) -> String {
        let Instruction { result, operation, operands, .. } = instruction;
        let name = mnemonic(operation);
        let text = match operation {
            Operation::AddTo(steps) => {
                let (value, rest) = operands.split_last().expect("there is what is added");
                return format!("{} += {}", self.part(steps, rest), self.name(*value));
            }
            Operation::Part(steps) => format!("{name} {}", self.part(steps, operands)),
            Operation::Integer(value) => value.to_string(),
            Operation::Float(value) => format!("{value:?}"),
            Operation::Bool(value) => value.to_string(),
            Operation::String(value) => format!("{value:?}"),
            Operation::Get(member) => format!("{}.{member}", self.name(operands[0])),
            Operation::Call(id) => {
                format!("{name} {}{}", self.program.function(*id).name, self.operands(operands))
            }
            Operation::Assert(Check::Sizes(of)) => format!("{name}{} sizes of {of}", self.operands(operands)),
            Operation::Pack(LayoutId(layout)) => format!("{name} #{layout}{}", self.operands(operands)),
            Operation::Unpack(LayoutId(layout), member) => {
                format!("{name} {}.#{layout}.{member}", self.name(operands[0]))
            }
            _ => format!("{name}{}", self.operands(operands)),
        };
        if self.body.ty(*result) == TypeId::UNIT
            && matches!(operation, Operation::Assert(_) | Operation::Bounds)
        {
            return text;
        }
        format!("{} = {text}", self.typed(*result))
    }

    /// A part of an accumulator, such as `%3[i].0`.
    fn part(&self, steps: &[Projection], operands: &[ValueId]) -> String {
        let mut operands = operands.iter().map(|operand| self.name(*operand));
        let mut text = operands.next().unwrap_or("%?").to_owned();
        for step in steps {
            text += &match step {
                Projection::Member(member) => format!(".{member}"),
                Projection::Element => format!("[{}]", operands.next().unwrap_or("%?")),
                Projection::Taped(LayoutId(layout), member) => format!(".#{layout}.{member}"),
            };
        }
        text
    }
}

/// The name of an operation in listings.
pub(super) fn mnemonic(operation: &Operation) -> &'static str {
    match operation {
        Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_) | Operation::String(_) => "literal",
        Operation::Scalar(scalar) => scalar.signature().0,
        Operation::Tuple => "tuple",
        Operation::Get(_) => "get",
        Operation::Equal => "eq",
        Operation::Size => "size",
        Operation::Index => "index",
        Operation::VecInit => "vec",
        Operation::ArgMax => "imax",
        Operation::Unzip => "unzip",
        Operation::Structure => "structure",
        Operation::Zero => "zero",
        Operation::Add => "ts_add",
        Operation::Negate => "ts_neg",
        Operation::Scale => "ts_scale",
        Operation::Dot => "ts_dot",
        Operation::Loop(Loop::Build, _) => "build",
        Operation::Loop(Loop::Sum, _) => "sum",
        Operation::Loop(Loop::Fold, _) => "fold",
        Operation::Loop(Loop::Scan, _) => "scan",
        Operation::If(..) => "if",
        Operation::Assert(_) => "assert",
        Operation::Bounds => "bounds",
        Operation::Print => "print",
        Operation::Call(_) => "call",
        Operation::Accumulator => "accumulator",
        Operation::AddTo(_) => "add_to",
        Operation::Part(_) => "part",
        Operation::Read => "read",
        Operation::Pack(_) => "pack",
        Operation::Unpack(..) => "unpack",
    }
}
