//! Tests of both text forms and of JSON.

use mind_core::{
    data::{F32, F64, TensorData},
    diag::{Code, Site},
    ir::{Const, Module, Op, ValueId},
    ops::{Profile, TABLE},
    testing::{Random, random_module},
    text::{Limits, TextForm, core_ir, json, mic, report},
    ty::DType,
};

use crate::sample::sample;

#[test]
fn round_trip_of_random_modules() {
    let limits = Limits::default();
    for seed in sample("random modules", 0..10_000) {
        let module = with_special_floats(random_module(seed, 5 + (seed % 40) as usize), seed);
        let text = core_ir::print(&module);
        match core_ir::parse(&text, &limits) {
            Ok(again) => assert_eq!(again, module, "seed {seed}:\n{text}"),
            Err(errors) => panic!("seed {seed}: {:?}\n{text}", errors.as_slice()),
        }
        if seed % 10 == 0 {
            let text = json::print(&module);
            match json::parse(&text, &limits) {
                Ok(again) => assert_eq!(again, module, "seed {seed}:\n{text}"),
                Err(errors) => panic!("seed {seed}: {:?}\n{text}", errors.as_slice()),
            }
        }
        let text = mic::print(&module);
        match mic::parse(&text, &limits) {
            Ok(again) => assert_eq!(again, module, "seed {seed}:\n{text}"),
            Err(errors) => panic!("seed {seed}: {:?}\n{text}", errors.as_slice()),
        }
    }
}

/// Replaces the floats in a module's constants by zeros of both signs, subnormals, infinities, NaNs with all payloads,
/// and floats with arbitrary bits.
fn with_special_floats(module: Module, seed: u64) -> Module {
    let mut random = Random::new(seed);
    let mut float32 = || {
        let special =
            [0x8000_0000, 1, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0x7f7f_ffff];
        let any = random.bits() as u32;
        F32::from(f32::from_bits(if any.is_multiple_of(2) {
            special[any as usize / 2 % special.len()]
        } else {
            any
        }))
    };
    let mut wide = Random::new(seed + 1);
    let mut float64 = || {
        let special =
            [1 << 63, 1, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0xfff8 << 48, (0x7ff << 52) + 1, u64::MAX];
        let any = wide.bits();
        F64::from(f64::from_bits(if any.is_multiple_of(2) {
            special[any as usize / 2 % special.len()]
        } else {
            any
        }))
    };
    let (mut insts, outputs) = module.into_parts();
    for inst in &mut insts {
        if let Op::Const(Const::F32(value)) = &mut inst.op {
            *value = float32();
        } else if let Op::Const(Const::F64(value)) = &mut inst.op {
            *value = float64();
        } else if let Op::Const(Const::Tensor { data, .. }) = &mut inst.op {
            if let TensorData::F32(elements) = data {
                *data = elements.iter().map(|_| float32().get()).collect::<Vec<_>>().into();
            } else if let TensorData::F64(elements) = data {
                *data = elements.iter().map(|_| float64().get()).collect::<Vec<_>>().into();
            }
        }
    }
    Module::from_parts(insts, outputs)
}

/// The codes and lines of the errors in a MIC text.
#[track_caller]
fn faults(text: &str, limits: &Limits) -> Vec<(Code, u32)> {
    let errors = mic::parse(text, limits).expect_err(text);
    let place = |site: Site| if let Site::Text { line, .. } = site { line } else { 0 };
    errors.into_iter().map(|error| (error.code, place(error.site))).collect()
}

const SMALL: &str = "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nN1 input S0 T0\nN2 neg N1 T0\nO N2\n";

