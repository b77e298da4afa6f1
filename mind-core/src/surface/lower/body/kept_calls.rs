//! Calls that stay calls, for pictures. The body of the callee is lowered among the instructions around it, as always,
//! and then moved to a module of its own. The arguments that it reads become the operands of the call.

use std::collections::{BTreeMap, BTreeSet};

use super::lowering::{BodyLowering, Frame};
use crate::build::{extracted, free_names};
use crate::ir::{Inst, Module, Nested, Nesting, Op, Own, ValueId};
use crate::surface::ast::ExprId;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::{Record, Value};

/// The new values of results that moved to a module.
type Moved = BTreeMap<ValueId, ValueId>;

impl<'a> BodyLowering<'a> {
    /// Begins the body of a template, whose arguments have been bound.
    pub(super) fn begin_call(&mut self) {
        let start = self.builder.insts().len();
        self.frames.last_mut().expect("the template was entered").form_data.start = start;
    }

    /// Ends the body of a template. Returns its value after the call.
    pub(super) fn kept_call_of_template(&mut self, frame: &Frame<'a>, value: Value, leave: ExprId) -> Value {
        if !self.table.keeps_calls() || frame.site.is_none() {
            return value;
        }
        let mut inputs = Vec::new();
        for (parameter, argument) in frame.template.parameters.iter().zip(&frame.arguments) {
            name_tensors(self.value(*argument), &parameter.name.to_string(), &mut inputs);
        }
        for (parameter, value) in frame.parameters() {
            name_tensors(value, &parameter.name.to_string(), &mut inputs);
        }
        let versions = self.versions.iter().flat_map(Value::leaves);
        let outputs: Vec<ValueId> = value.leaves().into_iter().chain(versions).collect();
        let new = self.kept_call(&frame.name(), frame.form_data.start, inputs, outputs.clone(), leave);
        let moved: Moved = outputs.into_iter().zip(new).collect();
        self.versions.iter_mut().for_each(|version| *version = with_new_values(version, &moved));
        with_new_values(&value, &moved)
    }

    /// Moves the instructions from `start` on to the module of a call, if calls are kept. Returns the outputs after the
    /// call. `inputs` names the tensors of its parameters, in order.
    ///
    /// A call without operands or without a result of its own is left inlined, and so is one that would be nested too
    /// deep.
    pub(super) fn kept_call(
        &mut self,
        name: &str,
        start: usize,
        inputs: Vec<(ValueId, String)>,
        mut outputs: Vec<ValueId>,
        expr: ExprId,
    ) -> Vec<ValueId> {
        let own: BTreeSet<ValueId> =
            outputs.iter().copied().filter(|output| output.index() >= start).collect();
        if !self.table.keeps_calls() || own.is_empty() || self.is_extern(start) {
            return outputs;
        }
        // The first result stands first, so that the value of the call is the value of the function.
        let mut results: Vec<ValueId> = Vec::new();
        outputs.iter().filter(|output| own.contains(output)).for_each(|output| {
            if !results.contains(output) {
                results.push(*output);
            }
        });
        let (operands, module) = self.callee(start, inputs, &results);
        let nested = Nested::of_function(name, module).ok().filter(|_| !operands.is_empty());
        let Some(nested) = nested else { return outputs };
        let insts = self.cut_out(start);
        let call = self.builder.push(Op::Own(Own::Nesting(Nesting::Call(nested))), &operands);
        let moved = call.map(|first| self.further_results(first, &results));
        match moved {
            Ok(moved) => outputs.iter_mut().for_each(|output| *output = *moved.get(output).unwrap_or(output)),
            // It has more operands than an instruction takes.
            Err(_) => self.builder.restore(insts),
        }
        self.made.resize(self.builder.insts().len(), Some(expr));
        outputs
    }

    /// Whether the instructions from `start` on are a function that is defined elsewhere: its box has its name already.
    fn is_extern(&self, start: usize) -> bool {
        matches!(&self.builder.insts()[start..], [Inst { op: Op::Own(Own::External(_)), .. }])
    }

