//! Replacement of template calls by the bodies of the templates.
//!
//! It works on the AST, so that later phases only see bodies. The nodes of the arguments come first.
//! [`NodeKind::Enter`] then binds them, the nodes of the body follow, and [`NodeKind::Leave`] is the value of the call.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::Ident;

use crate::diag::{Code, Diag, Diags, Site};
use crate::standard;
use crate::surface::ast::{Argument, Body, Callee, ExprId, Formal, Home, Node, NodeKind, Template};
use crate::surface::lower::builtins::{self, arguments::match_arguments};
use crate::surface::lower::declarations::order::order;
use crate::surface::parse_block;

/// The maximum number of nodes of a body.
const MAX_NODES: usize = 1 << 16;

/// The maximum number of nodes of all templates of a block.
const MAX_TEMPLATE_NODES: usize = 1 << 20;

/// The maximum depth of template calls.
const MAX_DEPTH: usize = 64;

/// The templates that bodies may call, with the calls in them inlined. A template with an error is known by name only.
#[derive(Default)]
pub(crate) struct Templates {
    named: BTreeMap<String, Option<Rc<Template>>>,
    /// The library templates that have been parsed.
    library: RefCell<BTreeMap<String, Rc<Template>>>,
}

impl Templates {
    /// Adds a template under the name by which it is called.
    pub(crate) fn import(&mut self, name: String, template: Option<Rc<Template>>) {
        self.named.insert(name, template);
    }

