//! Tests of `mind graph`.

use std::fs;

use crate::support::{Folder, LAYER, LOSS, answer};

#[test]
fn the_picture_has_a_box_for_each_instruction_and_output() {
    let folder = Folder::new().with("layer.mic", LAYER);
    assert_eq!(folder.mind("graph layer.mic -o layer.svg --renderer own").fine(), "");
    let svg = folder.read("layer.svg");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("<title>layer in layer.mic</title>"));
    for (class, count) in [("input", 3), ("operation", 3), ("output", 1)] {
        // The legend contains one more.
        assert_eq!(svg.matches(&format!("<rect class=\"{class}\"")).count(), count + 1, "{class}");
    }
    assert_eq!(svg.matches("<path class=\"arrow\"").count(), 6);
    for text in [">MatMul<", ">Add<", ">Relu<", ">x<", ">output 0<", ">f32[N,3]<", ">f32[2]<"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(svg.contains("<title>%3 = MatMul (%0, %1) : f32[N, 2]</title>"));
    assert!(!svg.contains("class=\"operation gradient\""));
}

#[test]
fn the_same_program_gives_the_same_picture() {
    let folder = Folder::new().with("loss.mind", LOSS);
    let one = folder.mind("graph loss.mind --wrt w,b -o - --renderer own").fine();
    assert_eq!(folder.mind("graph loss.mind --wrt w,b -o - --renderer own").fine(), one);
}

