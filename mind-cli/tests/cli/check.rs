//! Tests of `mind check`, and of reading programs in every subcommand.

use crate::support::{Folder, LAYER, LOSS};

#[test]
fn a_program_without_mistakes_is_ok() {
    let folder = Folder::new().with("layer.mic", LAYER);
    let said = folder.mind("check layer.mic").fine();
    assert_eq!(said, "layer.mic: layer: ok, 3 inputs, 3 operations, 1 output\n");
    assert_eq!(folder.mind("check --quiet layer.mic").fine(), "");
}

#[test]
fn every_mistake_is_shown_with_its_line() {
    let wrong = LAYER.replace("N4 matmul N1 N2 T3", "N4 matmul N2 N1 T3").replace("O N6", "O N9");
    let said = Folder::new().with("net.mic", wrong).mind("check net.mic").mistakes();
    assert_eq!(
        said,
        "\
mic:13: error[E3003]: `@`: inner dimensions differ, 2 and N: N2 is f32[3, 2], N1 is f32[N, 3]
  --> net.mic:13
   |
13 | N4 matmul N2 N1 T3
   | ^^^^^^^^^^^^^^^^^^

mic:16: error[E4003]: output 0 is N9, which is never defined
  --> net.mic:16:3
   |
16 | O N9
   |   ^^

2 mistakes; `mind explain E3003` explains it
"
    );
    let wrong = LAYER.replace("N4 matmul N1 N2", "N4 matmul N2 N1").replace("N6 relu N5 T3", "N6 relu N5 T2");
    let said = Folder::new().with("net.mic", wrong).mind("check net.mic").mistakes();
    let first: Vec<_> = said.lines().filter(|line| line.starts_with("mic:")).collect();
    assert_eq!(
        first,
        [
            "mic:13: error[E3003]: `@`: inner dimensions differ, 2 and N: N2 is f32[3, 2], N1 is f32[N, 3]",
            "mic:15: error[E4012]: `relu`: declared f32[2], inferred f32[N, 2]: N5 is f32[N, 2]"
        ]
    );
    assert!(said.ends_with("2 mistakes; `mind explain E3003` explains it\n"), "{said}");
}

#[test]
fn in_core_ir_and_the_language_the_column_is_told_too() {
    let text = "%0 = Input () {name=\"x\"} : f32[3]\n%1 = Exq (%0) : f32[3]\noutputs: %1\n";
    let said = Folder::new().with("net.ir", text).mind("check net.ir").mistakes();
    assert!(
        said.starts_with("core-ir:2:6: error[E2002]: undefined operation `Exq`\n --> net.ir:2:6\n"),
        "{said}"
    );
    assert!(said.contains("2 | %1 = Exq (%0) : f32[3]\n  |      ^^^\n  = help: write `Exp`\n"), "{said}");

    let text = "fn f(x: f32[2, 3], w: f32[4, 5]) -> f32[2, 5] {\n    x @ w\n}\n";
    let said = Folder::new().with("net.mind", text).mind("check net.mind").mistakes();
    assert!(said.starts_with("mind:2:7: error[E3003]: `@`: inner dimensions differ, 3 and 4: "), "{said}");
    assert!(
        said.contains("2 |     x @ w\n  |       ^\n  = 3 comes from `x: f32[2, 3]` on line 1\n"),
        "{said}"
    );
}

#[test]
fn extensions_are_refused_in_core_v1_only() {
    let divided = LAYER.replace("add", "div");
    let folder = Folder::new().with("net.mic", divided);
    folder.mind("check net.mic").fine();
    folder.mind("check --profile extended net.mic").fine();
    let said = folder.mind("check --profile core-v1 net.mic").mistakes();
    assert!(said.starts_with("mic:14: error[E4013]: `Div` is an extension and not in Core v1\n"), "{said}");
}

