//! Builds the finish of a product or convolution from the operations that were fused to it.

use crate::{
    plan::{
        BufferId, Finish, Node, Operand, Store, View,
        fusion::Fusion,
        graph::{ItemOperand, Work},
        program::Cluster,
    },
    ty::Shape,
};

/// The finish of a cluster that has a kernel.
pub(super) fn finish(fusion: &Fusion<'_>, cluster: &Cluster<'_>) -> Finish {
    let Cluster { graph, space, members, buffers, buffer_of } = cluster;
    let matrix = |view: &View| fusion.as_matrix(view, space).expect("only what is read as a matrix is fused");
    let whole = View::contiguous(BufferId(0), &Shape::from_slice(&space.extents));
    let extents = [0, 1].map(|axis| matrix(&whole).shape[axis].clone());
    let mut finish = Finish { extents, loads: Vec::new(), nodes: Vec::new(), stores: Vec::new() };
    let mut operands: Vec<Operand> = Vec::with_capacity(members.len());
    for (position, id) in members.iter().enumerate() {
        let item = &graph.items[*id];
        let operand = match item.work {
            Work::Elementwise(op) => {
                let operand = |read: &ItemOperand| match read {
                    ItemOperand::Scalar(scalar) => Operand::Scalar(scalar.clone()),
                    ItemOperand::View(view) => {
                        let view = match read.item() {
                            Some(read) => {
                                if let Ok(member) = members.binary_search(&read) {
                                    return operands[member].clone();
                                }
                                matrix(&view.of(buffer_of(read)))
                            }
                            None => matrix(view),
                        };
                        let known = finish.loads.iter().position(|load| *load == view);
                        Operand::Load(known.unwrap_or_else(|| {
                            finish.loads.push(view);
                            finish.loads.len() - 1
                        }))
                    }
                };
                let operands = item.reads.iter().map(operand).collect();
                finish.nodes.push(Node { op, operands, dtype: item.dtype, of: item.of, value: item.value });
                Operand::Node(finish.nodes.len() - 1)
            }
            _ => Operand::Product,
        };
        if let Some(buffer) = buffers[position] {
            let target = View::contiguous(buffer, &Shape::from_slice(&finish.extents));
            finish.stores.push(Store { operand: operand.clone(), target });
        }
        operands.push(operand);
    }
    finish
}
