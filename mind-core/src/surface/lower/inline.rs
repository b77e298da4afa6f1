//! Calls of templates, replaced by their bodies.
//!
//! It is done on the syntax tree, so that all that comes behind knows bodies alone. The arguments come first, then
//! [`NodeKind::Enter`] binds them, then comes the body, and [`NodeKind::Leave`] is the value of the call.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::arguments::match_arguments;
use super::order::order;
use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast::{Argument, Body, ExprId, Formal, Function, Node, NodeKind, Template};

/// The most nodes that a body may come to.
const MAX_NODES: usize = 1 << 16;

/// The most nodes that the templates of a block may come to.
const MAX_TEMPLATE_NODES: usize = 1 << 20;

/// How deep templates may call each other.
const MAX_DEPTH: usize = 64;

/// The templates of a block, with the calls in them inlined; of one with a mistake only the name is known.
#[derive(Default)]
pub(super) struct Templates(BTreeMap<String, Option<Rc<Template>>>);

/// Inlines the templates that functions of their block call. Mistakes are told where the templates stand.
pub fn inline_templates(functions: &mut [Function], templates: &[Template]) {
    let mut diags = Diags::new();
    let templates = Templates::new(templates, &mut diags, |_| Diags::new());
    for body in functions.iter_mut().filter_map(|function| function.body.as_mut()) {
        templates.inline(body, &mut diags);
    }
}

impl Templates {
    /// Inlines templates into each other; each is then checked by itself.
    pub(super) fn new(written: &[Template], diags: &mut Diags, check: impl Fn(&Template) -> Diags) -> Self {
        let position = |name: &str| written.iter().position(|template| template.name == name);
        let calls: Vec<Vec<(usize, Site)>> = written
            .iter()
            .map(|template| {
                let calls = template.callees();
                calls.filter_map(|(callee, site)| Some((position(&callee.to_string())?, site))).collect()
            })
            .collect();
        let needs: Vec<Vec<usize>> =
            calls.iter().map(|calls| calls.iter().map(|(callee, _)| *callee).collect()).collect();
        let order = order(&needs);
        let mut all = Self(written.iter().map(|template| (template.name.to_string(), None)).collect());
        for cycle in &order.cycles {
            let names: Vec<_> =
                cycle.iter().chain(cycle.first()).map(|at| format!("`{}`", written[*at].name)).collect();
            let message = match &names[..] {
                [name, _] => format!("the template {name} calls itself"),
                _ => format!("templates call each other in a cycle: {}", names.join(" -> ")),
            };
            let next = cycle[1 % cycle.len()];
            let site = calls[cycle[0]].iter().find(|(callee, _)| *callee == next);
            let site = site.map_or(written[cycle[0]].site, |(_, site)| *site);
            diags.push(
                Diag::new(Code::E2009, site, message).help("calls are inlined: write the recursion out"),
            );
        }
        let (mut depths, mut nodes) = (vec![1; written.len()], 0);
        let mut sound = vec![false; written.len()];
        for at in order.nodes {
            let mut template = written[at].clone();
            depths[at] = needs[at].iter().map(|callee| depths[*callee] + 1).max().unwrap_or(1);
            if depths[at] > MAX_DEPTH || nodes > MAX_TEMPLATE_NODES {
                let message = match nodes > MAX_TEMPLATE_NODES {
                    true => format!(
                        "the templates of a block exceed the limit of {MAX_TEMPLATE_NODES} expressions in all"
                    ),
                    false => format!("templates call each other deeper than the limit of {MAX_DEPTH}"),
                };
                diags.push(Diag::new(Code::E1008, template.site, message));
                break;
            }
            let Some(body) = &mut template.body else { continue };
            let mut own = Diags::new();
            all.inline(body, &mut own);
            nodes += body.nodes.len();
            if own.is_empty() {
                own = check(&template);
            }
            // One that calls a broken one is broken, which is told there.
            let is_sound = own.is_empty() && needs[at].iter().all(|callee| sound[*callee]);
            if is_sound && !order.cycles.iter().any(|cycle| cycle.contains(&at)) {
                sound[at] = true;
                all.0.insert(template.name.to_string(), Some(Rc::new(template)));
            }
            diags.extend(own);
        }
        all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces the calls of templates in a body.
    pub(super) fn inline(&self, body: &mut Body, diags: &mut Diags) {
        let calls =
            |node: &Node| node.kind.callee().is_some_and(|callee| self.0.contains_key(&callee.to_string()));
        if !body.nodes.iter().any(calls) {
            return;
        }
        let old = std::mem::take(body);
        let mut inlining = Inlining { nodes: Vec::with_capacity(old.nodes.len()), is_full: false };
        let mut moved: Vec<ExprId> = Vec::with_capacity(old.nodes.len());
        for mut node in old.nodes {
            node.kind.operands_mut().into_iter().for_each(|operand| *operand = moved[operand.index()]);
            let template = node.kind.callee().and_then(|callee| self.0.get(&callee.to_string()));
            let id = match template {
                None => Ok(inlining.push(node)),
                Some(None) => Ok(inlining.push(Node { kind: NodeKind::Unread, ..node })),
                Some(Some(template)) => inlining.call(template, &node),
            };
            let site = inlining.nodes.last().map_or(Site::Nowhere, |last| last.site);
            moved.push(id.unwrap_or_else(|diag| {
                diags.extend(diag);
                inlining.push(Node { kind: NodeKind::Unread, site })
            }));
        }
        *body = Body { nodes: inlining.nodes, tail: old.tail.map(|tail| moved[tail.index()]) };
    }
}

/// A body on its way.
struct Inlining {
    nodes: Vec<Node>,
    /// Whether a call was beyond the limit.
    is_full: bool,
}

impl Inlining {
    fn push(&mut self, node: Node) -> ExprId {
        self.nodes.push(node);
        ExprId(u32::try_from(self.nodes.len() - 1).expect("bodies are bounded"))
    }

