use mind::{Tensor, mind, optim::Adam};

mind! {
    #[derive(Clone)]
    struct Net { w: f32[3, 2], b: f32[2] }

    fn forward<N>(net: Net, x: f32[N, 3]) -> f32[N, 2] {
        nn::dense(x, net.w, net.b)
    }

    fn loss<N>(net: Net, x: f32[N, 3], classes: i64[N]) -> f32 {
        nn::cross_entropy(forward(net, x), classes)
    }

    fn step<N>(
        net: &mut Net, adam: &mut optim::Adam<Net>,
        x: f32[N, 3], classes: i64[N],
    ) -> f32 {
        let (l, g) =
            value_and_grad(loss, wrt = net)(net, x, classes);
        let (new, next) = optim::adam_step(net, g, adam, 0.1);
        net = new;
        adam = next;
        l
    }

    fn accuracy<N>(net: Net, x: f32[N, 3], classes: i64[N]) -> f32 {
        mean(f32(argmax(forward(net, x), axis = 1) == classes))
    }
}

fn main() {
    let x = Tensor::from([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]);
    let classes = Tensor::from([0, 1]);
    let mut net = Net::zeros();
    let mut adam = Adam::zeros_like(&net);
    for _ in 0..3 {
        let loss = step(&mut net, &mut adam, &x, &classes);
        println!("{loss:.4}");
    }
    println!("{:.1}", accuracy(&net, &x, &classes));
}
