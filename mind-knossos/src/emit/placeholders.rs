//! Texts of a function that are chosen when all of it has been emitted.

use std::collections::{HashMap, HashSet};

/// The placeholders of a function, with their possible texts.
#[derive(Default)]
pub(super) struct Placeholders {
    /// The name of each accumulator, with its two possible initialisers: zeros, or elements of unspecified value.
    pub fills: Vec<(String, [String; 2])>,
    /// The tensors of numbers that loops build.
    pub allocated: Vec<Allocated>,
}

impl Placeholders {
    /// Notes the tensors that `statements`, the body of a loop, build. Returns the placeholders before and after the loop.
    pub fn around_loop(&mut self, statements: &str) -> [String; 2] {
        let mut around = [String::new(), String::new()];
        let others = self.allocated.iter_mut().filter(|allocated| !allocated.in_loop);
        for allocated in others.filter(|allocated| statements.contains(&placeholder(&allocated.name))) {
            allocated.in_loop = true;
            for (text, key) in around.iter_mut().zip(allocated.around_loop()) {
                text.push_str(&placeholder(&key));
            }
        }
        around
    }

    /// The statements with the texts of all placeholders. Elements of the accumulators that are `written` are written
    /// before anything is added to them.
    pub fn filled(&self, statements: &str, written: &HashSet<String>, moved: &HashSet<String>) -> String {
        let mut texts = HashMap::new();
        for (base, [zeros, any]) in &self.fills {
            texts.insert(base.clone(), if written.contains(base) { any } else { zeros }.clone());
        }
        for allocated in &self.allocated {
            texts.extend(allocated.statements(moved.contains(&allocated.name)));
        }
        let parts = statements.split(MARK).enumerate();
        parts.map(|(part, text)| if part % 2 == 0 { text } else { &texts[text] }).collect()
    }
}

/// A tensor of numbers that a loop builds. If an iteration of another loop builds it and does not move it, all
/// iterations use the same memory.
pub(super) struct Allocated {
    pub name: String,
    /// The Rust type.
    pub ty: String,
    pub size: String,
    /// The source position, as a Rust expression.
    pub at: String,
    /// Whether a loop builds it in each iteration.
    pub in_loop: bool,
}

impl Allocated {
    /// The statements before the loop, for the memory, and after the loop, by placeholder.
    fn statements(&self, is_moved: bool) -> [(String, String); 3] {
        let Self { name, ty, size, at, in_loop } = self;
        let is_kept = *in_loop && !is_moved;
        let statement = if is_kept {
            format!("let {name} = k::again(&mut kept_{name}, {size}, {at})?;")
        } else {
            format!("let mut {name}: {ty} = k::stale({size}, {at})?;")
        };
        let [before, after] = match is_kept {
            true => [format!("{{ let mut kept_{name}: Option<{ty}> = None;"), "}".to_owned()],
            false => [String::new(), String::new()],
        };
        let [of_before, of_after] = self.around_loop();
        [(name.clone(), statement), (of_before, before), (of_after, after)]
    }

    /// The keys of the placeholders before and after the loop.
    fn around_loop(&self) -> [String; 2] {
        ["before", "after"].map(|place| format!("{place} {}", self.name))
    }
}

/// The mark around the key of a placeholder. Literals contain it only escaped.
const MARK: char = '\u{1}';

/// A placeholder for a text that is chosen at the end.
pub(super) fn placeholder(key: &str) -> String {
    format!("{MARK}{key}{MARK}")
}