#[test]
fn every_function_of_a_file_is_checked_unless_one_is_named() {
    let folder =
        Folder::new().with("net.mind", format!("{LOSS}\nfn twice(x: f32[3]) -> f32[3] {{ x + x }}\n"));
    let said = folder.mind("check net.mind").fine();
    let loss = "net.mind: loss: ok, 3 inputs, 5 operations, 1 output\n";
    assert_eq!(said, format!("{loss}net.mind: twice: ok, 1 input, 1 operation, 1 output\n"));
    assert_eq!(folder.mind("check net.mind --function loss").fine(), loss);
    let said = folder.mind("check net.mind --function los").misuse();
    assert_eq!(said, "error: net.mind has no function `los`\n  help: its functions are loss, twice\n");
    let said = folder.mind("stats net.mind").misuse();
    assert_eq!(said, "error: net.mind has 2 functions\n  help: choose one with --function: loss, twice\n");
    let said = folder.with("net.mic", LAYER).mind("check net.mic --function layer").misuse();
    assert_eq!(said, "error: --function works only with .mind files; net.mic is mic\n");
}

#[test]
fn a_random_key_of_two_draws_is_a_warning() {
    let text = "\
fn noise(x: f32[3], key: i64) -> f32[3] {
    let shift = random::normal(key, [3]);
    x * random::uniform(key, [3]) + shift
}
";
    let answer = Folder::new().with("net.mind", text).mind("check net.mind");
    assert_eq!(answer.code, 0);
    assert!(answer.out.starts_with("net.mind: noise: ok, "), "{}", answer.out);
    assert_eq!(
        answer.err,
        "\
mind:3:25: warning: `random::uniform` draws with `key`, as `random::normal` on line 2 does, so their numbers depend on each other
 --> net.mind:3:25
  |
3 |     x * random::uniform(key, [3]) + shift
  |                         ^^^
  = help: make a key for each, as `keys[0]` and `keys[1]` of `random::split(key)`

"
    );
    let wrong = text.replace("+ shift", "+ shaft");
    assert!(!Folder::new().with("net.mind", wrong).mind("check net.mind").mistakes().contains("warning"));
    let closure = "|key: i64| for _x in 0..3 { random::normal(key, [2]) }";
    let answer = Folder::new().with("net.mind", closure).mind("check --quiet net.mind");
    assert!(
        answer.err.starts_with("mind:1:44: warning: `random::normal` draws the same numbers"),
        "{}",
        answer.err
    );
    assert_eq!((answer.code, &*answer.out), (0, ""));
}

#[test]
fn several_files_are_checked_whatever_is_wrong_with_some() {
    let folder =
        Folder::new().with("a.mic", LAYER).with("b.mic", LAYER.replace("relu", "rely")).with("c.mic", LAYER);
    let answer = folder.mind("check a.mic b.mic c.mic");
    assert_eq!((answer.code, answer.out.lines().count()), (1, 2));
    let answer = folder.mind("check missing.mic b.mic c.mic");
    assert_eq!((answer.code, answer.out.lines().count()), (2, 1));
    assert!(
        answer.err.contains("cannot read missing.mic") && answer.err.contains("undefined operation `rely`")
    );
}

#[test]
fn standard_input_is_read_and_its_form_told_by_how_it_begins() {
    let folder = Folder::new();
    assert_eq!(
        folder.mind_with("check -", LAYER).fine(),
        "<stdin>: layer: ok, 3 inputs, 3 operations, 1 output\n"
    );
    folder.mind_with("check -", LOSS).fine();
    let core_ir = folder.mind_with("convert - --to core-ir", LAYER).fine();
    folder.mind_with("check -", &*core_ir).fine();
    let json = folder.mind_with("convert - --to json", LAYER).fine();
    folder.mind_with("check -", &*json).fine();
    let said = folder.mind_with("check -", "hello there\n").misuse();
    assert_eq!(
        said,
        "error: cannot detect the format of <stdin>\n  help: add --from mic, core-ir, json or mind\n"
    );
    assert_eq!(folder.mind_with("check -", " \n").misuse(), "error: <stdin> is empty\n");
    let said = folder.mind_with("check --from mic -", "hello there\n").mistakes();
    assert!(said.starts_with("mic:1: error[E1007]: "), "{said}");
}

