//! Structs with a leading axis: `Block[12]`.

use mind::optim::Adam;
use mind::{Const, Parameters, Tensor, Xoshiro256, mind};

mind! {
    #[derive(Clone, Debug, PartialEq)]
    struct Block { w: f64[4, 4], b: f64[4], gain: f64 }

    fn block<N>(p: Block, x: f64[N, 4]) -> f64[N, 4] { x + p.gain * tanh(x @ p.w + p.b) }

    #[derive(Clone, Debug, PartialEq)]
    struct Net { first: f64[3, 4], blocks: Block[12] }

    fn forward<N>(p: Net, x: f64[N, 3]) -> f64[N, 4] {
        fold x = x @ p.first for layer in p.blocks { block(layer, x) }
    }

    fn loss<N>(p: Net, x: f64[N, 3]) -> f64 { mean(forward(p, x) * forward(p, x)) }

    fn slope<N>(p: Net, x: f64[N, 3]) -> Net { grad(loss, wrt = p)(p, x) }

    fn of_blocks<N>(p: Net, x: f64[N, 3]) -> Block[12] { grad(loss, wrt = p.blocks)(p, x) }

    fn learn<N>(p: &mut Net, state: &mut optim::Adam<Net>, x: f64[N, 3]) {
        let g = grad(loss, wrt = p)(p, x);
        let (new, next) = optim::adam_step(p, g, state, 0.125);
        p = new;
        state = next;
    }

    fn descend<N>(p: &mut Net, x: f64[N, 3]) {
        let g = grad(loss, wrt = p)(p, x);
        p.blocks -= 0.5 * g.blocks;
        p.first -= 0.5 * g.first;
    }

    /// The same network with a field for each block.
    #[derive(Clone, Debug, PartialEq)]
    struct Unrolled {
        first: f64[3, 4],
        a: Block, b: Block, c: Block, d: Block, e: Block, f: Block,
        g: Block, h: Block, i: Block, j: Block, k: Block, l: Block,
    }

    fn unrolled<N>(p: Unrolled, x: f64[N, 3]) -> f64[N, 4] {
        let x = block(p.d, block(p.c, block(p.b, block(p.a, x @ p.first))));
        let x = block(p.h, block(p.g, block(p.f, block(p.e, x))));
        block(p.l, block(p.k, block(p.j, block(p.i, x))))
    }

    fn unrolled_loss<N>(p: Unrolled, x: f64[N, 3]) -> f64 { mean(unrolled(p, x) * unrolled(p, x)) }

    fn unrolled_slope<N>(p: Unrolled, x: f64[N, 3]) -> Unrolled { grad(unrolled_loss, wrt = p)(p, x) }

    fn unrolled_learn<N>(p: &mut Unrolled, state: &mut optim::Adam<Unrolled>, x: f64[N, 3]) {
        let g = grad(unrolled_loss, wrt = p)(p, x);
        let (new, next) = optim::adam_step(p, g, state, 0.125);
        p = new;
        state = next;
    }
}

fn sample(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i + seed * 31) * 7919 % 1009) as f64 / 1009.0 - 0.5).collect()
}

fn blocks(count: usize) -> Vec<Block> {
    let one = |seed| Block {
        w: Tensor::from_vec((Const, Const), sample(16, seed)).expect("as many elements as places"),
        b: Tensor::from_vec((Const,), sample(4, seed + 100)).expect("as many elements as places"),
        gain: 0.5 + seed as f64 / 24.0,
    };
    (0..count).map(one).collect()
}

fn nets() -> (Net, Unrolled, Tensor<f64, (usize, Const<3>)>) {
    let first = Tensor::from_vec((Const, Const), sample(12, 7)).expect("as many elements as places");
    let each: [Block; 12] = blocks(12).try_into().expect("there are 12");
    let blocks = BlockStack::from(each.clone());
    let [a, b, c, d, e, f, g, h, i, j, k, l] = each;
    let x = Tensor::from_vec((5, Const), sample(15, 8)).expect("as many elements as places");
    (Net { first: first.clone(), blocks }, Unrolled { first, a, b, c, d, e, f, g, h, i, j, k, l }, x)
}

fn is_near(found: &impl Parameters, expected: &impl Parameters) {
    let (found, expected) = (found.parameters(), expected.parameters());
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        let [found, expected] = [found, expected].map(|part| part.as_slice::<f64>().expect("all are f64"));
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * (1.0 + b.abs());
        assert!(found.iter().zip(expected).all(is_near), "{found:?}, {expected:?}");
    }
}

fn is_same_net(net: &Net, unrolled: &Unrolled) {
    is_near(&net.first, &unrolled.first);
    let Unrolled { a, b, c, d, e, f, g, h, i, j, k, l, .. } = unrolled;
    let separate = [a, b, c, d, e, f, g, h, i, j, k, l];
    for (at, expected) in separate.into_iter().enumerate() {
        is_near(&net.blocks.get(at).expect("there are 12"), expected);
    }
}

