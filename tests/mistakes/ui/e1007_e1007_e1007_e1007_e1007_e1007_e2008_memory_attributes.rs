use mind::mind;

mind! {
    #[memory(max = "many MiB")]
    fn f(x: f32[3]) -> f32[3] { x }

    #[memory(max = "0 B")]
    fn g(x: f32[3]) -> f32[3] { x }

    #[memory("1 MiB")]
    fn h(x: f32[3]) -> f32[3] { x }

    #[memory(max = "1 MiB")]
    #[memory(max = "2 MB")]
    fn twice(x: f32[3]) -> f32[3] { x }

    #[memory(max = "1 GiB")]
    fn template(x) { x }

    #[memory(max = "1 GB")]
    struct Layer { #[memory(max = "1 KB")] w: f32[3] }
}

fn main() {}
