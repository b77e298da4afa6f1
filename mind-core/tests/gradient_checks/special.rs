//! Points where a derivative jumps, overflows or is chosen by convention, listed one by one.

use mind_core::{
    grad::differentiate,
    interp::Array,
    ir::{Arrange, Op, Reduction, Rows},
    map::Map,
    ops::Profile,
    reduce::Reduce,
    ty::{DType, Shape, Type},
};

use super::support::{FLOATS, PROFILES, build, every_float, filled, numbers, push, run, single, vector};

/// The gradient of an elementwise operation with the cotangent 1 everywhere.
fn slope(op: &Op, profile: Profile, dtype: DType, at: &[f64]) -> Vec<f64> {
    let module = single(op, &[Type::new(dtype, Shape::literal(&[at.len() as i64]))]);
    let gradient =
        differentiate(&module, &every_float(&module, profile)).expect("a differentiable operation");
    let outputs = run(&gradient.module, &[vector(dtype, at), vector(dtype, &vec![1.0; at.len()])]);
    numbers(&outputs[1])
}

/// Both gradients of a function with two operands, with the cotangent 1.
fn slopes_of_two(map: Map, dtype: DType, [lhs, rhs]: [&[f64]; 2]) -> [Vec<f64>; 2] {
    let ty = Type::new(dtype, Shape::literal(&[lhs.len() as i64]));
    let module = single(&Op::Map(map), &[ty.clone(), ty]);
    let gradient =
        differentiate(&module, &every_float(&module, Profile::Extended)).expect("a differentiable operation");
    let given = [vector(dtype, lhs), vector(dtype, rhs), vector(dtype, &vec![1.0; lhs.len()])];
    let outputs = run(&gradient.module, &given);
    [numbers(&outputs[1]), numbers(&outputs[2])]
}

#[test]
fn powers_have_gradients_at_zero() {
    let lhs = [0.0, 0.0, -0.0, 0.0, 0.0, 4.0, -3.0, 0.0];
    let rhs = [0.0, 1.0, 1.0, 2.0, 0.5, 0.0, 2.0, -1.0];
    for dtype in FLOATS {
        let [to_lhs, to_rhs] = slopes_of_two(Map::Pow, dtype, [&lhs, &rhs]);
        let infinite = f64::INFINITY;
        assert_bits(&to_lhs, &[0.0, 1.0, 1.0, 0.0, infinite, 0.0, -6.0, -infinite], "to the base");
        assert_bits(&to_rhs[..5], &[0.0; 5], "to the exponent");
        assert!((to_rhs[5] - 4_f64.ln()).abs() < 1e-6, "{}", to_rhs[5]);
        // A base below 0 has no logarithm.
        assert!(to_rhs[6].is_nan() && to_rhs[7] == -infinite, "{to_rhs:?}");
    }
}

fn assert_bits(found: &[f64], wanted: &[f64], what: &str) {
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(wanted), "{what}: {found:?} is not {wanted:?}");
}

#[test]
fn relu_has_slope_zero_at_zero_and_at_nan() {
    let at = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, -1.0];
    for profile in PROFILES {
        for dtype in FLOATS {
            let found = slope(&Op::Map(Map::Relu), profile, dtype, &at);
            assert_bits(&found, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0], &format!("{dtype} {profile:?}"));
        }
    }
}

#[test]
fn relu_slope_is_exactly_zero_or_one_at_every_f32_exponent() {
    let mantissas = [0, 1, 0x40_0000, 0x7f_ffff];
    let at: Vec<f64> = (0..255u32)
        .flat_map(|exponent| mantissas.map(|mantissa| f64::from(f32::from_bits(exponent << 23 | mantissa))))
        .flat_map(|x| [x, -x])
        .collect();
    assert_slopes_of_relu(DType::F32, &at);
}

#[test]
fn relu_slope_is_exactly_zero_or_one_at_every_f64_exponent() {
    let mantissas = [0, 1, 0x8_0000_0000_0000, 0xf_ffff_ffff_ffff];
    let at: Vec<f64> = (0..2047u64)
        .flat_map(|exponent| mantissas.map(|mantissa| f64::from_bits(exponent << 52 | mantissa)))
        .flat_map(|x| [x, -x])
        .collect();
    assert_slopes_of_relu(DType::F64, &at);
}

