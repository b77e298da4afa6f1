//! Shared by the tests of open programs.

use mind_core::{
    canon::canonicalise,
    interp::{Array, Elements, run},
    ir::Module,
    open::{self, Program},
    ops::Profile,
    testing::{Random, leaf_types, open_program},
    ty::{DType, Type},
    verify::verify,
};

/// Values of leaves, by name.
pub type Arguments = Vec<(String, Array)>;

/// The program of an expression, which must be valid.
pub fn program(source: &str) -> Program {
    open_program(source).unwrap_or_else(|diags| panic!("{source}\n{diags}"))
}

/// The module of a program whose leaves have these types.
pub fn module(program: &Program, types: &[(String, Type)]) -> Module {
    let types = leaf_types(program, types).expect("every leaf has a type");
    open::instantiate(program, &types).unwrap_or_else(|diag| panic!("{program}\n{diag}"))
}

/// The results of a module, which must verify.
pub fn results(module: Module, arguments: &[Array]) -> Vec<Array> {
    let verified = verify(module, Profile::Extended).unwrap_or_else(|errors| panic!("{errors:?}"));
    run(&canonicalise(verified), arguments).unwrap()
}

/// The arguments of a program, looked up by name.
pub fn arguments_of(program: &Program, arguments: &Arguments) -> Vec<Array> {
    let value = |name: &str| arguments.iter().find(|(known, _)| known == name).unwrap().1.clone();
    program.leaves.iter().map(|leaf| value(&leaf.text)).collect()
}

/// The results of an expression.
pub fn evaluate(source: &str, types: &[(String, Type)], arguments: &Arguments) -> Vec<Array> {
    let program = program(source);
    results(module(&program, types), &arguments_of(&program, arguments))
}

/// Random values: floats from -2 to 2, integers from 0 to 2.
pub fn sampled(types: &[(String, Type)], random: &mut Random) -> Arguments {
    types.iter().map(|(name, ty)| (name.clone(), value(ty, random))).collect()
}

pub fn value(ty: &Type, random: &mut Random) -> Array {
    let shape: Vec<usize> =
        ty.shape.as_literals().unwrap().into_iter().map(|extent| usize::try_from(extent).unwrap()).collect();
    let count: usize = shape.iter().product();
    let mut float = || random.below(4_001) as f64 / 1_000.0 - 2.0;
    let elements: Elements = match ty.dtype {
        DType::F32 => (0..count).map(|_| float() as f32).collect::<Vec<_>>().into(),
        DType::F64 => (0..count).map(|_| float()).collect::<Vec<_>>().into(),
        DType::U8 => (0..count).map(|_| random.below(1) as u8).collect::<Vec<_>>().into(),
        DType::I32 => (0..count).map(|_| random.below(1) as i32).collect::<Vec<_>>().into(),
        DType::I64 => vec![0_i64; count].into(),
        DType::Bool => (0..count).map(|_| random.below(2) == 1).collect::<Vec<_>>().into(),
    };
    Array::new(shape, elements)
}

/// Reads `x: f64[2, 3], i: i64[3]`.
pub fn types(text: &str) -> Vec<(String, Type)> {
    let closure = format!("|{text}| 0");
    let (closure, diags) = mind_core::surface::parse_closure(closure.parse().unwrap());
    assert!(diags.is_empty(), "{text}");
    let parameters = closure.unwrap().parameters;
    let source = format!("fn f({text}) -> i64 {{ 0 }}");
    let (block, _) = mind_core::surface::parse(source.parse().unwrap());
    let (lowered, diags) = mind_core::surface::lower(&block);
    assert!(diags.is_empty(), "{text}: {diags:?}");
    let types =
        lowered.functions[0].parameters.iter().map(|parameter| parameter.structure.leaves()[0].clone());
    parameters.iter().map(|parameter| parameter.name.to_string()).zip(types).collect()
}
