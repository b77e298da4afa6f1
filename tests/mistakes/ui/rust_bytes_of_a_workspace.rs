use mind::{Workspace, mind};

mind! {
    pub fn squares<N>(x: f32[N, 3]) -> f32[N, N] { x @ x.T }
}

fn main() {
    let _ = Workspace::with_bytes(squares::peak_bytes());
}