    /// Adds the templates of a block, inlined into each other. Each is then checked without a call. Returns which of
    /// them are valid.
    pub(crate) fn add(
        &mut self,
        written: &[Template],
        diags: &mut Diags,
        check: impl Fn(&Template) -> Diags,
    ) -> Vec<bool> {
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
        self.named.extend(written.iter().map(|template| (template.name.to_string(), None)));
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
            diags.push(Diag::new(Code::E2009, site, message).help(
                "calls are inlined, so recursion is not supported: write \
                    out each call",
            ));
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
            self.inline(body, &mut own);
            nodes += body.nodes.len();
            if own.is_empty() {
                own = check(&template);
            }
            // A template that calls an invalid one is invalid too; the error is reported at the callee.
            let is_sound = own.is_empty() && needs[at].iter().all(|callee| sound[*callee]);
            if is_sound && !order.cycles.iter().any(|cycle| cycle.contains(&at)) {
                sound[at] = true;
                self.named.insert(template.name.to_string(), Some(Rc::new(template)));
            }
            diags.extend(own);
        }
        sound
    }

    /// Whether the callee is a template.
    pub(crate) fn has(&self, callee: &Callee) -> bool {
        library_text(callee).is_some() || self.named.contains_key(&callee.to_string())
    }

    /// The called template; `Some(None)` if it has an error.
    fn find(&self, callee: &Callee) -> Option<Option<Rc<Template>>> {
        match library_text(callee) {
            Some(text) => Some(Some(self.of_library(callee, text))),
            None => self.named.get(&callee.to_string()).cloned(),
        }
    }

    /// A template of the library, parsed at its first call.
    fn of_library(&self, callee: &Callee, (file, text): (&'static str, &'static str)) -> Rc<Template> {
        if let Some(known) = self.library.borrow().get(&callee.to_string()) {
            return known.clone();
        }
        let tokens = text.parse().expect("the library's text is tokens");
        let template = parse_block(tokens).0.templates.into_iter().next();
        let mut template = template.expect("a function of the library is a template");
        template.home = Home::Library(file);
        let body = template.body.as_mut().expect("the library has no mistakes");
        // Functions of a library file refer to its structs and functions by their names alone.
        let formals = template.parameters.iter_mut().filter_map(|parameter| match &mut parameter.takes {
            Formal::State { name, .. } => Some(name),
            Formal::Any | Formal::Params(_) | Formal::Tensor(_) | Formal::Constant { .. } => None,
        });
        let made = body.nodes.iter_mut().filter_map(|node| match &mut node.kind {
            NodeKind::Struct { name, .. } => Some(name),
            _ => None,
        });
        for name in formals.chain(made) {
            name.path = vec![Ident::new(file, name.name.span())];
        }
        for callee in body.callees_mut().filter(|callee| callee.is_name()) {
            let name = callee.name.to_string();
            callee.in_library = builtins::find_private(&name).is_some();
            if template.name != name && standard::own_function(file, &name).is_some() {
                let path = vec![Ident::new(file, callee.name.span())];
                *callee = Callee { path, name: callee.name.clone(), of_library: true, in_library: true };
            }
        }
        self.inline(body, &mut Diags::new());
        let template = Rc::new(template);
        self.library.borrow_mut().insert(callee.to_string(), template.clone());
        template
    }

    /// Replaces the template calls in a body.
    pub(crate) fn inline(&self, body: &mut Body, diags: &mut Diags) {
        if !body.callees().any(|(callee, _)| self.has(callee)) {
            return;
        }
        let old = std::mem::take(body);
        let mut inlining = Inlining { nodes: Vec::with_capacity(old.nodes.len()), is_full: false };
        let mut moved: Vec<ExprId> = Vec::with_capacity(old.nodes.len());
        for mut node in old.nodes {
            node.kind.operands_mut().into_iter().for_each(|operand| *operand = moved[operand.index()]);
            let template = node.kind.callee().and_then(|callee| self.find(callee));
            let id = match template {
                None => Ok(inlining.push(node)),
                Some(None) => Ok(inlining.push(Node { kind: NodeKind::Unread, ..node })),
                Some(Some(template)) => inlining.call(&template, &node),
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

/// The file and the text of a function of the library.
fn library_text(callee: &Callee) -> Option<(&'static str, &'static str)> {
    let [file] = &callee.path[..] else { return None };
    if !callee.of_library {
        return None;
    }
    let find = if callee.in_library { standard::own_function } else { standard::function };
    find(&file.to_string(), &callee.name.to_string())
}

/// A body during inlining.
struct Inlining {
    nodes: Vec<Node>,
    /// Whether a call exceeded the limit.
    is_full: bool,
}

impl Inlining {
    fn push(&mut self, node: Node) -> ExprId {
        self.nodes.push(node);
        ExprId(u32::try_from(self.nodes.len() - 1).expect("bodies are bounded"))
    }

    /// Appends the nodes of a body. Returns its tail.
    fn append(&mut self, body: &Body) -> Option<ExprId> {
        let shift = u32::try_from(self.nodes.len()).expect("bodies are bounded");
        self.nodes.extend(body.nodes.iter().cloned().map(|mut node| {
            node.kind.operands_mut().into_iter().for_each(|operand| operand.0 += shift);
            node
        }));
        body.tail.map(|tail| ExprId(tail.0 + shift))
    }

    /// As [`Self::append`], with all nodes at one site: an error in a default is reported at the call that uses it.
    fn append_at(&mut self, body: &Body, site: Site) -> Option<ExprId> {
        let before = self.nodes.len();
        let tail = self.append(body);
        self.nodes[before..].iter_mut().for_each(|node| node.site = site);
        tail
    }

    fn call(&mut self, template: &Rc<Template>, node: &Node) -> Result<ExprId, Option<Diag>> {
        let (name, site) = (template.full_name(), node.site);
        let NodeKind::Call { callee, arguments, method } = &node.kind else {
            let message = format!("`{name}` is a template, expected a function to differentiate");
            let help = "differentiate a function that calls it";
            return Err(Some(Diag::new(Code::E1007, site, message).help(help)));
        };
        let body = template.body.as_ref().expect("a template without a body is not called");
        if self.nodes.len() + body.nodes.len() > MAX_NODES {
            let message =
                format!("with `{name}` inlined the body exceeds the limit of {MAX_NODES} expressions");
            // The calls after it exceed the limit too.
            let is_first = !std::mem::replace(&mut self.is_full, true);
            return Err(is_first.then(|| Diag::new(Code::E1008, site, message)));
        }
        let given = matched(template, arguments, site)?;
        let bound = template.parameters.iter().zip(given).map(|(parameter, given)| {
            given.or_else(|| match &parameter.takes {
                Formal::Constant { default, .. } => self.append_at(default.as_ref()?, site),
                Formal::Any | Formal::Params(_) | Formal::State { .. } | Formal::Tensor(_) => None,
            })
        });
        let bound = bound.collect();
        self.push(Node { kind: NodeKind::Enter { template: template.clone(), arguments: bound }, site });
        let tail = self.append(body);
        let (callee, arguments, method) = (callee.clone(), arguments.clone(), *method);
        Ok(self.push(Node { kind: NodeKind::Leave { callee, arguments, method, tail }, site }))
    }
}

/// The argument of each parameter; `None` where the default is used.
fn matched(template: &Template, arguments: &[Argument], call: Site) -> Result<Vec<Option<ExprId>>, Diag> {
    let names: Vec<String> = template.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let has_default = |takes: &Formal| matches!(takes, Formal::Constant { default: Some(_), .. });
    let required = template.parameters.iter().filter(|parameter| !has_default(&parameter.takes)).count();
    let matched = match_arguments(&template.full_name(), &names, required, arguments, call);
    let given = matched.map_err(|diag| {
        let parameters: Vec<_> = template.parameters.iter().map(ToString::to_string).collect();
        let call = format!("{}({})", template.full_name(), parameters.join(", "));
        match template.home {
            Home::ThisBlock | Home::Elsewhere(_) => {
                diag.note_at(template.site, format!("`{call}` is declared"))
            }
            Home::Library(_) => diag.note(format!("it is `{call}`")),
        }
    })?;
    Ok(given.given.iter().map(|given| given.map(|argument| argument.value)).collect())
}