#[test]
fn a_fold_over_a_stack_is_the_unrolled_program() {
    let (net, separate, x) = nets();
    assert_eq!(forward(&net, &x), unrolled(&separate, &x));
    let by_net = slope(&net, &x);
    is_same_net(&by_net, &unrolled_slope(&separate, &x));
    assert_eq!(of_blocks(&net, &x), by_net.blocks);
}

#[test]
fn optimisers_update_a_stack_as_they_update_its_elements() {
    let (mut net, mut separate, x) = nets();
    let (mut state, mut of_separate) = (Adam::zeros_like(&net), Adam::zeros_like(&separate));
    for _ in 0..3 {
        learn(&mut net, &mut state, &x);
        unrolled_learn(&mut separate, &mut of_separate, &x);
        is_same_net(&net, &separate);
    }
    let before = loss(&net, &x);
    descend(&mut net, &x);
    assert!(loss(&net, &x) < before);
}

#[test]
fn rust_makes_stacks_from_structs_and_takes_them_apart() {
    let all = blocks(3);
    let stack = BlockStack::<usize>::try_from(all.clone()).expect("they have the same extents");
    assert_eq!(stack.w.dims(), [3, 4, 4]);
    assert_eq!(stack.gain.dims(), [3]);
    assert_eq!((0..stack.len()).map(|at| stack.get(at).expect("it is in range")).collect::<Vec<_>>(), all);
    assert_eq!(stack.get(3), None);
    let [a, b, c] = [0, 1, 2].map(|at| all[at].clone());
    let fixed: BlockStack<Const<3>> = [a, b, c].into();
    assert_eq!(fixed.w.as_slice(), stack.w.as_slice());
    let same: Result<BlockStack<Const<3>>, _> = all.clone().try_into();
    assert_eq!(same.as_ref(), Ok(&fixed));
    let other: Result<BlockStack<Const<4>>, _> = all.try_into();
    assert_eq!(
        other.expect_err("there are three").to_string(),
        "E6009: dimension 0 differs: got f64[3, 4, 4], needed f64[4, 4, 4]"
    );
    let none: Result<BlockStack<usize>, _> = Vec::new().try_into();
    assert_eq!(
        none.expect_err("there are none").to_string(),
        "E3006: `BlockStack`: a stack: dimension 0 is 0, needed 1 or more"
    );
    let names: Vec<_> = nets().0.parameters().into_iter().map(|part| part.name).collect();
    assert_eq!(names, ["first", "blocks.w", "blocks.b", "blocks.gain"]);
}

/// As in a single struct: a bias is zero, and the fans of a matrix are its own extents.
#[test]
fn initial_values_of_a_stack_are_those_of_its_elements() {
    let net = Net::he_normal(&mut Xoshiro256::new(3));
    assert_eq!(net.blocks.b, Tensor::zeros());
    let mut random = Xoshiro256::new(3);
    let mut single = Net::zeros();
    mind::Initialiser::HeNormal.fill(&mut single.first, &mut random);
    for at in 0..12 {
        let mut w: Tensor<f64, (Const<4>, Const<4>)> = Tensor::zeros();
        mind::Initialiser::HeNormal.fill(&mut w, &mut random);
        assert_eq!(net.blocks.get(at).expect("there are 12").w, w);
    }
    assert_eq!(BlockStack::<usize>::zeros_with(2).w.dims(), [2, 4, 4]);
}

mod of_dims {
    use super::*;

