//! The text of the programs to compile.

use std::fmt::Write;

/// `h = relu(h @ w) + h`, repeated `length` times, as expressions.
pub fn chain(length: usize, end: &str) -> String {
    let mut text = String::from(
        "use mind::{Tensor, mind};\n\nfn main() {\n    let w: Tensor![f32; 64, 64] = Tensor::full(0.01);\n    \
         let h: Tensor![f32; 32, 64] = Tensor::full(0.5);\n",
    );
    for _ in 0..length {
        let _ = writeln!(text, "    let h = mind!(relu(h @ w) + h{end});");
    }
    text + "    println!(\"{}\", h.as_slice()[0]);\n}\n"
}

/// A hundred expressions of different extents, each in its own function.
pub fn hundred() -> String {
    let (mut text, mut calls) = (String::from("use mind::{Tensor, mind};\n"), String::new());
    for i in 0..100 {
        let k = 8 + i % 7;
        let _ = writeln!(
            text,
            "fn f{i}(x: &Tensor![f32; 16, {k}], w: &Tensor![f32; {k}, 12], b: &Tensor![f32; 12], s: f32) -> f32 {{\n    \
             mind!(sum(relu((x @ w + b) * {i}.5 - s) * (x @ w) + exp(b) / 2.0))\n}}"
        );
        let _ = writeln!(
            calls,
            "    t += f{i}(&Tensor::full(0.1), &Tensor::full(0.2), &Tensor::full(0.3), 0.5);"
        );
    }
    format!("{text}\nfn main() {{\n    let mut t = 0.0;\n{calls}    println!(\"{{t}}\");\n}}\n")
}

/// A function of elementwise operations with a matrix product after every 24.
pub fn function(operations: usize) -> String {
    let mut text = String::from(
        "use mind::{Tensor, mind};\n\nmind! {\n    fn f(x: f32[32, 64], w: f32[64, 64]) -> f32 {\n        let h = x;\n",
    );
    for i in 0..operations {
        let step = match i % 25 {
            24 => "h @ w",
            i if i % 3 == 0 => "h * 0.5",
            i if i % 3 == 1 => "h + x",
            _ => "relu(h)",
        };
        let _ = writeln!(text, "        let h = {step};");
    }
    text + "        mean(h)\n    }\n}\n\nfn main() {\n    println!(\"{}\", f(&Tensor::full(0.5), &Tensor::full(0.01)));\n}\n"
}

/// The `mind!` block of the digits example.
pub fn digits() -> String {
    let example = include_str!("../../examples/digits/network.rs");
    let start = example.find("mind! {").expect("the example has a block");
    let length = example[start..].find("\n}\n").expect("the block ends") + "\n}\n".len();
    // The block only has to compile, so nothing calls it.
    format!(
        "#![allow(dead_code, reason = \"nothing calls the functions\")]\nuse mind::mind;\n\n{}\nfn main() {{}}\n",
        &example[start..start + length]
    )
}

/// The smallest program that uses the project.
pub fn minimal() -> String {
    "fn main() {\n    let f = mind::mind!(|x: f32[2, 3], w: f32[3, 2]| relu(x @ w));\n    \
     println!(\"{:?}\", f(&mind::Tensor::full(1.0), &mind::Tensor::full(0.5)));\n}\n"
        .to_owned()
}

/// Horner's rule for a polynomial of `count` coefficients at the elements of a vector, and its gradient.
pub fn horner(count: usize) -> String {
    let first = format!("c[{}]", count - 1);
    let terms = (0..count - 1).rev();
    let value = terms.fold(first, |value, index| format!("({value} * x + c[{index}])"));
    format!(
        "#![allow(dead_code, reason = \"nothing calls the functions\")]\nuse mind::mind;\n\nmind! {{\n    #[grad(x, c)]\n    \
         pub fn horner<N>(x: f32[N], c: f32[{count}]) -> f32 {{\n        sum({value})\n    }}\n}}\n\n\
         fn main() {{\n    let x = mind::Tensor::<f32, _>::full_with((100,), 0.5);\n    \
         println!(\"{{:?}}\", horner_grad(&x, &mind::Tensor::full(0.1)));\n}}\n"
    )
}

/// A network of 16 layers with the parameters of VGG-16 (Simonyan and Zisserman 2015, table 1, column D). In place of a
/// pooling layer, the last convolution of the stage has strides of 2, which gives the same extents.
pub fn vgg() -> String {
    const STAGES: [(usize, usize); 5] = [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)];
    const DENSE: [usize; 3] = [4096, 4096, 1000];
    let (mut network, mut extent, mut channels) = (Network::default(), 224, 3);
    for (convolutions, outputs) in STAGES {
        for convolution in 1..=convolutions {
            let strides = if convolution == convolutions { 2 } else { 1 };
            network.convolution(channels, outputs, strides);
            channels = outputs;
        }
        extent /= 2;
    }
    let mut inputs = extent * extent * channels;
    let _ = writeln!(network.body, "        let h = reshape(h, [8, {inputs}]);");
    for (layer, outputs) in DENSE.into_iter().enumerate() {
        network.dense(inputs, outputs);
        if layer + 1 < DENSE.len() {
            network.body.push_str("        let h = relu(h);\n");
        }
        inputs = outputs;
    }
    network.program("f32[8, 224, 224, 3]", "f32[8, 1000]")
}

/// A network of `count` equal convolutions of 64 channels.
pub fn convolutions(count: usize) -> String {
    let mut network = Network::default();
    for _ in 0..count {
        network.convolution(64, 64, 1);
    }
    // The struct needs a field even where the network has no layer.
    network.fields.push_str("        scale: f32,\n");
    network.body.push_str("        let h = h * p.scale;\n");
    network.program("f32[8, 32, 32, 64]", "f32[8, 32, 32, 64]")
}

