//! The verifier detects bodies that were broken on purpose.

use mind_knossos::{
    FunctionId, Program, check,
    ir::{BlockId, Body, Definition, Instruction, Operation, ValueId},
    print,
    types::{Type, TypeId},
    verify,
};

/// A function with every kind of instruction that programs and derivatives contain.
const PROGRAM: &str = "
    (def f Float ((v : Vec Float) (t : Tuple Float Integer))
      (let ((a (fold (lam (ax : (Tuple Float Float)) (sin (mul (get$1$2 ax) (get$2$2 ax)))) 1.0 v))
            ((p q) (unzip (map (lam (x : Float) (if (gt x 0.0) (tuple x (mul x x)) (tuple a x))) v)))
            (r (buildFromSparse (shape p) 2 (lam (i : Integer) (tuple i (index i q)))))
            (s (ts_scale a (ts_add p (ts_neg r)))))
        (assert (eq (size s) (size v)) (add (ts_dot s p) (max (Vec_init (get$1$2 t) (sumbuild 2 (lam (i : Integer) a))))))))
    (def g Float (v : Vec Float) (let (n (print v)) (f v (tuple (mul 2.0 n) n))))
    (gdef rev g)
    (gdef fwd [rev g])
    (gdef shape g)
    (gdef suffwdpass g)";

fn program() -> Program {
    check(PROGRAM).unwrap_or_else(|diags| panic!("{:?}", diags.as_slice()))
}

fn body(program: &mut Program, function: usize) -> Option<&mut Body> {
    match &mut program.functions[function].definition {
        Definition::Defined(body) => Some(body),
        Definition::Declared | Definition::Bound(_) | Definition::Pending(..) | Definition::Wrong => None,
    }
}

/// Every instruction, by function, block and position.
fn instructions(program: &Program) -> Vec<(usize, usize, usize)> {
    let mut all = Vec::new();
    for (function, known) in program.functions.iter().enumerate() {
        let Definition::Defined(body) = &known.definition else { continue };
        for (block, instructions) in body.blocks.iter().enumerate() {
            all.extend((0..instructions.instructions.len()).map(|position| (function, block, position)));
        }
    }
    all
}

/// Breaks one instruction after the other, each in a separate copy of the program, and expects a fault in the function.
fn each_is_found(what: &str, break_it: impl Fn(&mut Program, usize, usize, usize) -> bool) {
    let sound = program();
    assert_eq!(verify(&sound), Ok(()));
    let mut count = 0;
    for (function, block, position) in instructions(&sound) {
        let mut broken = sound.clone();
        if !break_it(&mut broken, function, block, position) {
            continue;
        }
        count += 1;
        let faults = verify(&broken).err().unwrap_or_default();
        let name = &broken.functions[function].name;
        assert!(
            faults.iter().any(|fault| fault.function == *name),
            "{what}: instruction {position} of block {block} of {name}:\n{}",
            print(&broken)
        );
    }
    assert!(count > 50, "{what}: {count}");
}

fn instruction(program: &mut Program, function: usize, block: usize, position: usize) -> &mut Instruction {
    let body = body(program, function).expect("it has a body");
    &mut body.blocks[block].instructions[position]
}

/// Whether a block is executed. Derivatives leave some unused blocks.
fn is_run(program: &Program, function: usize, block: usize) -> bool {
    let Definition::Defined(body) = &program.functions[function].definition else { return false };
    fn runs(body: &Body, at: BlockId, block: BlockId) -> bool {
        let inner = body.block(at).instructions.iter().flat_map(|instruction| instruction.operation.blocks());
        at == block || inner.into_iter().any(|inner| runs(body, inner, block))
    }
    runs(body, body.entry, BlockId::new(block))
}

#[test]
fn results_of_other_types_are_found() {
    each_is_found("the result is a string", |program, function, block, position| {
        let made = instruction(program, function, block, position);
        let (value, literal) = (made.result, matches!(made.operation, Operation::String(_)));
        body(program, function).expect("it has a body").values[value.index()].ty = TypeId::STRING;
        !literal && is_run(program, function, block)
    });
}

#[test]
fn missing_operands_are_found() {
    each_is_found("an operand is missing", |program, function, block, position| {
        let made = instruction(program, function, block, position);
        let any_count =
            matches!(made.operation, Operation::Print | Operation::VecInit) && made.operands.len() > 1;
        made.operands.pop().is_some()
            && !any_count
            && made.operation != Operation::Print
            && is_run(program, function, block)
    });
}

#[test]
fn values_used_before_they_are_made_are_found() {
    each_is_found("it stands after what uses it", |program, function, block, position| {
        let made = instruction(program, function, block, position).clone();
        let body = body(program, function).expect("it has a body");
        let used = {
            let rest = &body.blocks[block].instructions[position + 1..];
            rest.iter().any(|later| later.operands.contains(&made.result))
        };
        let instructions = &mut body.blocks[block].instructions;
        instructions.remove(position);
        instructions.push(made);
        used && is_run(program, function, block)
    });
}