    mind! {
        #[derive(Clone, Debug, PartialEq)]
        struct Inner<I> { w: f64[I, 2], scale: f64 }

        #[derive(Clone, Debug, PartialEq)]
        struct Cell<D> { inner: Inner<D>, b: f64[D] }

        #[derive(Clone, Debug, PartialEq)]
        struct Grid<D, R, L> { cells: Cell<D>[R, L], last: Cell<D>[L] }

        fn cell<D>(p: Cell<D>, x: f64[D]) -> f64[D] {
            x * p.b + sum(p.inner.w, axis = 1) * p.inner.scale
        }

        fn grid<D, R, L>(p: Grid<D, R, L>, x: f64[D]) -> f64[D] {
            let x = fold x = x for row in p.cells { fold x = x for one in row { cell(one, x) } };
            fold x = x for one in p.last, reverse = true { cell(one, x) }
        }

        /// The values of the steps of each form of loop.
        fn steps<D, L, K>(p: Cell<D>[L], xs: f64[L, D], k: f64[K]) -> (f64[D], Cell<D>[L], f64[L, D], (Cell<D>[L], f64[L]), Cell<D>[K, L]) {
            let (x, seen) = scan x = xs[0] for (one, x2) in (p, xs) {
                let x = cell(one, x) + x2;
                (x, Cell { b: x, ..one })
            };
            let each = for (one, x) in (p, xs) { cell(one, x) };
            let pair = for one in p { (Cell { b: one.b * 2.0, inner: one.inner }, one.inner.scale) };
            let twice = for k in k { for one in p { k * one } };
            (x, seen, each, pair, twice)
        }

        fn picked<D>(p: Cell<D>[3]) -> (Cell<D>, Cell<D>, Cell<D>[2], f64[3, D], f64[2]) {
            (p[1], p[-1], p[0..3;2], p.b, p[1..].inner.scale)
        }

        fn picked_of_grid<D, R>(p: Cell<D>[R, 3]) -> (Cell<D>[3], Cell<D>, Cell<D>[R], Cell<D>[R, 2]) {
            (p[0], p[0, 2], p[.., 1], p[.., 1..])
        }

        fn sums<D, L>(p: Cell<D>[L]) -> f64 { sum(p.b) + sum(p.inner.w * p.inner.w) + mean(p.inner.scale) }

        fn slopes<D, L>(p: Cell<D>[L]) -> Cell<D>[L] { grad(sums, wrt = p)(p) }
    }