#[test]
fn gradients_are_coloured() {
    let folder = Folder::new().with("loss.mind", LOSS);
    let svg = folder.mind("graph loss.mind --wrt w,b -o - --renderer own").fine();
    assert!(svg.contains("<title>loss in loss.mind with its gradient by w, b</title>"), "{svg}");
    assert!(svg.contains(">gradient of w<") && svg.contains(">gradient of b<") && svg.contains(">ReluGrad<"));
    let coloured = svg.matches("<rect class=\"operation gradient\"").count();
    folder.mind("grad loss.mind --wrt w,b -o grad.mic").fine();
    let svg = folder.mind("graph grad.mic -o - --primal-outputs 1 --renderer own").fine();
    assert_eq!(svg.matches("<rect class=\"operation gradient\"").count(), coloured);
    let svg = folder.mind("graph grad.mic -o - --renderer own").fine();
    assert!(!svg.contains("<rect class=\"operation gradient\""));
    let said = folder.mind("graph loss.mind -o x.svg --wrt w --primal-outputs 1").misuse();
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn boxes_do_not_overlap_and_arrows_lead_down() {
    let folder = Folder::new().with("loss.mind", LOSS);
    let svg = folder.mind("graph loss.mind --wrt w,b -o - --renderer own").fine();
    let number = |line: &str, name: &str| -> f64 {
        let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    let boxes: Vec<[f64; 4]> = svg
        .lines()
        .filter(|line| line.starts_with("<g><title>"))
        .map(|line| &line[line.find("<rect").unwrap()..])
        .map(|line| ["x", "y", "width", "height"].map(|name| number(line, name)))
        .collect();
    assert!(boxes.len() > 20);
    for (i, [x, y, width, height]) in boxes.iter().enumerate() {
        assert!(*x >= 0.0 && *y >= 0.0);
        for [other_x, other_y, other_width, other_height] in &boxes[i + 1..] {
            let apart = x + width <= *other_x
                || other_x + other_width <= *x
                || y + height <= *other_y
                || other_y + other_height <= *y;
            assert!(apart, "{svg}");
        }
    }
    for line in svg.lines().filter(|line| line.starts_with("<path class=\"arrow")) {
        let path = &line[line.find(" d=\"M").unwrap() + 5..];
        let start: f64 = path.split([' ', 'V']).nth(1).unwrap().parse().unwrap();
        let end: f64 = path.rsplit('V').next().unwrap().trim_end_matches("\"/>").parse().unwrap();
        assert!(start < end, "{line}");
    }
}

#[test]
fn text_is_escaped() {
    let folder = Folder::new().with("a&b.mic", LAYER.replace("S1 \"x\"", "S1 \"<x & \\\"y\\\">\\n\\u{1}\""));
    let svg = folder.mind("graph a&b.mic -o - --renderer own").fine();
    assert!(svg.contains("layer in a&amp;b.mic"), "{svg}");
    assert!(svg.contains("&lt;x &amp; &quot;y&quot;&gt;"), "{svg}");
    assert!(!svg.contains('\u{1}'));
    let dot = folder.mind("convert a&b.mic --to dot").fine();
    assert!(dot.contains("label=\"<x & \\\"y\\\">"), "{dot}");
}

#[test]
fn dot_files_are_written_by_their_extension() {
    let folder = Folder::new().with("layer.mic", LAYER);
    folder.mind("graph layer.mic -o layer.dot").fine();
    assert_eq!(folder.read("layer.dot"), folder.mind("convert layer.mic --to dot").fine());
    let said = folder.mind("graph layer.mic -o layer.jpg").misuse();
    let needed = "needed .svg, .png or .dot";
    assert_eq!(
        said,
        format!("error: cannot draw layer.jpg: it has .jpg, {needed}\n  help: write layer.svg\n")
    );
    let said = folder.mind("graph layer.mic -o layer").misuse();
    assert!(said.contains(&format!("it has no extension, {needed}")), "{said}");
    let said = folder.mind("graph layer.mic -o nowhere/layer.svg").misuse();
    assert!(
        said.contains("cannot write nowhere/layer.svg") && said.contains("there is no folder nowhere"),
        "{said}"
    );
}

#[test]
fn without_graphviz_this_command_draws() {
    let folder = Folder::new().with("layer.mic", LAYER);
    fs::create_dir(folder.path("bin")).unwrap();
    let own = folder.mind("graph layer.mic -o - --renderer own").fine();
    let automatic = answer(folder.command("graph layer.mic -o -").env("PATH", folder.path("bin"))).fine();
    assert_eq!(automatic, own);
    let said =
        answer(folder.command("graph layer.mic -o - --renderer graphviz").env("PATH", folder.path("bin")))
            .misuse();
    let help = "  help: --renderer own needs no Graphviz\n";
    assert_eq!(said, format!("error: cannot start Graphviz's `dot`: no such file or directory\n{help}"));
}

#[cfg(unix)]
#[test]
fn with_graphviz_its_dot_draws() {
    use std::os::unix::fs::PermissionsExt;
    let script = |text: &str| {
        let folder = Folder::new().with("layer.mic", LAYER).with("dot", text);
        fs::set_permissions(folder.path("dot"), fs::Permissions::from_mode(0o755)).unwrap();
        folder
    };
    let path = |folder: &Folder| format!("{}:/usr/bin:/bin", folder.path("").display());
    let folder = script("#!/bin/sh\necho \"drawn with $1\"\ncat\n");
    let drawn = answer(folder.command("graph layer.mic -o -").env("PATH", path(&folder))).fine();
    let dot = folder.mind("convert layer.mic --to dot").fine();
    assert_eq!(drawn, format!("drawn with -Tsvg\n{dot}"));
    let call = "graph layer.mic -o layer.png --renderer graphviz";
    assert_eq!(answer(folder.command(call).env("PATH", path(&folder))).fine(), "");
    assert_eq!(folder.read("layer.png"), format!("drawn with -Tpng\n{dot}"));
    let folder = script("#!/bin/sh\necho 'no fonts' >&2\nexit 3\n");
    let said = answer(folder.command("graph layer.mic -o x.svg").env("PATH", path(&folder))).misuse();
    assert!(said.starts_with("error: Graphviz's `dot` failed: no fonts\n"), "{said}");
}

#[test]
fn a_thousand_operations_are_drawn() {
    let mut text =
        String::from("fn f(x: f32[4, 4], y: f32[4, 4]) -> f32 {\n    let v0 = x @ y;\n    let v1 = x * y;\n");
    for i in 2..500 {
        let (a, b) = (i - 1, (i * 7) % (i - 1));
        text += &format!("    let v{i} = relu(v{a} @ v{b});\n");
    }
    text += "    sum(v499)\n}\n";
    let svg = Folder::new().with("f.mind", text).mind("graph f.mind -o - --renderer own").fine();
    assert_eq!(svg.matches("<rect class=\"operation\"").count(), 2 + 2 * 498 + 1 + 1);
    // Arrows that would pass too many rows become references.
    assert!(svg.contains("<rect class=\"reference\"") && svg.contains(">value from above<"));
}

#[test]
fn constants_and_attributes_are_shown_in_boxes() {
    let text = "fn f(x: f32[2, 3, 4]) -> f32[4, 1] { let y = x[0, 1..3, ..] * 0.5; \
                expand_dims(sum(y, axes = [0]), axes = [1]) + [[1.0], [2.0], [3.0], [4.5]] }";
    let svg = Folder::new().with("f.mind", text).mind("graph f.mind -o - --renderer own").fine();
    for text in
        [">0.5<", ">[0..1, 1..3, 0..4]<", ">axes 0<", ">axes 1<", ">constant<", ">1.0, 2.0, 3.0, 4.5<"]
    {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

const CELL: &str = "\
fn cell<T>(xs: f32[T, 8], h: f32[8], w: f32[8, 8]) -> f32[8] {
    fold h = h for x in xs { if sum(h) < 100.0 { tanh(h @ w + x) } else { h } }
}
";

#[test]
fn a_loop_is_one_box_that_opens() {
    let folder = Folder::new().with("cell.mind", CELL);
    let closed = folder.mind("graph cell.mind -o - --renderer own").fine();
    for text in [">loop<", ">T steps<", "operations<"] {
        assert!(closed.contains(text), "{text}");
    }
    assert!(!closed.contains(">Tanh<") && !closed.contains(">if<"), "{closed}");

    let one = folder.mind("graph cell.mind -o - --renderer own --expand=1").fine();
    for text in [">state 0<", ">xs<", ">of this step<", ">next state 0<", ">if<"] {
        assert!(one.contains(text), "{text}");
    }
    assert!(!one.contains(">Tanh<"), "{one}");

    let all = folder.mind("graph cell.mind -o - --renderer own --expand").fine();
    assert!(all.contains(">Tanh<") && all.contains(">Dot<"));
    assert_eq!(all.matches("<svg").count(), 1);
    assert_eq!(all.matches("<g ").count() + all.matches("<g>").count(), all.matches("</g>").count());

    folder.mind("graph cell.mind -o cell.dot --expand").fine();
    let dot = folder.read("cell.dot");
    assert_eq!(dot.matches("subgraph cluster_").count(), 3);
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
}

#[test]
fn costs_show_where_the_work_is() {
    let text = "fn f<N>(x: f32[N, 64], w: f32[64, 64]) -> f32[N, 64] { tanh(x @ w) }";
    let folder = Folder::new().with("f.mind", text);
    let svg = folder.mind("graph f.mind -o - --renderer own --costs --dim N=100").fine();
    assert!(svg.contains(">99 % of work, 26 kB<"), "{svg}");
    assert!(svg.contains("style=\"fill:#fbb"), "{svg}");
    let said = folder.mind("graph f.mind -o f.svg --costs").misuse();
    assert_eq!(said, "error: --costs needs the extents of N\n  help: add --dim N=32\n");
    let said = folder.mind("graph f.mind -o f.svg --dim N=3").misuse();
    assert!(said.contains("--costs"), "{said}");

    // A step of a loop counts as often as it runs.
    let text = "fn f(x: f32[50, 8], h: f32[8], w: f32[8, 8]) -> f32[8] { (fold h = h for x in x { tanh(h @ w + x) }) @ w }";
    let folder = folder.with("f.mind", text);
    let svg = folder.mind("graph f.mind -o - --renderer own --costs --expand").fine();
    assert!(svg.contains(">98 % of work, 32 B<"), "{svg}");
}

#[test]
fn operations_along_an_axis_are_named() {
    let text = "fn f(x: f32[2, 3]) -> f32[2, 6] { concat([cumsum(x, axis = 1), x], axis = 1) }";
    let svg = Folder::new().with("f.mind", text).mind("graph f.mind -o - --renderer own").fine();
    for text in [">CumSum<", ">Concat<", ">axis 1<"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

/// A call of the library, and calls of functions of the file, one in the other, with a struct and several results.
const CALLS: &str = "\
struct Layer<I, H> { w: f32[I, H], b: f32[H] }
fn split(x: f32[8]) -> (f32[4], f32[4]) { (x[0..4] * 2.0, x[4..8]) }
fn layer<I, H>(x: f32[I], p: Layer<I, H>) -> f32[H] { nn::softmax(x @ p.w + p.b, axis = 0) }
fn net<N>(xs: f32[N, 8], p: Layer<8, 8>) -> (f32[N, 4], f32[N, 4]) { for x in xs { split(layer(x, p)) } }
";

#[test]
fn a_call_is_one_box_that_opens() {
    let folder = Folder::new().with("calls.mind", CALLS);
    let draw = |options: &str| {
        folder.mind(&format!("graph calls.mind --function net -o - --renderer own {options}")).fine()
    };
    assert!(!draw("").contains(">layer<"));
    let loops = draw("--expand=1");
    for text in [
        ">layer<",
        ">split<",
        ">3 operations<",
        ">split: %4 = Call (%3) : f32[4]<",
        ">f32[4] f32[4]<",
        ">result 1<",
    ] {
        assert!(loops.contains(text), "{text}: {loops}");
    }
    assert!(!loops.contains(">nn::softmax<") && !loops.contains(">Dot<"), "{loops}");
    let two = draw("--expand=2");
    for text in [">nn::softmax<", ">10 operations<", ">Dot<", ">p.w<", ">[0..4]<"] {
        assert!(two.contains(text), "{text}: {two}");
    }
    assert!(!two.contains(">Exp<"), "{two}");
    assert!(draw("--expand").contains(">Exp<"));

    // The same operations without the calls have the same arithmetic.
    let costs = draw("--expand=1 --costs --dim N=3");
    for text in [">98 % of work, 32 B<", ">2 % of work, 32 B<"] {
        assert!(costs.contains(text), "{text}: {costs}");
    }
    let gradient = folder.with("f.mind", "fn f(x: f32[3]) -> f32 { sum(nn::softmax(x, axis = 0)) }");
    let svg = gradient.mind("graph f.mind -o - --renderer own --wrt x").fine();
    assert!(svg.contains(">Exp<") && !svg.contains("nn::softmax"), "{svg}");
}

#[test]
fn results_of_a_call_that_nothing_reads_are_left_out() {
    let text = "fn g(x: f32[3]) -> (f32[3], f32[3]) { (tanh(x), exp(x)) } \
                fn f(x: f32[3]) -> f32[3] { let (y, _) = g(x); y }";
    let folder = Folder::new().with("f.mind", text);
    let svg = folder.mind("graph f.mind --function f -o - --renderer own").fine();
    assert!(svg.contains(">g<") && !svg.contains(">result 1<"), "{svg}");
}

/// The width and the height in the header of a PNG file.
fn size_of_png(file: &[u8]) -> [u32; 2] {
    assert!(file.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"));
    [16, 20].map(|at| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes")))
}

#[test]
fn a_png_has_twice_the_pixels_of_the_svg() {
    let folder = Folder::new().with("calls.mind", CALLS).with("loss.mind", LOSS);
    for (program, name) in [("calls.mind --function net --expand", "calls"), ("loss.mind --wrt w,b", "loss")]
    {
        assert_eq!(folder.mind(&format!("graph {program} -o {name}.png")).fine(), "");
        let svg = folder.mind(&format!("graph {program} -o - --renderer own")).fine();
        let [width, height] = size_of_png(&fs::read(folder.path(&format!("{name}.png"))).unwrap());
        let size = format!("width=\"{}\" height=\"{}\"", width / 2, height / 2);
        assert!(svg.contains(&size), "{size}");
    }
    folder.mind("graph loss.mind --wrt w,b -o again.png --renderer own").fine();
    assert_eq!(fs::read(folder.path("again.png")).unwrap(), fs::read(folder.path("loss.png")).unwrap());
}

#[test]
fn a_picture_too_large_for_png_is_refused() {
    let text = format!("fn f(x: f32[4]) -> f32[4] {{ {} x }}", "let x = tanh(x);".repeat(600));
    let folder = Folder::new().with("f.mind", text);
    let said = folder.mind("graph f.mind -o f.png").misuse();
    assert!(said.starts_with("error: the picture is too large for .png: "), "{said}");
    assert!(said.ends_with(" pixels\n  help: write f.svg\n"), "{said}");
}
