//! Emits nests of loops that are a single operation of the run time: copies of permuted tensors, and matrix products.

use super::{
    body::Writer,
    instructions::integer,
    repr::{Borrowed, Leaf, Repr},
};
use crate::{
    ir::{Instruction, Operation, ValueId},
    opt::{Access, Form, Product, Strided, strided},
};

impl Writer<'_> {
    /// Emits a loop as one operation into a slice. Returns `None` if it has no such form.
    pub(super) fn one_operation(
        &mut self,
        instruction: &Instruction,
        extents: &[String],
        output: &str,
    ) -> Option<()> {
        let types = &self.kinds.program.types;
        let Strided { shared, form } = strided(types, self.body, &self.made, instruction)?;
        let tensors = match &form {
            Form::Copy(from) => vec![self.numbers(from)?],
            Form::Product(Product { lhs, rhs, .. }) => vec![self.numbers(lhs)?, self.numbers(rhs)?],
        };
        for instruction in shared {
            let repr = self.instruction(instruction);
            self.set(instruction.result, repr);
        }
        match form {
            Form::Copy(from) => {
                let place = self.along(&tensors[0], &from, extents);
                self.line(format!("k::copy(&mut *{output}, [{}], {place});", extents.join(", ")));
            }
            Form::Product(product) => self.product(&product, &tensors, extents, output),
        }
        Some(())
    }

    /// Whether a loop has the form of one operation.
    pub(super) fn is_one_operation(&self, instruction: &Instruction) -> bool {
        strided(&self.kinds.program.types, self.body, &self.made, instruction).is_some()
    }

    /// The view of the tensor that is accessed, if its elements are numbers.
    fn numbers(&self, access: &Access) -> Option<String> {
        match self.known(access.tensor)? {
            Repr::Leaf(Leaf::Borrowed(Borrowed { text, kind, .. })) if kind.is_numeric_tensor() => {
                Some(text.clone())
            }
            Repr::Leaf(_) | Repr::Tuple(_) => None,
        }
    }

    fn product(&mut self, product: &Product<'_>, tensors: &[String], extents: &[String], output: &str) {
        let Product { sum, lhs, rhs, rows, columns } = product;
        let (k, [l, r]) = (self.fresh("n"), ["l", "r"].map(|name| self.fresh(name)));
        let place = self.kinds.at(&self.kinds.program.function(self.id).name, sum.place);
        let size = self.get(sum.operands[0]).text().to_owned();
        self.line(format!("let {k} = k::extent_of_turns({size}, {output}.len(), {place})?;"));
        let all: Vec<_> = extents.iter().chain([&k]).cloned().collect();
        for (name, tensor, access) in [(&l, &tensors[0], lhs), (&r, &tensors[1], rhs)] {
            let along = self.along(tensor, access, &all);
            self.line(format!("let {name} = {along};"));
        }
        let batch: String = extents[..*rows]
            .iter()
            .enumerate()
            .map(|(level, extent)| format!("{l}.batch({level}, &{r}, {extent}), "))
            .collect();
        let summed = extents.len();
        let (n, rhs) = match columns {
            Some(columns) => (extents[*columns].clone(), format!("{r}.matrix({summed}, {columns})")),
            None => ("1".to_owned(), format!("{r}.column({summed})")),
        };
        let m = &extents[*rows];
        self.line(format!(
            "k::product(&mut *{output}, &[{batch}], [{m}, {k}, {n}], {l}.matrix({rows}, {summed}), {rhs});"
        ));
    }

    /// The elements that an access reads in all iterations, as an expression.
    fn along(&self, tensor: &str, access: &Access, extents: &[String]) -> String {
        let starts: Vec<_> = access
            .axes
            .iter()
            .map(|axis| axis.start.map_or("0".into(), |start| self.member_of_index(start)))
            .collect();
        let steps: Vec<_> = (0..extents.len())
            .map(|level| {
                let step = |level_of: Option<usize>| if level_of == Some(level) { "1" } else { "0" };
                let steps: Vec<_> = access.axes.iter().map(|axis| step(axis.level)).collect();
                format!("[{}]", steps.join(", "))
            })
            .collect();
        let place = self.kinds.at(&self.kinds.program.function(self.id).name, access.place);
        format!(
            "{tensor}.along([{}], [{}], [{}], {place})?",
            starts.join(", "),
            steps.join(", "),
            extents.join(", ")
        )
    }

    fn member_of_index(&self, member: ValueId) -> String {
        match self.made[member.index()].map(|made| &made.operation) {
            Some(Operation::Integer(value)) => integer(*value),
            _ => self.get(member).text().to_owned(),
        }
    }
}