    /// The nodes of a body, behind those there are.
    fn append(&mut self, body: &Body) -> Option<ExprId> {
        let shift = u32::try_from(self.nodes.len()).expect("bodies are bounded");
        self.nodes.extend(body.nodes.iter().cloned().map(|mut node| {
            node.kind.operands_mut().into_iter().for_each(|operand| operand.0 += shift);
            node
        }));
        body.tail.map(|tail| ExprId(tail.0 + shift))
    }

    fn call(&mut self, template: &Rc<Template>, node: &Node) -> Result<ExprId, Option<Diag>> {
        let (name, site) = (&template.name, node.site);
        let NodeKind::Call { callee, arguments, method } = &node.kind else {
            let message = format!("`{name}` is a template, expected a function to differentiate");
            let help = "differentiate a function that calls it";
            return Err(Some(Diag::new(Code::E1007, site, message).help(help)));
        };
        let body = template.body.as_ref().expect("a template without a body is not called");
        if self.nodes.len() + body.nodes.len() > MAX_NODES {
            let message =
                format!("with `{name}` inlined the body exceeds the limit of {MAX_NODES} expressions");
            // The calls behind it are beyond the limit too.
            let is_first = !std::mem::replace(&mut self.is_full, true);
            return Err(is_first.then(|| Diag::new(Code::E1008, site, message)));
        }
        let given = matched(template, arguments, site)?;
        let bound = template.parameters.iter().zip(given).map(|(parameter, given)| {
            given.or_else(|| match &parameter.takes {
                Formal::Constant { default, .. } => self.append(default.as_ref()?),
                Formal::Any | Formal::Tensor(_) => None,
            })
        });
        let bound = bound.collect();
        self.push(Node { kind: NodeKind::Enter { template: template.clone(), arguments: bound }, site });
        let tail = self.append(body);
        let (callee, arguments, method) = (callee.clone(), arguments.clone(), *method);
        Ok(self.push(Node { kind: NodeKind::Leave { callee, arguments, method, tail }, site }))
    }
}

/// The argument for each parameter; nothing where the default stands.
fn matched(template: &Template, arguments: &[Argument], call: Site) -> Result<Vec<Option<ExprId>>, Diag> {
    let names: Vec<String> = template.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let has_default = |takes: &Formal| matches!(takes, Formal::Constant { default: Some(_), .. });
    let required = template.parameters.iter().filter(|parameter| !has_default(&parameter.takes)).count();
    let matched = match_arguments(&template.name.to_string(), &names, required, arguments, call);
    let given = matched.map_err(|diag| {
        let parameters: Vec<_> = template.parameters.iter().map(ToString::to_string).collect();
        diag.note_at(template.site, format!("`{}({})` is declared", template.name, parameters.join(", ")))
    })?;
    Ok(given.given.iter().map(|given| given.map(|argument| argument.value)).collect())
}