fn assert_slopes_of_relu(dtype: DType, at: &[f64]) {
    let wanted: Vec<f64> = at.iter().map(|x| if *x > 0.0 { 1.0 } else { 0.0 }).collect();
    for profile in PROFILES {
        assert_bits(
            &slope(&Op::Map(Map::Relu), profile, dtype, at),
            &wanted,
            &format!("{dtype} {profile:?}"),
        );
    }
}

#[test]
fn the_gradient_of_exp_is_its_result_to_the_bit_at_extremes() {
    let at = [
        0.0,
        -0.0,
        88.7,
        88.8,
        -87.4,
        -103.9,
        -104.1,
        f64::INFINITY,
        f64::NEG_INFINITY,
        709.7,
        709.8,
        -745.1,
        -745.2,
    ];
    for profile in PROFILES {
        for dtype in FLOATS {
            let module = single(&Op::Map(Map::Exp), &[Type::new(dtype, Shape::literal(&[at.len() as i64]))]);
            let result = numbers(&run(&module, &[vector(dtype, &at)])[0]);
            assert_bits(
                &slope(&Op::Map(Map::Exp), profile, dtype, &at),
                &result,
                &format!("{dtype} {profile:?}"),
            );
            assert!(slope(&Op::Map(Map::Exp), profile, dtype, &[f64::NAN])[0].is_nan());
        }
    }
}

#[test]
fn the_gradient_of_log_is_one_over_x_near_zero_and_at_the_largest_numbers() {
    // The documentation states these bounds for `exp(-y)`.
    let narrow = [
        f32::from_bits(0x0030_0000),
        f32::MIN_POSITIVE,
        1e-30,
        1e-3,
        0.999,
        1.0,
        1.001,
        1e30,
        8e37,
        f32::MAX / 4.0,
    ];
    let wide = [f64::MIN_POSITIVE, 1e-300, 1e-30, 1e-3, 0.999_999, 1.0, 1.000_001, 1e30, 1e300, 4e307];
    let narrow = narrow.map(f64::from);
    for (dtype, at, allowed) in
        [(DType::F32, narrow, 36.0 * f64::from(f32::EPSILON)), (DType::F64, wide, 256.0 * f64::EPSILON)]
    {
        for (found, x) in slope(&Op::Map(Map::Log), Profile::CoreV1, dtype, &at).into_iter().zip(at) {
            // The error of a subnormal result is absolute, not relative.
            let subnormal = if dtype == DType::F32 { 1e-38 } else { 1e-307 };
            assert!((found * x - 1.0).abs() <= allowed || found < subnormal, "{dtype}: {found:e} at {x:e}");
        }
        let wanted: Vec<f64> = at
            .iter()
            .map(|x| if dtype == DType::F32 { f64::from(1.0 / *x as f32) } else { 1.0 / x })
            .collect();
        assert_bits(&slope(&Op::Map(Map::Log), Profile::Extended, dtype, &at), &wanted, "1 / x");
    }
    for profile in PROFILES {
        for dtype in FLOATS {
            assert_bits(
                &slope(&Op::Map(Map::Log), profile, dtype, &[0.0, f64::INFINITY]),
                &[f64::INFINITY, 0.0],
                "ends",
            );
        }
    }
}

#[test]
fn the_gradient_of_log_below_zero_is_one_over_x_in_extended_and_nan_as_the_value_in_core_v1() {
    for dtype in FLOATS {
        assert_bits(
            &slope(&Op::Map(Map::Log), Profile::Extended, dtype, &[-4.0, -0.5]),
            &[-0.25, -2.0],
            "1 / x",
        );
        assert!(
            slope(&Op::Map(Map::Log), Profile::CoreV1, dtype, &[-4.0, -0.5])
                .iter()
                .all(|found| found.is_nan())
        );
    }
}

