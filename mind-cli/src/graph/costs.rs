//! The arithmetic and the memory of each operation, for pictures.

use mind_core::{
    dim::{Bindings, Dim},
    ir::{Inst, Module},
    stats,
    ty::Type,
};

/// Computes the cost of each operation of a module.
#[derive(Clone, Debug)]
pub struct Costs {
    /// The extents of all symbols.
    bindings: Bindings,
    /// The arithmetic operations of the whole program.
    total: f64,
    /// The number of times that the module runs.
    times: f64,
}

/// The cost of one operation.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Its part of the arithmetic of the whole program, from 0 to 1.
    pub share: f64,
    /// The bytes of its result. Those of a call are of all its results.
    pub bytes: f64,
}

impl Costs {
    /// The costs in a program whose symbols have these extents.
    pub fn of(module: &Module, bindings: Bindings) -> Self {
        let mut costs = Self { bindings, total: 1.0, times: 1.0 };
        costs.total = stats::flops(module).ok().and_then(|flops| costs.value(&flops)).unwrap_or(0.0);
        costs
    }

    /// The costs of the operations in the module of a loop, which runs once per step.
    pub fn inside(&self, module: &Module, inst: &Inst) -> Self {
        let steps = super::steps(module, inst).and_then(|steps| self.value(steps));
        Self { times: self.times * steps.unwrap_or(1.0), ..self.clone() }
    }

    /// The cost of an operation. An extent that is unknown or too large counts as 0.
    pub fn cost(&self, module: &Module, inst: &Inst) -> Cost {
        let operands: Vec<&Type> = inst.operands.iter().map(|operand| module.ty(*operand)).collect();
        let flops = (inst.op.info().flops)(&inst.op, &operands, &inst.ty).ok();
        let flops = flops.and_then(|flops| self.value(&flops)).unwrap_or(0.0);
        let share = if self.total > 0.0 { flops * self.times / self.total } else { 0.0 };
        let bytes = match super::called(inst) {
            Some(function) => function.outputs().iter().map(|output| self.bytes(function.ty(*output))).sum(),
            None => self.bytes(&inst.ty),
        };
        Cost { share, bytes }
    }

    fn bytes(&self, ty: &Type) -> f64 {
        let elements = ty.shape.element_count().ok().and_then(|count| self.value(&count)).unwrap_or(0.0);
        elements * ty.dtype.bytes() as f64
    }

    fn value(&self, dim: &Dim) -> Option<f64> {
        dim.substitute(&self.bindings).ok()?.as_literal().map(|value| value as f64)
    }
}

impl Cost {
    /// The cost as a line of a box, such as `41 % of arithmetic, 64 kB`.
    pub fn line(&self) -> String {
        let bytes = bytes(self.bytes);
        if self.share < 0.005 { bytes } else { format!("{:.0} % of work, {bytes}", 100.0 * self.share) }
    }
}

/// A number of bytes with a decimal prefix and two digits or more.
fn bytes(bytes: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes < 10.0 * unit => format!("{:.1} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.0} {name}", bytes / unit),
        None => format!("{bytes:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_have_decimal_prefixes() {
        let shown = [0.0, 999.0, 1000.0, 65_536.0, 2_500_000.0, 3e12].map(bytes);
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "66 kB", "2.5 MB", "3000 GB"]);
    }
}