    /// The operands of a call, in the order of its parameters, and its module.
    fn callee(
        &self,
        start: usize,
        mut inputs: Vec<(ValueId, String)>,
        results: &[ValueId],
    ) -> (Vec<ValueId>, Module) {
        let body = &self.builder.insts()[start..];
        let read = body.iter().flat_map(|inst| inst.operands.iter());
        let mut read: BTreeSet<ValueId> = read.filter(|value| value.index() < start).copied().collect();
        // A tensor that is passed twice is one operand.
        inputs.retain(|(value, _)| read.remove(value));
        inputs.extend(read.into_iter().map(|value| (value, "x".to_owned())));
        let operands = inputs.iter().map(|(value, _)| *value).collect();
        let mut taken = BTreeSet::new();
        let inputs: Vec<_> = inputs
            .into_iter()
            .map(|(value, name)| {
                let name = free_names(&name, |name| taken.contains(name)).next().expect("some name is free");
                taken.insert(name.clone());
                (value, name, self.builder.ty(value).clone())
            })
            .collect();
        let insts = body.iter().enumerate().map(|(at, inst)| (ValueId::new(start + at), inst));
        (operands, extracted(inputs, insts, results))
    }

    /// Reads all results of a call, whose first is given.
    fn further_results(&mut self, first: ValueId, results: &[ValueId]) -> Moved {
        let mut moved = Moved::from([(results[0], first)]);
        for (at, result) in results.iter().enumerate().skip(1) {
            let value = self.builder.push(Op::further_result(at), &[first]);
            moved.insert(*result, value.expect("the call has this result"));
        }
        moved
    }
}

/// Names the tensors of a value after a parameter and its fields.
fn name_tensors(value: &Value, name: &str, names: &mut Vec<(ValueId, String)>) {
    match value {
        Value::Tensor(tensor) => names.push((*tensor, name.to_owned())),
        Value::Struct(record) => {
            for (field, value) in record.ty.field_names().zip(record.fields.iter()) {
                name_tensors(value, &format!("{name}.{field}"), names);
            }
        }
        Value::Tuple(tuple) => {
            for (at, value) in tuple.elements.iter().enumerate() {
                name_tensors(value, &format!("{name}.{at}"), names);
            }
        }
        Value::Poison | Value::Literal(_) | Value::Word(_) => {}
    }
}

