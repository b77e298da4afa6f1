//! Builds steps from clusters: assigns buffers, converts each cluster to a step, and places results and updates.

use crate::{
    opt::Optimised,
    plan::{
        Buffer, BufferId, Carry, Conv2d, Integers, KernelCall, KernelOperand, Limits, Location, LoopStep,
        MatMul, Nest, Operand, Parameter, Pass, Plan, Returned, Scalar, ScalarStep, Source, Step, Store,
        Update, View, Watching, arena,
        finish::finish,
        fusion::{self, Fusion},
        graph::{Delivery, Graph, Item, ItemId, ItemOperand, Work},
        joined, order,
        program::{self, Cluster},
        storage::{self, Storage},
        strips, view,
    },
    ty::{Shape, Type},
};

pub(super) fn build(module: &Optimised, updates: &[Update], watching: Watching, limits: &Limits) -> Plan {
    let graph =
        Graph::new(module, updates, watching, &|body, updates| build(body, updates, Watching::Shown, limits));
    let fusion = fusion::fuse(&graph);
    let mut planner = Planner::new(&fusion);
    for cluster in fusion.partition.in_order() {
        planner.cluster(cluster);
    }
    planner.finish(module, limits)
}

struct Planner<'g> {
    graph: &'g Graph,
    fusion: &'g Fusion<'g>,
    storage: Storage,
    buffers: Vec<Buffer>,
    /// The buffer of each item that is in memory.
    buffer_of: Vec<Option<BufferId>>,
    steps: Vec<Step>,
}

impl<'g> Planner<'g> {
    fn new(fusion: &'g Fusion<'g>) -> Self {
        let graph = fusion.graph;
        let mut planner = Self {
            graph,
            fusion,
            storage: storage::decide(fusion),
            buffers: Vec::new(),
            buffer_of: vec![None; graph.items.len()],
            steps: Vec::new(),
        };
        let mut places: Vec<Location> = vec![arena::UNASSIGNED; graph.items.len()];
        for (result, delivery) in graph.returned.iter().enumerate() {
            match delivery {
                Delivery::Item(item) => places[*item] = Location::Result(result),
                Delivery::Scalar(_) => {}
            }
        }
        let is_sparse = sparse(graph);
        for (id, item) in graph.items.iter().enumerate().filter(|(id, _)| planner.storage.is_stored[*id]) {
            let place = match &item.work {
                Work::Input(input) => Location::Input(*input),
                Work::Constant(data) => Location::Constant(data.clone()),
                _ => places[id].clone(),
            };
            let ty = Type::new(item.dtype, item.shape.clone());
            let is_sparse = is_sparse[id];
            planner.buffers.push(Buffer { place, ty, value: item.value, is_sparse });
            planner.buffer_of[id] = Some(BufferId(planner.buffers.len() - 1));
        }
        planner
    }

    fn cluster(&mut self, id: ItemId) {
        let members = self.fusion.partition.members(id);
        let step = match self.fusion.space(id) {
            Some(space) => {
                let members = self.with_repeated(members);
                let buffers: Vec<Option<BufferId>> = members
                    .iter()
                    .map(|member| self.buffer_of[*member].filter(|_| self.fusion.partition.of(*member) == id))
                    .collect();
                let cluster = Cluster {
                    graph: self.graph,
                    space,
                    members: &members,
                    buffers: &buffers,
                    buffer_of: &|item| self.stored(item),
                };
                match space.kernel {
                    Some(kernel) => Some(self.kernel(&self.graph.items[kernel], &cluster)),
                    None => program::nest(&cluster).map(Step::Nest),
                }
            }
            None => self.unfused_step(members[0]),
        };
        self.steps.extend(step);
    }