#[test]
fn a_form_that_is_said_counts_more_than_an_extension() {
    let folder = Folder::new().with("net.txt", LAYER).with("net.npy", LAYER).with("net.json", LAYER);
    folder.mind("check net.txt").fine();
    folder.mind("check --from mic net.npy net.json").fine();
    assert!(folder.mind("check net.json").mistakes().starts_with("json:1: error[E1007]: expected value"));
    let said = folder.mind("check net.npy").misuse();
    assert!(
        said.starts_with("error: net.npy is not a program: .npy files have other contents\n  help: "),
        "{said}"
    );
}

#[test]
fn files_that_cannot_be_read_are_named_with_a_way_out() {
    let folder = Folder::new().with("layer.mic", LAYER);
    let said = folder.mind("check laier.mic").misuse();
    assert_eq!(said, "error: cannot read laier.mic: no such file or directory\n  help: write layer.mic\n");
    assert_eq!(
        folder.mind("check net/x.mic").misuse(),
        "error: cannot read net/x.mic: no such file or directory\n"
    );
    std::fs::create_dir(folder.path("nets")).unwrap();
    let said = folder.mind("check nets").misuse();
    assert!(
        said.starts_with("error: cannot read nets: it is a directory\n  help: name a file in it"),
        "{said}"
    );
}

#[test]
fn truncated_and_foreign_files_are_mistakes_with_a_place() {
    let cut = &LAYER[..LAYER.find("N6 relu").unwrap() + 4];
    let said = Folder::new().with("net.mic", cut).mind("check net.mic").mistakes();
    assert!(said.starts_with("mic:15: error["), "{said}");
    let folder = Folder::new().with("net.mic", b"mic@1\nS0 \"\xff\xfe\"\n");
    let said = folder.mind("check net.mic").mistakes();
    assert!(
        said.starts_with("mic:2: error[E1001]: invalid UTF-8 at byte 10: 0xff 0xfe 0x22 0x0a\n"),
        "{said}"
    );
    let json = folder.mind_with("convert - --to json", LAYER).fine();
    let said = folder.mind_with("check --from json -", &json[..json.len() / 2]).mistakes();
    assert!(said.contains("error[E1007]: EOF while parsing"), "{said}");
    let said = folder.mind_with("check -", "mic@7\n").mistakes();
    assert!(said.starts_with("mic:1: error[E1009]: unsupported version mic@7, supported: mic@1\n"), "{said}");
}