#[test]
fn each_limit_is_kept() {
    let limits = Limits::default();
    let refused = |limits: Limits| faults(SMALL, &limits);
    assert!(
        mic::parse(SMALL, &Limits { bytes: SMALL.len(), lines: 6, nodes: 2, rank: 2, ..limits.clone() })
            .is_ok()
    );
    // At the line that exceeds the limit.
    assert_eq!(refused(Limits { bytes: SMALL.len() - 1, ..limits.clone() }), [(Code::E1008, 6)]);
    assert_eq!(refused(Limits { bytes: 3, ..limits.clone() }), [(Code::E1008, 1)]);
    assert_eq!(refused(Limits { bytes: 7, ..limits.clone() }), [(Code::E1008, 2)]);
    assert_eq!(refused(Limits { lines: 5, ..limits.clone() }), [(Code::E1008, 6)]);
    assert_eq!(refused(Limits { rank: 1, ..limits.clone() })[0], (Code::E1008, 3));
    assert_eq!(refused(Limits { nodes: 1, ..limits.clone() })[0], (Code::E1008, 5));
    // The rest is not read, and the limit is reported once.
    let chain = format!("mic@1\nS0 \"x\"\nT0 f32\nN1 input S0 T0\n{}O N1\n", "?\n".repeat(3));
    let chain = chain.replace('?', "N2 neg N1 T0");
    assert_eq!(faults(&chain, &Limits { nodes: 1, ..limits.clone() }), [(Code::E1008, 5)]);
    let literal = "mic@1\nT0 [f32;3]\nN1 const.tensor [1.0,2.0,3.0] T0\nO N1\n";
    assert!(mic::parse(literal, &Limits { literal: 3, ..limits.clone() }).is_ok());
    assert_eq!(faults(literal, &Limits { literal: 2, ..limits.clone() }), [(Code::E1008, 3)]);
    let many = format!("mic@1\n{}", "?\n".repeat(1000));
    assert_eq!(faults(&many, &Limits { errors: 7, ..limits }).len(), 7);
}

#[test]
fn a_number_fills_a_tensor_of_any_size_as_one_element() {
    let text = "mic@1\nT0 [f64;1000000,1000000,1000000]\nN1 const.tensor 0.5 T0\nO N1\n";
    let module = mic::parse(text, &Limits::default()).unwrap();
    assert!(matches!(&module.insts()[0].op, Op::Const(Const::Tensor { data, .. }) if data.stored() == 1));
    assert_eq!(mic::print(&module), text);
}

#[test]
fn no_dimension_is_too_deep_or_too_large_to_refuse() {
    let limits = Limits::default();
    let deep = format!("{}N{}", "(".repeat(300_000), ")".repeat(300_000));
    let chain = format!("N{}", "/2*N".repeat(200_000));
    let product: String = (0..60).map(|k| format!("(A{k}+B{k})*")).collect::<String>() + "1";
    for dim in [deep, chain, product] {
        let text = format!("mic@1\nS0 \"x\"\nT0 [f32;{dim}]\nN1 input S0 T0\nO N1\n");
        assert_eq!(faults(&text, &limits), [(Code::E1008, 3)]);
        let text = format!("%0 = Input () {{name=\"x\"}} : f32[{dim}]\noutputs: %0\n");
        assert_eq!(core_ir::parse(&text, &limits).unwrap_err().as_slice()[0].code, Code::E1008);
    }
    let sums: Vec<_> =
        (0..8).map(|axis| (0..100).map(|k| format!("A{axis}x{k}+")).collect::<String>() + "1").collect();
    let text = format!("mic@1\nT0 [f32;{}]\n", sums.join(","));
    assert_eq!(faults(&text, &limits), [(Code::E1008, 2)]);
}

#[test]
fn a_hundred_thousand_nodes_are_read_and_written() {
    let mut text = String::from("mic@1\nS0 \"x\"\nT0 [f32;2]\nN1 input S0 T0\n");
    for node in 2..=100_000 {
        text.push_str(&format!("N{node} neg N{} T0\n", node - 1));
    }
    text.push_str("O N100000\n");
    let document = mic::parse_document(&text, &Limits::default()).unwrap();
    assert_eq!(mic::print(&document.module), text);
    let core_ir = core_ir::print(&document.module);
    assert_eq!(core_ir::parse(&core_ir, &Limits::default()).unwrap(), document.module);
    assert!(document.verify(Profile::CoreV1).is_ok());
    assert_eq!(faults(&format!("{text}N100001 neg N1 T0\n"), &Limits::default()), [(Code::E1008, 100_005)]);
}

#[test]
fn bytes_that_are_no_text_are_refused_at_their_place() {
    let limits = Limits::default();
    for parse in [mic::parse_bytes, core_ir::parse_bytes] {
        let errors = parse(b"mic@1\n# \xc3\xa9\xff\xfe", &limits).unwrap_err();
        assert_eq!(errors.as_slice()[0].to_string(), "[E1001] not UTF-8 at byte 10: ff fe");
        assert_eq!(errors.as_slice()[0].site.to_string(), "2:4");
    }
    assert!(mic::parse_bytes(SMALL.as_bytes(), &limits).is_ok());
}

