mind::mind! {
    #[cfg(unix)]
    fn a(x: f32) -> f32 { x }
    #[cfg(not(unix))]
    fn a(x: f32) -> f32 { x }
    #[cfg(windows)]
    fn b(x: f32) -> f32 { x }
    #[cfg(test)]
    fn c(x: f32) -> f32 { x }
    #[cfg(debug_assertions)]
    fn d(x: f32) -> f32 { x }
    #[cfg(target_os = "linux")]
    fn e(x: f32) -> f32 { x }
    #[cfg(target_os = "macos")]
    fn f(x: f32) -> f32 { x }
    #[cfg(target_os = "none")]
    fn g(x: f32) -> f32 { x }
}

fn main() {}