    fn cells(count: usize) -> Vec<Cell<Const<3>>> {
        let one = |seed: usize| Cell {
            inner: Inner {
                w: Tensor::from_vec((Const, Const), sample(6, seed)).expect("as many elements as places"),
                scale: seed as f64 + 0.5,
            },
            b: Tensor::from_vec((Const,), sample(3, seed + 50)).expect("as many elements as places"),
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn stacks_of_stacks_and_of_structs_in_structs() {
        let (rows, last) = ([cells(2), cells(4)[2..].to_vec()], cells(2));
        let mut x = Tensor::from([1.0, -2.0, 0.5]);
        let stack =
            |cells: &[Cell<Const<3>>]| CellStack::<usize, _>::try_from(cells.to_vec()).expect("equal");
        let grid_of: Grid<_, usize, _> = Grid {
            cells: rows.iter().map(|row| stack(row)).collect::<Vec<_>>().try_into().expect("equal"),
            last: stack(&last),
        };
        let found = grid(&grid_of, &x);
        for one in rows.iter().flatten().chain(last.iter().rev()) {
            x = cell(one, &x);
        }
        assert_eq!(found, x);
        let (first, one, column, part) = picked_of_grid(
            &CellStackStack::<usize, Const<3>, _>::try_from(vec![CellStack::from([
                cells(3)[0].clone(),
                cells(3)[1].clone(),
                cells(3)[2].clone(),
            ])])
            .expect("it is one"),
        );
        assert_eq!(first.get(2), Some(one));
        assert_eq!(column.get(0), first.get(1));
        assert_eq!(column.len(), 1);
        assert_eq!(part.get(0).and_then(|row| row.get(1)), first.get(2));
    }

    #[test]
    fn every_loop_goes_over_structs_and_gives_stacks() {
        let all = cells(3);
        let xs = Tensor::from_vec((3, Const::<3>), sample(9, 5)).expect("as many elements as places");
        let stack = CellStack::<usize, _>::try_from(all.clone()).expect("equal");
        let (last, seen, each, (pair, scales), twice) = steps(&stack, &xs, &Tensor::from([2.0, 3.0]));
        let row = |at: usize| {
            Tensor::from_vec((Const::<3>,), xs.as_slice()[at * 3..][..3].to_vec()).expect("a row")
        };
        let mut x = row(0);
        for (at, one) in all.iter().enumerate() {
            assert_eq!(&each.as_slice()[at * 3..][..3], cell(one, &row(at)).as_slice());
            x = &cell(one, &x) + &row(at);
            assert_eq!(seen.get(at), Some(Cell { b: x.clone(), ..one.clone() }));
            assert_eq!(pair.get(at), Some(Cell { b: &one.b * 2.0, ..one.clone() }));
            assert_eq!(scales.as_slice()[at], one.inner.scale);
            for (k, by) in [2.0, 3.0].into_iter().enumerate() {
                let found = twice.get(k).expect("there are 2").get(at).expect("there are 3");
                assert_eq!((found.b, found.inner.scale), (&one.b * by, one.inner.scale * by));
            }
        }
        assert_eq!(last, x);
    }

    #[test]
    fn indices_pick_structs() {
        let all = cells(3);
        let stack: CellStack<Const<3>, _> = all.clone().try_into().expect("equal");
        let (one, last, even, b, scales) = picked(&stack);
        assert_eq!((&one, &last), (&all[1], &all[2]));
        assert_eq!((even.get(0), even.get(1), even.len()), (Some(all[0].clone()), Some(all[2].clone()), 2));
        assert_eq!(b, stack.b);
        assert_eq!(scales.as_slice(), [1.5, 2.5]);
        let by = slopes(&stack);
        assert_eq!(by.b, Tensor::full(1.0));
        assert_eq!(by.inner.w, &stack.inner.w * 2.0);
        assert_eq!(by.inner.scale, Tensor::full(1.0 / 3.0));
    }
}

mod imported {
    use super::*;

    mod layers {
        mind::mind! {
            #[derive(Clone, Debug, PartialEq)]
            pub struct Part { pub w: f64[2], scale: f64 }

            #[derive(Clone, Debug, PartialEq)]
            pub struct Lone { pub w: f64[2], scale: f64 }

            pub struct Holder { pub parts: Part[3] }

            pub fn part(p: Part, x: f64[2]) -> f64[2] { x * p.w * p.scale }

            pub fn lone(p: Lone, x: f64[2]) -> f64[2] { x + p.w * p.scale }

            pub fn new_part(w: f64[2]) -> Part { Part { w, scale: 2.0 } }

            pub fn new_lone(w: f64[2]) -> Lone { Lone { w, scale: 3.0 } }

            pub fn all(p: Part[3], x: f64[2]) -> f64[2] { fold x = x for one in p { part(one, x) } }
        }
    }

    mind! {
        use self::layers::{Part as Piece, Lone, Holder, all, part, lone, new_lone};

        #[derive(Clone, Debug, PartialEq)]
        struct Local { b: f64 }

        struct Both { pieces: Piece[3], lones: Lone[2], locals: Local[2] }

        fn both(p: Both, h: Holder, x: f64[2]) -> f64[2] {
            let x = fold x = all(p.pieces, x) for one in h.parts { part(one, x) };
            fold x = x for (one, more) in (p.lones, p.locals) { lone(one, x) + more.b }
        }

        fn lones(w: f64[2, 2]) -> (Lone[2], Piece[3], Local[2]) {
            (for w in w { new_lone(w) }, for i in 0..3 { layers::new_part(w[0] + f64(i)) }, for w in w { Local { b: sum(w) } })
        }
    }

    #[test]
    fn blocks_share_the_stacks_of_the_structs_that_they_import() {
        let w = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        let (lones, pieces, locals) = lones(&w);
        let parts: layers::PartStack<Const<3>> = pieces.clone();
        assert_eq!(parts.get(2), Some(layers::new_part(&Tensor::from([3.0, 4.0]))));
        assert_eq!(lones.get(1), Some(layers::new_lone(&Tensor::from([3.0, 4.0]))));
        let mut x = Tensor::from([1.0, -1.0]);
        let p = Both { pieces, lones: lones.clone(), locals };
        let found = both(&p, &layers::Holder { parts: parts.clone() }, &x);
        x = layers::all(&parts, &layers::all(&parts, &x));
        for (at, b) in [3.0, 7.0].into_iter().enumerate() {
            x = &layers::lone(&lones.get(at).expect("there are 2"), &x) + b;
        }
        assert_eq!(found, x);
    }

    #[test]
    fn closures_and_expressions_take_stacks_that_a_block_has() {
        let parts: layers::PartStack<Const<3>> =
            [1.0, 2.0, 3.0].map(|w| layers::new_part(&Tensor::from([w, w]))).into();
        let twice = mind!(|p: layers::Part[3], x: f64[2]| (layers::all(p, x), for one in p { 2.0 * one }));
        let (y, double) = twice(&parts, &Tensor::from([1.0, -1.0]));
        assert_eq!(y, Tensor::from([48.0, -48.0]));
        assert_eq!(double.get(2).expect("there are 3").w, Tensor::from([6.0, 6.0]));
        let holder = layers::Holder { parts };
        let sums = mind!(use layers::Holder; let h: Holder = holder; sum(h.parts.w));
        assert_eq!(sums, 12.0);
    }
}

/// The macro names the extent of a stack. The name differs from all names of the program.
#[test]
fn structs_may_have_the_name_of_the_symbol_of_a_stack() {
    mind! {
        #[derive(Clone, Debug, PartialEq)]
        struct L { w: f64[2] }

        struct Outer<L2> { l: L, v: f64[L2] }

        fn sums<N>(p: Outer<3>[N], q: L[2]) -> (f64, L) { (sum(p.l.w) + sum(p.v), q[0]) }
    }
    let [one, two] = [1.0, 2.0].map(|w| L { w: Tensor::full(w) });
    let outer = [one.clone(), two.clone()].map(|l| Outer::<Const<3>> { l, v: Tensor::full(1.0) });
    let (sum, first) = sums(&OuterStack::from(outer), &LStack::from([two.clone(), one]));
    assert_eq!((sum, first), (12.0, two));
}
