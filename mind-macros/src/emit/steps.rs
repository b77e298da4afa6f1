//! Emits the function that runs a plan, as Rust text. Each step takes its buffers from the arenas, and is a call or a
//! loop.

use std::{collections::HashMap, fmt::Write, mem};

use mind_core::{
    dim::{Dim, Symbol},
    ir::ValueId,
    plan::{
        BufferId, Condition, Integers, KernelOperand, Location, Plan, Returned, ScalarStep, Seen, Source,
        Step, Strips, View, Walk, Watch,
    },
    ty::DType,
};

use super::{
    body::{Body, expression, extents_of_symbols, generics, input_type, new_value, sizes},
    call,
    extent::{Arithmetic, extent, grouped, symbol_variable},
    iteration,
    names::Names,
    nest,
    outline::{self, Emitted, Lengths},
    product, profile,
    watched::WatchedText,
};

/// The function that runs the steps if `run` chooses between it and a function that is not generic.
const STEPS: &str = "run_steps";

/// The crates that compile a function whose extents only run time knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compiled {
    /// Each crate that calls it, so that it can be inlined.
    InEachCrate,
    /// The crate that contains it.
    Once,
}

/// The text of `fn run`, generic over the symbols.
pub(super) fn run(
    plan: &Plan,
    function: &str,
    wishes: &dyn Fn(ValueId) -> Option<String>,
    watched_text: &dyn Fn(ValueId) -> WatchedText,
    lengths: Lengths,
    compiled: Compiled,
) -> String {
    let is_once = compiled == Compiled::Once && !plan.symbols.is_empty();
    let mut names = Names::new();
    let of_strips = plan.steps.iter().filter_map(Step::strips).flat_map(Strips::symbols);
    let mut all: Vec<&Symbol> = plan.symbols.iter().chain(of_strips).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().for_each(|symbol| _ = names.fresh(&symbol_variable(symbol)));
    let inputs: Vec<String> = plan.inputs.iter().map(|input| names.fresh(&input.name)).collect();
    inputs.iter().for_each(|input| _ = names.fresh(&new_value(input)));
    let results = (0..plan.results.len()).map(|result| names.fresh(&format!("result_{result}"))).collect();
    let mut body = Body {
        plan,
        symbols: plan.symbols.clone(),
        function,
        wishes,
        watched_text,
        names,
        buffers: HashMap::new(),
        locals: HashMap::new(),
        inputs,
        results,
        arenas: HashMap::new(),
        scratch: HashMap::new(),
        convolutions: 0,
        loops: 0,
        text: String::new(),
    };
    body.signature(if is_once { STEPS } else { "run" });
    body.read_updated_numbers();
    body.split_workspace();
    if plan.steps.iter().any(|step| matches!(step, Step::Watch { watch: Watch::Search(_), .. })) {
        let run = body.names.fresh("watched");
        let _ = writeln!(body.text, "let {run} = rt::watch::begin({:?});", format!("`{function}`"));
    }
    let head = mem::take(&mut body.text);
    let titles = profile::wanted().then(|| profile::titles(&body));
    let mut steps = Vec::new();
    for (position, step) in plan.steps.iter().enumerate() {
        match &titles {
            Some(titles) => profile::step(&mut body, position, &titles[position], step),
            None => body.step(step),
        }
        steps.push(Emitted { step, text: mem::take(&mut body.text) });
    }
    body.text = head + &outline::text(&body, &steps, lengths);
    body.returned();
    body.text.push_str("}\n");
    if is_once {
        body.text.push_str(&body.run_of_any_extents());
    }
    body.text
}