/// The value with the new values of its tensors.
fn with_new_values(value: &Value, moved: &Moved) -> Value {
    match value {
        Value::Tensor(tensor) => Value::Tensor(*moved.get(tensor).unwrap_or(tensor)),
        Value::Tuple(tuple) => {
            let elements = tuple.elements.iter().map(|element| with_new_values(element, moved)).collect();
            Value::tuple(elements).expect("it is as large as it was")
        }
        Value::Struct(record) => {
            let fields = record.fields.iter().map(|field| with_new_values(field, moved)).collect();
            Value::Struct(Record { ty: record.ty.clone(), fields })
        }
        Value::Poison | Value::Literal(_) | Value::Word(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use crate::canon::canonicalise;
    use crate::ir::Module;
    use crate::ops::Profile;
    use crate::surface::lower::{Function, Lowered};
    use crate::surface::{golden, lower, lower_with_calls, parse};
    use crate::verify::verify;

    fn both(source: &str) -> (Lowered, Lowered) {
        let (program, _) = parse(source.parse().unwrap());
        let (inlined, diags) = lower(&program);
        let (kept, more) = lower_with_calls(&program);
        assert_eq!(diags.as_slice().len(), more.as_slice().len(), "{source}");
        (inlined, kept)
    }

    fn canonical(function: &Function) -> Option<Module> {
        let module = function.program.as_ref()?.module.clone();
        let verified = verify(module, Profile::Extended).unwrap_or_else(|errors| panic!("{errors:?}"));
        Some(canonicalise(verified).into_verified().into_module())
    }

    #[test]
    fn programs_with_kept_calls_are_the_same_programs() {
        let mut compared = 0;
        for file in ["lower/programs.txt", "lower/gradients.txt"] {
            for source in golden::sources(file) {
                let (inlined, kept) = both(&source);
                for (inlined, kept) in inlined.functions.iter().zip(&kept.functions) {
                    let (inlined, kept) = (canonical(inlined), canonical(kept));
                    // A product of a call in a loop stays in the loop.
                    let has_loop = inlined.iter().any(|module| module.nested().next().is_some());
                    if !has_loop {
                        assert_eq!(inlined, kept, "{source}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 50, "{compared}");
    }

    /// The calls of the last function, each with its parameters, its results and the calls in it.
    fn calls(source: &str) -> String {
        fn list(module: &Module, text: &mut String) {
            for nested in module.nested() {
                let Some(function) = nested.function() else {
                    list(nested, text);
                    continue;
                };
                let inputs: Vec<_> = nested.inputs().map(|(name, _)| &**name).collect();
                write!(text, "{function}({}): {} {{ ", inputs.join(", "), nested.outputs().len()).unwrap();
                list(nested, text);
                text.push_str("} ");
            }
        }
        let mut text = String::new();
        let (_, kept) = both(source);
        list(&kept.functions.last().unwrap().program.as_ref().unwrap().module, &mut text);
        text.trim_end().to_owned()
    }

    #[test]
    fn calls_have_the_names_of_functions_and_parameters() {
        let source = "fn f(x: f32[3]) -> f32[3] { nn::sigmoid(nn::softmax(x, axis = 0)) }";
        assert_eq!(calls(source), "nn::softmax(x): 1 { } nn::sigmoid(x): 1 { }");
        let source = "
            struct P<I, H> { w: f32[I, H], b: f32[H] }
            fn centred<T: float, ..B, N>(x: T[..B, N]) { let m = mean(x, axes = [-1], keepdims = true); (x - m, m) }
            fn layer<I, H>(x: f32[I], p: P<I, H>) -> f32[H] { let (y, _) = centred(x @ p.w + p.b); relu(y) }
            fn net<N>(xs: f32[N, 8], p: P<8, 8>) -> f32[N, 8] { for x in xs { layer(layer(x, p), p) } }";
        let layer = "layer(x, p.w, p.b): 1 { centred(x): 2 { } }";
        assert_eq!(calls(source), format!("{layer} {layer}"));
    }

    #[test]
    fn results_are_the_tensors_that_a_call_makes() {
        // The second result is an argument, and the third is the first again.
        let twice = "fn g(x: f32[3], y: f32[3]) -> (f32[3], f32[3], f32[3]) { let z = x * y; (z, x, z) }
            fn f(a: f32[3], b: f32[3]) -> f32[3] { let (x, y, z) = g(a, b); x + y + z }";
        assert_eq!(calls(twice), "g(x, y): 1 { }");
        let passed_twice =
            "fn g(x: f32[3], y: f32[3]) -> f32[3] { x * y } fn f(a: f32[3]) -> f32[3] { g(a, a) }";
        assert_eq!(calls(passed_twice), "g(x): 1 { }");
        let updated = "fn g(w: &mut f32[3], x: f32[3]) -> f32 { w += x; sum(w) }
            fn f(v: &mut f32[3], x: f32[3]) -> f32 { let a = g(v, x); a + sum(v) }";
        assert_eq!(calls(updated), "g(w, x): 2 { }");
        // Neither computes anything from its arguments.
        let trivial = "fn g(x: f32[3]) -> f32[3] { x } fn one() -> f32 { 1.0 } fn f(a: f32[3]) -> f32[3] { g(a) * one() }";
        assert_eq!(calls(trivial), "");
        let gradient =
            "fn g(x: f32[3]) -> f32 { sum(x * x) } fn f(a: f32[3]) -> f32[3] { grad(g, wrt = x)(a) }";
        assert_eq!(calls(gradient), "grad(g)(x): 1 { }");
    }

    #[test]
    fn calls_deeper_than_modules_may_be_are_inlined() {
        let mut source = "fn f0(x: f32) -> f32 { x * x }\n".to_owned();
        for i in 1..40 {
            source += &format!("fn f{i}(x: f32) -> f32 {{ f{}(x) + x }}\n", i - 1);
        }
        let (inlined, kept) = both(&source);
        assert_eq!(canonical(inlined.functions.last().unwrap()), canonical(kept.functions.last().unwrap()));
    }
}