/// The errors for invalid paddings are those of `docs/conformance.md`.
#[test]
fn each_padding_that_is_none_has_its_code_in_each_form() {
    let check = |name: &str, text: &str| {
        let answer = Folder::new().with(name, text).mind(&format!("check {name}"));
        if answer.code == 0 { "ok".to_owned() } else { answer.mistakes() }
    };
    let mind = |strides: &str, padding: &str| {
        let head = "fn f(x: f32[1, 9, 9, 3], w: f32[3, 3, 3, 4]) -> f32[1, 9, 9, 4]";
        check("p.mind", &format!("{head} {{ conv2d(x, w, strides = {strides}, padding = {padding}) }}\n"))
    };
    let core_ir = |strides: &str, padding: &str| {
        let inputs =
            "%0 = Input () {name=\"x\"} : f32[1, 9, 9, 3]\n%1 = Input () {name=\"w\"} : f32[3, 3, 3, 4]";
        let conv = format!("%2 = Conv2d (%0, %1) {{strides={strides}, padding={padding}}} : f32[1, 9, 9, 4]");
        check("p.ir", &format!("{inputs}\n{conv}\noutputs: %2\n"))
    };
    let mic = |strides: &str, padding: &str| {
        let types = "T0 [f32;1,9,9,3]\nT1 [f32;3,3,3,4]\nT2 [f32;1,9,9,4]";
        let [strides, padding] = [strides, padding].map(|list| list.replace(' ', ""));
        let nodes = format!("N1 input S0 T0\nN2 input S1 T1\nN3 conv2d N1 N2 s={strides} p={padding} T2");
        check("p.mic", &format!("mic@1\nS0 \"x\"\nS1 \"w\"\n{types}\n{nodes}\nO N3\n"))
    };
    let json = |strides: &str, padding: &str| {
        let module = "%0 = Input () {name=\"x\"} : f32[1, 9, 9, 3]\n%1 = Input () {name=\"w\"} : f32[3, 3, 3, 4]\n\
                      %2 = Conv2d (%0, %1) {strides=[1, 1], padding=same} : f32[1, 9, 9, 4]\noutputs: %2\n";
        let text = Folder::new().with("p.ir", module).mind("convert p.ir --to json").fine();
        let padding = if padding.starts_with(char::is_alphabetic) {
            format!("\"{padding}\"")
        } else {
            padding.to_owned()
        };
        let (head, tail) = text.split_once("\"padding\": \"same\"").expect("it has a padding");
        let (_, tail) = tail.split_once(']').expect("it has strides");
        check("p.json", &format!("{head}\"padding\": {padding}, \"strides\": {strides}{tail}"))
    };
    for (strides, padding, of_language, of_texts) in [
        ("[1, 1]", "same", "ok", "ok"),
        ("[1, 1]", "[[1, 1], [1, 1]]", "ok", "ok"),
        ("[0, 1]", "same", "E4010", "E4010"),
        ("[1]", "same", "E4010", "E4010"),
        ("[1, 1]", "[[1, 1]]", "E4010", "E4010"),
        ("[1, 1]", "[[1], [1]]", "E4010", "E4010"),
        ("[1, 1]", "[[1, 1], [1, 1], [1, 1]]", "E4010", "E4010"),
        ("[1, 1]", "[[-1, 1], [1, 1]]", "E4010", "E4010"),
        ("[1, 1]", "full", "E2002", "E1007"),
        ("[1, 1]", "1", "E2001", "E1007"),
        ("[1, 1]", "[1, 1]", "E2001", "E1007"),
    ] {
        for (form, expected, said) in [
            ("mind", of_language, mind(strides, padding)),
            ("core-ir", of_texts, core_ir(strides, padding)),
            ("mic", of_texts, mic(strides, padding)),
            ("json", of_texts, json(strides, padding)),
        ] {
            let found =
                if expected == "ok" { said == "ok" } else { said.contains(&format!("error[{expected}]")) };
            assert!(found, "{form}, {strides}, {padding}: {expected}, not {said}");
        }
    }
}