/// The text of a network: its parameters and layers.
#[derive(Default)]
struct Network {
    layers: usize,
    fields: String,
    body: String,
}

impl Network {
    fn convolution(&mut self, inputs: usize, outputs: usize, strides: usize) {
        let layer = self.layer(&format!("3, 3, {inputs}, {outputs}"), outputs);
        let call = format!("conv2d(h, p.w{layer}, strides = [{strides}, {strides}], padding = same)");
        let _ = writeln!(self.body, "        let h = relu({call} + p.b{layer});");
    }

    fn dense(&mut self, inputs: usize, outputs: usize) {
        let layer = self.layer(&format!("{inputs}, {outputs}"), outputs);
        let _ = writeln!(self.body, "        let h = h @ p.w{layer} + p.b{layer};");
    }

    fn layer(&mut self, weights: &str, outputs: usize) -> usize {
        self.layers += 1;
        let layer = self.layers;
        let _ = writeln!(self.fields, "        w{layer}: f32[{weights}],\n        b{layer}: f32[{outputs}],");
        layer
    }

    /// A program that computes the network's mean squared error and its gradient.
    fn program(&self, input: &str, output: &str) -> String {
        let Self { fields, body, .. } = self;
        format!(
            "use mind::{{Tensor, mind}};\n\nmind! {{\n    struct Parameters {{\n{fields}    }}\n\n    \
             fn network(x: {input}, p: Parameters) -> {output} {{\n        let h = x;\n{body}        h\n    }}\n\n    \
             #[grad(p)]\n    fn loss(x: {input}, y: {output}, p: Parameters) -> f32 {{\n        \
             let e = network(x, p) - y;\n        mean(e * e)\n    }}\n}}\n\n\
             fn main() {{\n    let p = Parameters::zeros();\n    \
             let (loss, _) = loss_grad(&Tensor::zeros(), &Tensor::zeros(), &p);\n    println!(\"{{loss}}\");\n}}\n"
        )
    }
}

/// A name, a function that returns the program of a given length, and the lengths.
type Repeated = (&'static str, fn(usize) -> String, &'static [usize]);

/// Programs that repeat a piece of code.
pub const REPEATED: &[Repeated] = &[
    ("operations", operations, &[100, 1000, 20_000]),
    ("operations with products and their gradient", with_gradient, &[100, 500, 2000]),
    ("layers of 4×8 by 8×8 with their gradient", layers, &[50, 200, 800]),
    ("fields of a struct with their gradient", fields, &[25, 100, 400]),
    ("steps of a simulation with their gradient", steps, &[4, 16, 64, 256]),
];

fn operations(length: usize) -> String {
    let head = "fn f(x: f32[32, 64], y: f32[32, 64]) -> f32[32, 64] {\n        let h = x;\n";
    let body = "        let h = relu(h) - y;\n        let h = h * y + x;\n".repeat(length / 4);
    long(&format!("{head}{body}        h\n    }}"), "f(&Tensor::full(0.5), &Tensor::full(0.1))[[0, 0]]")
}

fn with_gradient(length: usize) -> String {
    let head = "#[grad(x, w)]\n    fn f(x: f32[32, 64], w: f32[64, 64]) -> f32 {\n        let h = x;\n";
    let mut body = String::new();
    for i in 0..length {
        let step = if i % 25 == 24 { "relu(h @ w) + h" } else { "h * 1.01 + x" };
        let _ = writeln!(body, "        let h = {step};");
    }
    long(
        &format!("{head}{body}        mean(h)\n    }}"),
        "f_grad(&Tensor::full(0.5), &Tensor::full(0.01)).1.0[[0, 0]]",
    )
}

fn layers(length: usize) -> String {
    let head = "#[grad(w)]\n    fn f(x: f32[4, 8], w: f32[8, 8], b: f32[8]) -> f32 {\n        let h = x;\n";
    let body = "        let h = relu(h @ w + b);\n".repeat(length);
    let call = "f_grad(&Tensor::full(0.5), &Tensor::full(0.1), &Tensor::full(0.1)).1[[0, 0]]";
    long(&format!("{head}{body}        mean(h)\n    }}"), call)
}

fn fields(length: usize) -> String {
    let mut text = "struct P { ".to_owned();
    (0..length).for_each(|i| _ = write!(text, "w{i}: f32[8, 8], "));
    text.push_str("}\n    #[grad(p)]\n    fn f(x: f32[4, 8], p: P) -> f32 {\n        let h = x;\n");
    (0..length).for_each(|i| _ = writeln!(text, "        let h = relu(h @ p.w{i});"));
    long(&format!("{text}        mean(h)\n    }}"), "f_grad(&Tensor::full(0.5), &P::zeros()).1.w0[[0, 0]]")
}

fn steps(length: usize) -> String {
    let head = "#[grad(x)]\n    fn f(x: f32[16], v: f32[16], k: f32) -> f32 {\n";
    let body = "        let d = x[1..] - x[..15] - 1.0;\n        let v = v - 0.01 * k * x + 0.001 * sum(d * d);\n        \
                let x = x + 0.01 * v;\n";
    let body = body.repeat(length);
    long(
        &format!("{head}{body}        0.5 * sum(v * v)\n    }}"),
        "f_grad(&Tensor::full(0.1), &Tensor::full(0.0), 1.0).1[[0]]",
    )
}

fn long(function: &str, call: &str) -> String {
    format!(
        "use mind::{{Tensor, mind}};\n\nmind! {{\n    {function}\n}}\n\nfn main() {{\n    println!(\"{{}}\", {call});\n}}\n"
    )
}