impl Body<'_> {
    /// The head of the function `name`, which runs the steps.
    fn signature(&mut self, name: &str) {
        let (generics, result) = (generics(self.plan), self.result_type());
        let _ = write!(
            self.text,
            "#[allow(unused, clippy::all, clippy::pedantic)]\n#[inline]\npub(super) fn {name}{generics}(sizes: {}, ",
            sizes(self.plan)
        );
        for (name, ty) in self.parameters() {
            let _ = write!(self.text, "{name}: {ty}, ");
        }
        let _ = writeln!(self.text, ") -> {result} {{");
        self.text.push_str(&extents_of_symbols(self.plan));
    }

    /// The parameters after the sizes, with their types.
    fn parameters(&self) -> Vec<(String, String)> {
        let inputs = self.plan.inputs.iter().zip(&self.inputs).map(|(input, name)| {
            match (input.ty.rank(), input.updated) {
                (0, true) => (new_value(name), format!("&mut {}", input.ty.dtype)),
                _ => (name.clone(), input_type(input)),
            }
        });
        let results = self.plan.results.iter().zip(&self.results).filter(|(result, _)| result.rank() > 0);
        let results = results.map(|(result, name)| (name.clone(), format!("&mut [{}]", result.dtype)));
        let workspace = ("workspace".to_owned(), "rt::Segments<'_>".to_owned());
        inputs.chain(results).chain([workspace]).collect()
    }

    fn result_type(&self) -> String {
        let scalars = self.plan.results.iter().filter(|result| result.rank() == 0);
        let scalars: String = scalars.map(|result| format!("{},", result.dtype)).collect();
        format!("::core::result::Result<({scalars}), rt::Error>")
    }

    /// The function `run` where another function, [`STEPS`], runs the steps. If only run time knows the extents, it
    /// calls a function that is not generic, and so is compiled once, in the crate that contains it.
    fn run_of_any_extents(&self) -> String {
        let (symbols, generics, result) = (&self.plan.symbols, generics(self.plan), self.result_type());
        let (mut parameters, mut arguments) = (String::new(), String::new());
        for (name, ty) in self.parameters() {
            let _ = write!(parameters, "{name}: {ty}, ");
            let _ = write!(arguments, "{name}, ");
        }
        let are_unknown: Vec<_> =
            symbols.iter().map(|symbol| format!("{symbol}::STATIC.is_none()")).collect();
        let extents: String = (0..symbols.len()).map(|at| format!("sizes.{at}.extent(),")).collect();
        let (are_unknown, any) = (are_unknown.join(" && "), "usize,".repeat(symbols.len()));
        format!(
            "#[allow(unused, clippy::all, clippy::pedantic)]\n#[inline]\n\
             pub(super) fn run{generics}(sizes: {}, {parameters}) -> {result} {{\n\
             if const {{ {are_unknown} }} {{ run_of_any_extents(({extents}), {arguments}) }} \
             else {{ {STEPS}(sizes, {arguments}) }}\n}}\n\
             #[allow(unused, clippy::all, clippy::pedantic)]\n\
             fn run_of_any_extents(sizes: ({any}), {parameters}) -> {result} {{ {STEPS}(sizes, {arguments}) }}\n",
            sizes(self.plan)
        )
    }

    /// Reads updated numbers once, before anything is written.
    fn read_updated_numbers(&mut self) {
        for (input, name) in self.plan.inputs.iter().zip(&self.inputs) {
            if input.updated && input.ty.rank() == 0 {
                let _ = writeln!(self.text, "let {name} = *{};", new_value(name));
            }
        }
    }

    fn split_workspace(&mut self) {
        for dtype in DType::ALL {
            let scratch = self.names.fresh(&format!("scratch_{dtype}"));
            let _ = match self.plan.arenas.iter().find(|arena| arena.dtype == dtype) {
                Some(arena) => {
                    let (len, arena) = (self.extent(&arena.len), self.names.fresh(&format!("arena_{dtype}")));
                    let split = format!("workspace.{dtype}.split_at_mut({len})");
                    let text = writeln!(self.text, "let ({arena}, {scratch}) = {split};");
                    self.arenas.insert(dtype, arena);
                    text
                }
                None => writeln!(self.text, "let {scratch} = workspace.{dtype};"),
            };
            self.scratch.insert(dtype, scratch);
        }
    }

    /// Borrows the temporaries that a step uses from their arenas, and the parts of results. Temporaries at one offset
    /// share a variable.
    fn take_temporaries(&mut self, used: &[BufferId]) {
        for dtype in DType::ALL {
            let mut taken: Vec<(Dim, Vec<BufferId>)> = Vec::new();
            for buffer in used {
                let known = &self.plan.buffers[buffer.0];
                let Some(offset) = self.plan.arena_offset(*buffer) else { continue };
                if known.ty.dtype != dtype {
                    continue;
                }
                match taken.iter_mut().find(|(start, _)| *start == offset) {
                    Some((_, buffers)) if buffers.contains(buffer) => {}
                    Some((_, buffers)) => buffers.push(*buffer),
                    None => taken.push((offset, vec![*buffer])),
                }
            }
            let Some(arena) = self.arenas.get(&dtype).filter(|_| !taken.is_empty()).cloned() else {
                continue;
            };
            let (mut names, mut ranges) = (String::new(), String::new());
            for (start, buffers) in taken {
                let known = &self.plan.buffers[buffers[0].0];
                let name = self.buffers.get(&buffers[0]).cloned();
                let name = name.unwrap_or_else(|| self.names.fresh(&self.preferred_name(known.value)));
                buffers.iter().for_each(|buffer| _ = self.buffers.insert(*buffer, name.clone()));
                let count = known.ty.shape.element_count();
                let count = count.expect("a verified type has a countable number of elements");
                let end = start.add(&count).unwrap_or(Dim::literal(i64::MAX));
                let _ = write!(names, "{name}, ");
                let _ =
                    write!(ranges, "{}..{}, ", grouped(&self.extent(&start)), grouped(&self.extent(&end)));
            }
            let _ = writeln!(self.text, "let [{names}] = rt::split(&mut *{arena}, [{ranges}]);");
        }
        self.take_parts(used);
    }

    fn take_parts(&mut self, used: &[BufferId]) {
        let mut of_whole: Vec<(BufferId, Vec<(BufferId, Dim)>)> = Vec::new();
        for buffer in used {
            let Location::Part { of, from } = &self.plan.buffers[buffer.0].place else { continue };
            if self.plan.arena_offset(*buffer).is_some() {
                continue;
            }
            let part = (*buffer, from.clone());
            match of_whole.iter_mut().find(|(whole, _)| whole == of) {
                Some((_, parts)) if parts.contains(&part) => {}
                Some((_, parts)) => parts.push(part),
                None => of_whole.push((*of, vec![part])),
            }
        }
        for (whole, parts) in of_whole {
            let (mut names, mut ranges) = (String::new(), String::new());
            for (buffer, from) in parts {
                let known = &self.plan.buffers[buffer.0];
                let count = known.ty.shape.element_count();
                let count = count.expect("a verified type has a countable number of elements");
                let name = self.names.fresh(&self.preferred_name(known.value));
                let (from, count) = (grouped(&self.extent(&from)), grouped(&self.extent(&count)));
                let _ = write!(names, "{name}, ");
                let _ = write!(ranges, "{from}..{from} + {count}, ");
                self.buffers.insert(buffer, name);
            }
            let whole = self.write(whole);
            let _ = writeln!(self.text, "let [{names}] = rt::split(&mut {whole}[..], [{ranges}]);");
        }
    }

    /// Emits loops over strips, with the steps of one strip as the body.
    fn strips(&mut self, strips: &Strips) {
        for sum in &strips.sums {
            self.take_temporaries(&[*sum]);
            let sum = self.write(*sum);
            let _ = writeln!(self.text, "{sum}.fill(Default::default());");
        }
        let known = self.symbols.len();
        let seen = strips.seen.as_ref().map(|seen| (seen, self.names.fresh("is_seen")));
        if let Some((Seen { finite, .. }, is_finite)) = &seen {
            self.take_temporaries(finite);
            let all = finite.iter().map(|buffer| format!("rt::are_finite(&{}[..])", self.read(*buffer)));
            let all = all.reduce(|all, one| format!("{all} && {one}")).unwrap_or_else(|| "true".to_owned());
            let _ = writeln!(self.text, "let {is_finite} = {all};");
        }
        for Walk { at, extent } in &strips.outer {
            let (at, extent) = (symbol_variable(at), self.extent(extent));
            let _ = writeln!(self.text, "for {at} in 0..{extent} {{");
        }
        let Walk { at, extent } = &strips.cut;
        let (at, extent, most) = (symbol_variable(at), self.extent(extent), strips.most);
        let _ = writeln!(self.text, "for {at} in (0..{extent}).step_by({most}) {{");
        if let Some(len) = strips.len.as_symbol() {
            let len = symbol_variable(len);
            let _ = writeln!(self.text, "let {len} = ::core::cmp::Ord::min({most}, {extent} - {at});");
        }
        if let Some((Seen { len, ahead, columns, .. }, is_finite)) = &seen {
            let (len, rows) = (symbol_variable(len), self.extent(&strips.len));
            let seen = format!("::core::primitive::usize::saturating_add_signed({at} + {rows}, {ahead})");
            let _ = writeln!(
                self.text,
                "let {len} = if {is_finite} {{ ::core::cmp::Ord::clamp({seen}, 1, {columns}) }} else {{ {columns} }};"
            );
        }
        let sizes = (0..known).map(|position| format!("sizes.{position}, "));
        let own = strips.symbols().map(|symbol| format!("{}, ", symbol_variable(symbol)));
        let sizes: String = sizes.chain(own).collect();
        let _ = writeln!(self.text, "let sizes = ({sizes});");
        self.symbols.extend(strips.symbols().cloned());
        strips.steps.iter().for_each(|step| self.step(step));
        self.symbols.truncate(known);
        strips.outer.iter().for_each(|_| self.text.push('}'));
        self.text.push_str("}\n");
    }

    pub(super) fn step(&mut self, step: &Step) {
        if let Step::Strips(strips) = step {
            return self.strips(strips);
        }
        let mut used = Vec::new();
        step.for_each_buffer(|buffer| used.push(buffer));
        self.take_temporaries(&used);
        match step {
            Step::Strips(_) => unreachable!("it has just returned"),
            Step::Scalar(step) => self.scalar(step),
            Step::Load { result, from } => {
                let Source::Buffer(buffer) = from.source else {
                    unreachable!("single numbers are not loaded")
                };
                let dtype = self.plan.buffers[buffer.0].ty.dtype;
                let (buffer, at) = (self.read(buffer), extent(&from.offset, Arithmetic::Plain));
                self.define_local(*result, dtype, &format!("{buffer}[{at}]"));
            }
            Step::Nest(nest) => nest::emit(self, nest),
            Step::MatMul(product) => product::matmul(self, product),
            Step::Dot { result, operands: [lhs, rhs] } => {
                let len = self.extent(&lhs.shape[0]);
                let dtype = self.dtype(lhs);
                let (lhs, rhs) = (self.vector(lhs), self.vector(rhs));
                self.define_local(*result, dtype, &format!("rt::dot({len}, {lhs}, {rhs})"));
            }
            Step::Check { integers, must } => {
                let (integers, function) = (self.integers(integers), self.function);
                let call = match must {
                    Condition::BeBelow(extent) => {
                        format!("rt::check_indices({integers}, {}, {function:?})", self.extent(extent))
                    }
                    Condition::Divide => format!("rt::check_divisors({integers}, {function:?})"),
                };
                let _ = writeln!(self.text, "{call}?;");
            }
            Step::Call(call) => call::emit(self, call),
            Step::Loop(of) => iteration::emit(self, of),
            Step::Conv2d(convolution) => product::conv2d(self, convolution),
            Step::Watch { watch, argument } => self.watch(watch, argument),
            Step::Update { from, to } => {
                let (from, to) = (self.read(*from), self.write(*to));
                let _ = writeln!(self.text, "{to}.copy_from_slice({from});");
            }
            Step::UpdateScalar { from, input } => {
                let from = self.scalar_text(from);
                let _ = writeln!(self.text, "*{} = {from};", new_value(&self.inputs[*input]));
            }
        }
    }

    fn watch(&mut self, watch: &Watch, argument: &KernelOperand) {
        let (dims, elements) = match argument {
            KernelOperand::Tensor(buffer, ty) => {
                let dims: String = ty.shape.iter().map(|dim| self.extent(dim) + ", ").collect();
                (format!("&[{dims}]"), format!("&{}[..]", self.read(*buffer)))
            }
            KernelOperand::Scalar(scalar, dtype) => {
                ("&[]".to_owned(), format!("&[{}] as &[{dtype}]", self.scalar_text(scalar)))
            }
        };
        let call = match watch {
            Watch::Show(label) => format!("show({label:?}, {dims}, {elements})"),
            Watch::Search(search) => {
                let is_given = search.made_of.is_empty() && search.value.index() < self.plan.inputs.len();
                let watched = (self.watched_text)(search.value).watched(search, is_given);
                format!("search({dims}, {elements}, {watched})")
            }
        };
        let _ = writeln!(self.text, "rt::watch::{call};");
    }

    fn scalar(&mut self, step: &ScalarStep) {
        let operands: Vec<_> = step.operands.iter().map(|operand| self.scalar_text(operand)).collect();
        let text = expression(step.op, &operands, step.dtype, "rt");
        self.define_local(step.result, step.dtype, &text);
    }

    fn vector(&self, view: &View) -> String {
        let data = self.read(view.buffer().expect("operands of a product are in memory"));
        let (offset, stride) = (self.extent(&view.offset), self.extent(&view.strides[0]));
        format!("({data}, {offset}, {stride})")
    }

    fn integers(&self, integers: &Integers) -> String {
        match integers {
            Integers::Buffer(buffer) => self.read(*buffer),
            Integers::Scalar(scalar, _) => format!("&[{}]", self.scalar_text(scalar)),
        }
    }

    fn returned(&mut self) {
        let scalars = self.plan.returned.iter().filter_map(|returned| match returned {
            Returned::Scalar(scalar) => Some(format!("{},", self.scalar_text(scalar))),
            Returned::Buffer(_) => None,
        });
        let scalars: String = scalars.collect();
        let _ = writeln!(self.text, "::core::result::Result::Ok(({scalars}))");
    }
}