/// The limit applies to every form and every command.
#[test]
fn a_file_over_the_limit_of_size_is_refused_with_the_line_that_passes_it() {
    const LIMIT: usize = 10 << 20;
    let within = |head: &str, comment: &str| {
        let room = LIMIT - head.len() - comment.len() - 1;
        format!("{head}{comment}{}\n", " ".repeat(room))
    };
    let mind = "fn f(x: f32) -> f32 { x }\n";
    let texts = [
        ("p.mic", within("mic@1\nS0 \"x\"\nT0 f32\nN1 input S0 T0\nO N1\n", "#"), "mic:7"),
        ("p.mind", within(mind, "//"), "mind:3"),
        ("p.ks", within("(def f Float (x : Float) x)\n", ";"), "ks:3"),
        ("p.ir", within("%0 = Input () {name=\"x\"} : f32\noutputs: %0\n", ""), "core-ir:4"),
    ];
    for (name, text, place) in texts {
        assert_eq!(text.len(), LIMIT, "{name}");
        let command = if name == "p.ks" { "ks check" } else { "check" };
        let folder = Folder::new().with(name, &text);
        let fine = folder.mind(&format!("{command} {name}"));
        assert!(!fine.err.contains("E1008"), "{name}: {fine:?}");
        let folder = folder.with(name, text + "\n");
        let said = folder.mind(&format!("{command} {name}")).mistakes();
        let message = "has more than the limit of 10485760 bytes (10 MiB), which this line passes";
        assert!(
            said.starts_with(&format!("{place}: error[E1008]: {name} {message}\n --> {name}:")),
            "{said}"
        );
        assert!(said.contains("= help: split the program"), "{said}");
    }
    let folder = Folder::new();
    let said = folder.mind_with("check -", format!("mic@1\n#{}\n", " ".repeat(LIMIT))).mistakes();
    assert!(said.starts_with("mic:2: error[E1008]: <stdin> has more than the limit of"), "{said}");
    let json = format!("{{\"format\": \"{}", " ".repeat(LIMIT));
    let said = folder.mind_with("convert - --to mic", json).mistakes();
    assert!(said.starts_with("json:1: error[E1008]: <stdin> has more than the limit of"), "{said}");
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let folder = Folder::new().with("net.mic", LAYER.replace("relu", "rely"));
    let plain = folder.mind("check net.mic").mistakes();
    assert!(!plain.contains('\u{1b}'));
    let coloured = folder.mind("check --color always net.mic").mistakes();
    assert!(coloured.contains("\u{1b}[1;31merror[E2002]\u{1b}[0m"), "{coloured}");
    assert_eq!(folder.mind("check --color never net.mic").mistakes(), plain);
    let mut quiet = folder.command("check net.mic --color auto");
    assert_eq!(crate::support::answer(quiet.env("NO_COLOR", "1")).mistakes(), plain);
}

#[test]
fn what_a_terminal_would_obey_is_not_printed() {
    let said = Folder::new().with("net.mic", "mic@1\nS0 \"\u{1b}[2J\" x\n").mind("check net.mic").mistakes();
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

/// A struct that is updated has one input for each field.
#[test]
fn a_struct_that_is_updated_goes_through_every_subcommand() {
    let program = "struct P { a: f32[2], b: f32[2] }\nfn f(p: &mut P) { p -= 0.5 * p; }";
    let folder = Folder::new().with("f.mind", program);
    for command in ["check f.mind", "stats --plan f.mind", "convert f.mind --to mic", "graph f.mind -o f.svg"]
    {
        folder.mind(command).fine();
    }
    let formatted = folder.mind("fmt --stdout f.mind").fine();
    assert!(formatted.ends_with("fn f(p: &mut P) {\n    p -= 0.5 * p;\n}\n"), "{formatted}");
    let said = folder.mind("run f.mind").mistakes();
    assert!(
        said.starts_with("mind: error[E2007]: no value is given for the input `p.a`: f32[2]\n"),
        "{said}"
    );
    let drawn = folder.mind("convert f.mind --to dot").fine();
    assert!(drawn.contains("p.a (updated)") && drawn.contains("p.b (updated)"), "{drawn}");
}

#[test]
fn functions_that_need_imports_are_named_and_keep_no_other_from_being_checked() {
    let program = "use crate::layers::dense;\nfn f(x: f32[2]) -> f32[2] { dense(x) }\nfn g(x: f32[2]) -> f32 { sum(x) }";
    let folder = Folder::new().with("f.mind", program);
    let answer = folder.mind("check f.mind");
    assert_eq!(answer.out, "f.mind: g: ok, 1 input, 1 operation, 1 output\n");
    let said = answer.mistakes();
    let expected =
        "mind:1:5: error[E2002]: `f` needs imports of its file, which only `mind!` can read: `dense`\n";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(folder.mind("stats f.mind --function f").mistakes(), said);
    folder.mind("stats f.mind --function g").fine();
}

#[test]
fn files_without_a_function_are_said_to_be_so() {
    let folder = Folder::new().with("f.mind", "struct P { a: f32[2] }").with("e.mind", "relu(x)");
    assert_eq!(folder.mind("check f.mind").fine(), "f.mind: ok, no function\n");
    let said = folder.mind("check e.mind").mistakes();
    assert!(
        said.starts_with("mind: error[E1007]: found an expression, expected `fn`, `const` or a closure\n"),
        "{said}"
    );
}