#[test]
fn cotangents_at_duplicate_gather_indices_accumulate() {
    for profile in PROFILES {
        for dtype in FLOATS {
            for index in [DType::I32, DType::I64] {
                let operands =
                    [Type::new(dtype, Shape::literal(&[4, 2])), Type::new(index, Shape::literal(&[2, 3]))];
                let module = single(&Op::Rows(Rows::Gather), &operands);
                let gradient = differentiate(&module, &every_float(&module, profile)).expect("gather");
                let table = filled(dtype, &[4, 2], |position| position as f64);
                let picked = filled(index, &[2, 3], |position| [3.0, 1.0, 3.0, 3.0, 0.0, 1.0][position]);
                let cotangent = filled(dtype, &[2, 3, 2], |position| 1.0 + position as f64);
                let outputs = run(&gradient.module, &[table, picked, cotangent]);
                assert_eq!(numbers(&outputs[1]), [9.0, 10.0, 14.0, 16.0, 0.0, 0.0, 13.0, 16.0]);
            }
        }
    }
}

#[test]
fn a_single_row_is_gathered_and_its_cotangent_put_back() {
    for profile in PROFILES {
        let operands = [Type::new(DType::F32, Shape::literal(&[5])), Type::scalar(DType::I32)];
        let module = single(&Op::Rows(Rows::Gather), &operands);
        let gradient = differentiate(&module, &every_float(&module, profile)).expect("gather");
        let arguments: [Array; 3] = [
            vector(DType::F32, &[1.0; 5]),
            filled(DType::I32, &[], |_| 3.0),
            filled(DType::F32, &[], |_| 7.0),
        ];
        assert_eq!(numbers(&run(&gradient.module, &arguments)[1]), [0.0, 0.0, 0.0, 7.0, 0.0]);
    }
}

#[test]
fn the_largest_numbers_pass_where_the_gradient_is_representable() {
    for profile in PROFILES {
        for (dtype, largest) in [(DType::F32, f64::from(f32::MAX)), (DType::F64, f64::MAX)] {
            for op in [
                Op::Map(Map::Neg),
                Op::Map(Map::Relu),
                Op::Arrange(Arrange::Transpose { permutation: vec![0] }),
            ] {
                let found = slope(&op, profile, dtype, &[largest, -largest]);
                assert!(found.iter().all(|number| number.abs() <= 1.0), "{op:?}: {found:?}");
            }
            let vectors = [Type::new(dtype, Shape::literal(&[2])), Type::new(dtype, Shape::literal(&[2]))];
            let module = single(&Op::Map(Map::Mul), &vectors);
            let gradient = differentiate(&module, &every_float(&module, profile)).expect("a product");
            let (x, y) = (vector(dtype, &[largest, 1.0]), vector(dtype, &[0.5, largest]));
            let outputs = run(&gradient.module, &[x, y, vector(dtype, &[1.0, 1.0])]);
            assert_eq!(numbers(&outputs[1]), [0.5, largest]);
            assert_eq!(numbers(&outputs[2]), [largest, 1.0]);
        }
    }
}

#[test]
fn an_argument_that_is_not_a_number_leaves_constant_slopes_alone() {
    let keep = Reduction { axes: vec![0], keepdims: true };
    for profile in PROFILES {
        for op in
            [Op::Map(Map::Neg), Op::Reduce(Reduce::Sum, keep.clone()), Op::Reduce(Reduce::Mean, keep.clone())]
        {
            for extent in [Shape::literal(&[2]), Shape::new(vec![mind_core::dim::Dim::symbol("N")])] {
                let module = build(&[Type::new(DType::F64, extent.clone())], |b, inputs| {
                    vec![push(b, op.clone(), inputs)]
                });
                let gradient =
                    differentiate(&module, &every_float(&module, profile)).expect("a linear operation");
                let length = super::support::bound(&extent)[0];
                let argument = filled(DType::F64, &[length], |_| f64::NAN);
                let result = run(&module, std::slice::from_ref(&argument));
                let cotangent = super::support::like(&result[0], |_| 1.0);
                let outputs = run(&gradient.module, &[argument, cotangent]);
                assert!(numbers(&outputs[1]).iter().all(|slope| slope.is_finite()), "{op:?} {profile:?}");
            }
        }
    }
}
