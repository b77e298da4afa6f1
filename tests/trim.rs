//! The memory of large results and workspaces, which the process keeps until it is trimmed.
//!
//! This is a separate binary because trimming frees the memory that other tests expect to be kept.

use mind::{Tensor, mind};

mind! {
    fn copied<N>(x: f32[N]) -> f32[N, 1] { reshape(x, [N, 1]) }

    /// The running sums are in the workspace.
    fn energy<N>(x: f32[N]) -> f32 {
        let c = cumsum(x, axis = 0);
        sum(c * c)
    }
}

#[test]
fn large_results_and_workspaces_are_kept_until_they_are_trimmed() {
    let x = Tensor::<f32, _>::full_with((10_000_000,), 0.5);
    let part = Tensor::<f32, _>::full_with((300_000,), 0.5);
    let calls =
        [(40_000_000, &(|| drop(copied(&x))) as &dyn Fn()), (1_200_000, &|| assert!(energy(&part) > 0.0))];
    for (bytes, call) in calls {
        call();
        assert_eq!(allocation_counter::measure(call).count_total, 0);
        assert!(mind::trim() >= bytes);
        assert_eq!(mind::trim(), 0);
        assert!(allocation_counter::measure(call).bytes_total >= bytes as u64);
    }
}