#[test]
fn other_line_ends_are_read_and_not_written() {
    let limits = Limits::default();
    let module = mic::parse(SMALL, &limits).unwrap();
    assert_eq!(mic::parse(&SMALL.replace('\n', "\r\n"), &limits).unwrap(), module);
    assert_eq!(mic::parse(SMALL.trim_end(), &limits).unwrap(), module);
    let text = core_ir::print(&module);
    assert_eq!(core_ir::parse(&text.replace('\n', "\r\n"), &limits).unwrap(), module);
    assert_eq!(core_ir::parse(text.trim_end(), &limits).unwrap(), module);
    assert_eq!(faults(&SMALL.replace("neg ", "neg\r"), &limits).len(), 1);
}

#[test]
fn ids_ascend_with_gaps_up_to_the_last() {
    let limits = Limits::default();
    let renumbered = SMALL
        .replace("N1", "N7")
        .replace("N2", "N18446744073709551615")
        .replace("S0", "S5")
        .replace("T0", "T9");
    let document = mic::parse_document(&renumbered, &limits).unwrap();
    assert_eq!(mic::print(&document.module), SMALL);
    assert_eq!(document.value_name(ValueId::new(1)), "N18446744073709551615");
    assert_eq!(document.site(ValueId::new(1)).to_string(), "5:1");
    assert_eq!(document.output_site(0).to_string(), "6:1");
    let after = renumbered.replace("O ", "N0 neg N7 T9\nO ");
    assert_eq!(faults(&after, &limits), [(Code::E4002, 6)]);
    let beyond = renumbered.replace("18446744073709551615", "18446744073709551616");
    assert_eq!(faults(&beyond, &limits)[0], (Code::E1005, 5));
}

#[test]
fn one_mistake_is_one_error_and_every_one_is_found() {
    let text = "mic@1\nS0 \"x\nS1 \"y\"\nT0 [f32;0]\nT1 [f32;2]\nN1 input S0 T1\nN2 input S1 T0\nN3 neg N2 T0\n\
                N4 add N1 N9 T1\nN5 add N1 T1\nN6 nog N5 T1\nO N6\nO N7\n";
    assert_eq!(
        faults(text, &Limits::default()),
        [
            (Code::E1003, 2),
            (Code::E3006, 4),
            (Code::E4001, 9),
            (Code::E2007, 10),
            (Code::E2002, 11),
            (Code::E4003, 13)
        ]
    );
}

#[test]
fn a_mistake_at_the_end_of_a_line_hides_nothing_below() {
    let text = "mic@1\nS0 \"x\\\nS1 7\nT0 [f32;]\nT1 f32[\nO N1\n";
    assert_eq!(
        faults(text, &Limits::default()),
        [(Code::E1004, 2), (Code::E1007, 3), (Code::E1007, 4), (Code::E1007, 5), (Code::E4003, 6)]
    );
}

#[test]
fn every_limit_of_rank_is_kept() {
    let is_read = |ty: &str, rank: usize| {
        let text = format!("mic@1\nT0 {ty}\n");
        mic::parse(&text, &Limits { rank, ..Limits::default() }).is_ok()
    };
    for rank in 0..=9 {
        let extents = vec!["2"; rank].join(",");
        let ty = if rank == 0 { "f32".to_owned() } else { format!("[f32;{extents}]") };
        for limit in 0..=9 {
            assert_eq!(is_read(&ty, limit), rank <= limit.min(8), "{ty}, {limit}");
        }
    }
}

#[test]
fn errors_of_verification_stand_at_the_lines_of_their_nodes() {
    let text = "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nN10 input S0 T0\nO N10\n# Not a product.\nN20 matmul N10 N10 T0\nO N20\n";
    let errors = mic::parse_document(text, &Limits::default()).unwrap().verify(Profile::CoreV1).unwrap_err();
    let shown: Vec<_> =
        errors.as_slice().iter().map(|error| report(error, "net.mic", TextForm::Mic)).collect();
    assert_eq!(shown.len(), 1);
    let expected =
        "net.mic:7: error[E3003]: `@`: inner dimensions differ, 3 and 2: N10 is f32[2, 3], N10 is f32[2, 3]";
    assert!(shown[0].starts_with(expected), "{}", shown[0]);
}

#[test]
fn comments_and_names_are_kept_where_they_stand() {
    let text = "# License.\nmic@1\n# What it does.\n#\n#  And how.\nS0 \"f\"\nS1 \"x\"\nT0 f32\n# The input.\n\
                N1 input S1 T0\nN2 exp N1 T0\n# The result.\nO N2\n# The end.\n";
    let document = mic::parse_document(text, &Limits::default()).unwrap();
    assert_eq!(document.name.as_deref(), Some("f"));
    assert_eq!(document.docs, ["License.", "What it does.", "", " And how."]);
    let header_first = text.replace("# License.\nmic@1\n", "mic@1\n# License.\n");
    assert_eq!(mic::print_document(&document), header_first);
}