#[test]
fn values_made_twice_are_found() {
    each_is_found("it is there twice", |program, function, block, position| {
        let made = instruction(program, function, block, position).clone();
        body(program, function).expect("it has a body").blocks[block].instructions.push(made);
        is_run(program, function, block)
    });
}

#[test]
fn values_of_blocks_that_have_ended_are_found() {
    each_is_found("it is used outside of its block", |program, function, block, position| {
        let value = instruction(program, function, block, position).result;
        let body = body(program, function).expect("it has a body");
        if block == body.entry.index() || !matches!(body.values[value.index()].ty, TypeId::FLOAT) {
            return false;
        }
        let (result, operands) = (ValueId::new(body.values.len()), vec![value]);
        body.values.push(body.values[value.index()].clone());
        let operation = Operation::Scalar(mind_knossos::scalars::Scalar::NegF);
        let place = Default::default();
        let entry = body.entry.index();
        body.blocks[entry].instructions.push(Instruction { result, operation, operands, place });
        is_run(program, function, block)
    });
}

/// The accumulators of the first derivative that creates one.
fn with_accumulator(program: &mut Program) -> (usize, usize, Vec<usize>) {
    for (function, block, _) in instructions(program) {
        let body = body(program, function).expect("it has a body");
        let instructions = &body.blocks[block].instructions;
        let accumulator = instructions.iter().find(|made| made.operation == Operation::Accumulator);
        if let Some(accumulator) = accumulator.map(|made| made.result) {
            let uses =
                |made: &Instruction| made.operands.contains(&accumulator) || made.result == accumulator;
            let uses: Vec<_> = (0..instructions.len()).filter(|at| uses(&instructions[*at])).collect();
            if uses.iter().any(|at| instructions[*at].operation == Operation::Read) {
                return (function, block, uses);
            }
        }
    }
    panic!("no derivative has an accumulator");
}

fn messages(program: &Program) -> Vec<String> {
    verify(program).err().unwrap_or_default().into_iter().map(|fault| fault.message).collect()
}

#[test]
fn accumulators_that_are_read_twice_are_found() {
    let mut program = program();
    let (function, block, uses) = with_accumulator(&mut program);
    let body = body(&mut program, function).expect("it has a body");
    let read = uses.iter().find(|at| body.blocks[block].instructions[**at].operation == Operation::Read);
    let mut again = body.blocks[block].instructions[*read.expect("it is read")].clone();
    body.values.push(body.values[again.result.index()].clone());
    again.result = ValueId::new(body.values.len() - 1);
    body.blocks[block].instructions.push(again);
    assert!(messages(&program).iter().any(|message| message.contains("after it was read")));
}

#[test]
fn accumulators_that_are_values_are_found() {
    let mut program = program();
    let (function, block, uses) = with_accumulator(&mut program);
    let result = TypeId::INTEGER;
    let body = body(&mut program, function).expect("it has a body");
    let accumulator = body.blocks[block].instructions[uses[0]].result;
    body.values.push(mind_knossos::ir::ValueDef { ty: result, name: None });
    let result = ValueId::new(body.values.len() - 1);
    let made = Instruction {
        result,
        operation: Operation::Print,
        operands: vec![accumulator],
        place: Default::default(),
    };
    body.blocks[block].instructions.insert(uses[0] + 1, made);
    assert_eq!(messages(&program), ["print: an accumulator is used as a value"]);
}

#[test]
fn calls_with_parts_of_one_accumulator_are_found() {
    let mut program = program();
    let held = program.types.intern(Type::Accumulator(TypeId::FLOAT));
    let call = instructions(&program).into_iter().find(|(function, block, position)| {
        let Definition::Defined(body) = &program.functions[*function].definition else { return false };
        let made = &body.blocks[*block].instructions[*position];
        let given = made.operands.iter().filter(|operand| body.ty(**operand) == held).count();
        matches!(made.operation, Operation::Call(_)) && given > 0
    });
    let (function, block, position) = call.expect("a pullback takes an accumulator of a Float");
    let made = instruction(&mut program, function, block, position);
    let Operation::Call(callee) = made.operation else { panic!("it is a call") };
    let body = body(&mut program, function).expect("it has a body");
    let made = &mut body.blocks[block].instructions[position];
    let values = &body.values;
    let first = made.operands.iter().copied().find(|operand| values[operand.index()].ty == held);
    made.operands.push(first.expect("one is there"));
    let callee: FunctionId = callee;
    let parameters = &mut program.functions[callee.index()].parameters;
    *parameters = parameters.iter().copied().chain([held]).collect();
    assert!(messages(&program).contains(&"call: two operands are parts of one accumulator".into()));
}