    /// The members and the items that they compute again, ascending.
    fn with_repeated(&self, members: &[ItemId]) -> Vec<ItemId> {
        let mut all = members.to_vec();
        for member in members {
            for read in &self.graph.items[*member].reads {
                if let Some(repeated) = read.item().and_then(|item| self.storage.repeated[item].as_ref()) {
                    all.extend(repeated);
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn stored(&self, item: ItemId) -> BufferId {
        self.buffer_of[item].expect("an item that other steps read is stored")
    }

    fn view(&self, read: &ItemOperand) -> View {
        match read {
            ItemOperand::View(view) => view.of(self.stored(read.item().expect("a view of memory"))),
            ItemOperand::Scalar(scalar) => View::scalar(scalar.clone(), &Shape::scalar()),
        }
    }

    fn read_buffer(&self, read: &ItemOperand) -> BufferId {
        self.stored(read.item().expect("kernels read memory"))
    }

    /// A product or convolution with the operations that were fused to it.
    fn kernel(&self, item: &Item, cluster: &Cluster<'_>) -> Step {
        let finish = finish(self.fusion, cluster);
        match &item.work {
            Work::MatMul { batch, extents } => Step::MatMul(MatMul {
                lhs: self.view(&item.reads[0]),
                rhs: self.view(&item.reads[1]),
                batch: batch.clone(),
                extents: extents.clone(),
                finish,
            }),
            Work::Conv2d(conv) => {
                let [input, filter, output] = conv.shapes.clone();
                Step::Conv2d(Conv2d {
                    kind: conv.kind,
                    convolution: conv.convolution.clone(),
                    input,
                    filter,
                    output,
                    operands: [0, 1].map(|position| self.read_buffer(&item.reads[position])),
                    finish,
                })
            }
            _ => unreachable!("only products and convolutions have a finish"),
        }
    }

    /// An item that nothing is fused to.
    fn unfused_step(&self, id: ItemId) -> Option<Step> {
        let item = &self.graph.items[id];
        let reads = &item.reads;
        Some(match &item.work {
            Work::Input(_) | Work::Constant(_) | Work::LoopBuffer => return None,
            Work::Copy => Step::Nest(self.copy(&item.reads[0], self.stored(id), &item.space)),
            Work::Scalar(op) => Step::Scalar(ScalarStep {
                result: item.value,
                op: *op,
                operands: reads.iter().map(number).collect(),
                dtype: item.dtype,
                of: item.of,
            }),
            Work::Load => Step::Load { result: item.value, from: self.view(&reads[0]) },
            Work::Dot => {
                Step::Dot { result: item.value, operands: [self.view(&reads[0]), self.view(&reads[1])] }
            }
            Work::Check { must, dtype } => Step::Check {
                integers: match &reads[0] {
                    ItemOperand::Scalar(scalar) => Integers::Scalar(scalar.clone(), *dtype),
                    read @ ItemOperand::View(_) => Integers::Buffer(self.read_buffer(read)),
                },
                must: must.clone(),
            },
            Work::Call { op, operands, ty } => {
                assert_eq!(reads.len(), operands.len(), "an argument for each operand");
                Step::Call(KernelCall {
                    op: op.clone(),
                    operands: reads.iter().zip(operands).map(|(read, ty)| self.argument(read, ty)).collect(),
                    ty: ty.clone(),
                    result: self.stored(id),
                })
            }
            Work::Loop(of) => {
                let operands = reads.iter().zip(&of.operands);
                let operands = operands.map(|(read, (ty, access))| (self.argument(read, ty), *access));
                Step::Loop(LoopStep {
                    body: Box::new(of.body.clone()),
                    steps: of.steps.clone(),
                    reverse: of.reverse,
                    guard: of.guard,
                    operands: operands.collect(),
                    carries: of
                        .carries
                        .iter()
                        .map(|(last, second)| Carry {
                            last: self.stored(*last),
                            second: second.map(|item| self.stored(item)),
                        })
                        .collect(),
                    stacked: of.stacked.iter().map(|item| self.stored(*item)).collect(),
                })
            }
            Work::Watch { watch, ty } => {
                Step::Watch { watch: watch.clone(), argument: self.argument(&reads[0], ty) }
            }
            Work::Elementwise(_) | Work::Fold { .. } | Work::MatMul { .. } | Work::Conv2d(_) => {
                unreachable!("these have a space")
            }
        })
    }

    /// A value of this type as an argument.
    fn argument(&self, read: &ItemOperand, ty: &Type) -> KernelOperand {
        match ty.rank() {
            0 => KernelOperand::Scalar(number(read), ty.dtype),
            _ => KernelOperand::Tensor(self.read_buffer(read), ty.clone()),
        }
    }

    /// A nest that copies the elements of a view in order.
    fn copy(&self, read: &ItemOperand, to: BufferId, space: &[crate::dim::Dim]) -> Nest {
        let mut extents = space.to_vec();
        let mut target = View::contiguous(to, &Shape::from_slice(space));
        let mut loads: Vec<View> = match read {
            ItemOperand::View(_) => vec![self.view(read)],
            ItemOperand::Scalar(_) => Vec::new(),
        };
        let operand = match read {
            ItemOperand::View(_) => Operand::Load(0),
            ItemOperand::Scalar(scalar) => Operand::Scalar(scalar.clone()),
        };
        let mut views: Vec<&mut View> = loads.iter_mut().chain([&mut target]).collect();
        view::collapse_all(&mut extents, &mut views);
        let row_axes = extents.len() - 1;
        let pass = Pass { stores: vec![Store { operand, target }], ..Pass::default() };
        Nest { extents, row_axes, loads, passes: vec![pass] }
    }

    /// Stores new values to the inputs that they update, orders the steps, and assigns memory to temporaries.
    fn finish(mut self, module: &Optimised, limits: &Limits) -> Plan {
        let mut last = Vec::new();
        let mut updated: Vec<(ItemId, usize)> = Vec::new();
        for (delivery, input) in &self.graph.updates {
            match delivery {
                Delivery::Scalar(scalar) => {
                    last.push(Step::UpdateScalar { from: scalar.clone(), input: *input });
                }
                Delivery::Item(item) => updated.push((*item, *input)),
            }
        }
        // The values that a check needs are computed before any memory that the caller sees is written.
        let (early, updated): (Vec<_>, Vec<_>) =
            updated.into_iter().partition(|(item, _)| self.graph.items[*item].feeds_check);
        let [early, updated] = [early, updated].map(|updates| {
            updates.into_iter().map(|(item, input)| (self.stored(item), input)).collect::<Vec<_>>()
        });
        let delivered: Vec<BufferId> = early.iter().chain(&updated).map(|(from, _)| *from).collect();
        self.steps = strips::cut(
            &mut self.buffers,
            self.steps,
            &delivered,
            &strips::StripSymbols::new(&module.symbols()),
            limits,
        );
        let mut copied = order::update_in_place(&mut self.buffers, &mut self.steps, &updated);
        copied.extend(early);
        let kept: Vec<BufferId> = copied.iter().map(|(from, _)| *from).collect();
        self.steps = joined::write_parts(&mut self.buffers, self.steps, &kept);
        for (from, input) in copied {
            last.push(Step::Update { from, to: order::input_buffer(&self.buffers, input) });
        }
        let mut steps = order::checks_first(self.steps, &self.buffers);
        steps.append(&mut last);
        let arenas = arena::assign(&mut self.buffers, &steps);
        strips::place_parts(&mut self.buffers, &steps);
        let inputs = module.inputs().enumerate().map(|(position, (name, ty))| Parameter {
            name: name.clone(),
            ty: ty.clone(),
            updated: self.graph.updates.iter().any(|(_, input)| *input == position),
        });
        let returned = self.graph.returned.iter().map(|delivery| match delivery {
            Delivery::Item(item) => Returned::Buffer(self.buffer_of[*item].expect("results are stored")),
            Delivery::Scalar(scalar) => Returned::Scalar(scalar.clone()),
        });
        let is_update = |output: &usize| self.graph.updated_outputs.contains(output);
        let results = (0..module.outputs().len()).filter(|output| !is_update(output));
        let results = results.map(|output| module.ty(module.outputs()[output]).clone());
        Plan {
            inputs: inputs.collect(),
            results: results.collect(),
            returned: returned.collect(),
            symbols: module.symbols(),
            requirements: module.requirements().to_vec(),
            buffers: self.buffers,
            arenas,
            steps,
        }
    }
}

/// For each item, whether most of its elements are expected to be 0.
fn sparse(graph: &Graph) -> Vec<bool> {
    let mut is_sparse: Vec<bool> = Vec::with_capacity(graph.items.len());
    for item in &graph.items {
        let is_zero = |read: &ItemOperand| match read {
            ItemOperand::View(View { source: Source::Scalar(scalar), .. }) | ItemOperand::Scalar(scalar) => {
                scalar.is_zero()
            }
            ItemOperand::View(_) => {
                read.item().and_then(|item| is_sparse.get(item)).is_some_and(|is_sparse| *is_sparse)
            }
        };
        let zeros: Vec<bool> = item.reads.iter().map(is_zero).collect();
        is_sparse.push(match item.work {
            Work::Elementwise(map) => map.is_mostly_zero(&zeros),
            Work::Copy => zeros == [true],
            _ => false,
        });
    }
    is_sparse
}

fn number(read: &ItemOperand) -> Scalar {
    match read {
        ItemOperand::Scalar(scalar) => scalar.clone(),
        ItemOperand::View(View { source: Source::Scalar(scalar), .. }) => scalar.clone(),
        ItemOperand::View(_) => unreachable!("every value of rank 0 is a number"),
    }
}