#[test]
fn every_sampled_operation_is_made_of_its_attributes() {
    for row in TABLE {
        for dtype in DType::NUMERIC {
            for case in row.cases(dtype) {
                let made = row.op((row.attributes)(&case.op));
                assert_eq!(made, case.op);
                let given = (row.attributes)(&case.op).into_iter().flatten().count();
                assert_eq!(given, row.fields.len(), "{}", row.name);
            }
        }
    }
}

#[test]
fn dims_print_and_read_back() {
    let limits = Limits::default();
    for dim in [
        "N",
        "2*N+1",
        "(N-3)/2+1",
        "N*N*M",
        "2*((N+1)/2)",
        "(N+1)/2*M",
        "N/2*(N/2)",
        "-N+5",
        "N-9223372036854775808",
        "-9223372036854775808*N",
        "((N+1)/2+M)/3",
        "0",
        "-7",
        "r#type+\u{e9}",
        "-(N/2)+M*M",
    ] {
        let text = |dim: &str| {
            format!("mic@1\nS0 \"x\"\nT0 [f32;N,M]\nT1 f32\nN1 input S0 T0\nN2 index N1 [{dim},0] T1\nO N2\n")
        };
        let module = mic::parse(&text(dim), &limits).unwrap_or_else(|errors| panic!("{dim}: {errors:?}"));
        let printed = mic::print(&module);
        assert_eq!(mic::parse(&printed, &limits).unwrap(), module, "{dim}: {printed}");
        assert_eq!(core_ir::parse(&core_ir::print(&module), &limits).unwrap(), module, "{dim}");
    }
}

#[test]
fn the_specifications_binop_is_read_from_json_too() {
    let limits = Limits::default();
    let module = core_ir::parse(
        "%0 = Input () {name=\"x\"} : f32[3]\n%1 = Sub (%0, %0) : f32[3]\noutputs: %1\n",
        &limits,
    )
    .unwrap();
    let text = json::print(&module);
    let generic = |attributes: &str| {
        let text = text.replace("\"Sub\"", "\"BinOp\"");
        let (before, after) = text.rsplit_once("{}").unwrap();
        format!("{before}{attributes}{after}")
    };
    assert_eq!(json::parse(&generic("{\"op\":\"Sub\"}"), &limits).unwrap(), module);
    for wrong in ["{}", "{\"op\":\"Max\"}", "{\"op\":1}", "{\"op\":\"Sub\",\"axes\":[]}"] {
        assert_eq!(
            json::parse(&generic(wrong), &limits).unwrap_err().as_slice()[0].code,
            Code::E1007,
            "{wrong}"
        );
    }
}

#[test]
fn json_refuses_what_is_no_module() {
    let limits = Limits::default();
    let good = json::print(&mic::parse(SMALL, &limits).unwrap());
    let code = |from: &str, to: &str| {
        let text = good.replace(from, to);
        assert_ne!(text, good, "{from}");
        json::parse(&text, &limits).expect_err(&text).as_slice()[0].code
    };
    assert_eq!(code("\"outputs\"", "\"results\""), Code::E1007);
    assert_eq!(code("]}", ""), Code::E1007);
    assert_eq!(code("\"Neg\"", "\"Nog\""), Code::E2002);
    assert_eq!(code("\"operands\":[0]", "\"operands\":[0,0]"), Code::E2007);
    assert_eq!(code("\"operands\":[0]", "\"operands\":[4]"), Code::E4001);
    assert_eq!(code("\"outputs\":[1]", "\"outputs\":[4]"), Code::E4003);
    assert_eq!(code("\"inputs\":[0]", "\"inputs\":[]"), Code::E4004);
    assert_eq!(code("{\"name\":\"x\"}", "{}"), Code::E1007);
    assert_eq!(code("{\"name\":\"x\"}", "{\"name\":3}"), Code::E1007);
    assert_eq!(code("{\"name\":\"x\"}", "{\"name\":\"x\",\"axes\":[]}"), Code::E1007);
    assert_eq!(code("f32[2, 3]", "f32[2, 0]"), Code::E3006);
    assert_eq!(code("f32[2, 3]", "f32[2, 3] "), Code::E1007);
}
