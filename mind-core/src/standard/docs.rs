//! The documentation of the library, read from its source text.

/// A function of the library with its documentation.
#[derive(Clone, Debug)]
pub struct Documented {
    /// Its documentation, in Markdown.
    pub words: String,
    /// The text from its name to its last parameter.
    signature: String,
}

impl Documented {
    /// Its name.
    pub fn name(&self) -> &str {
        self.signature.split(['(', '<']).next().unwrap_or_default()
    }

    /// The text from its name to its last parameter.
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// The names of its parameters.
    pub fn parameters(&self) -> Vec<&str> {
        let (_, parameters) = self.signature.split_once('(').unwrap_or_default();
        let (mut names, mut depth) = (Vec::new(), 0);
        for part in parameters.split_inclusive([',', '[', ']', '(', ')']) {
            if depth == 0
                && let Some((name, _)) = part.split_once(':')
            {
                names.push(name.trim().trim_start_matches("const ").trim_start_matches("mut "));
            }
            match part.chars().next_back() {
                Some('[' | '(') => depth += 1,
                Some(']' | ')') => depth -= 1,
                _ => {}
            }
        }
        names
    }

    /// The first paragraph of its documentation, on one line.
    pub fn first_paragraph(&self) -> String {
        self.words.split("\n\n").next().unwrap_or_default().replace('\n', " ")
    }
}

/// The public functions of a file, in order, read from its text.
pub fn documented(text: &str) -> Vec<Documented> {
    let (mut functions, mut words, mut signature) = (Vec::new(), String::new(), None::<String>);
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("///") {
            words.push_str(comment.strip_prefix(' ').unwrap_or(comment));
            words.push('\n');
        } else if line.starts_with("pub struct ") || line.starts_with("fn ") {
            words.clear();
        } else if let Some(begun) = line.strip_prefix("pub fn ") {
            signature = Some(String::new());
            extend(&mut signature, begun);
        } else {
            extend(&mut signature, line.trim());
        }
        if let Some(whole) = signature.as_ref().and_then(|signature| signature.strip_suffix(" {")) {
            let signature = whole.replace("( ", "(").replace(", )", ")");
            functions.push(Documented { words: std::mem::take(&mut words), signature });
        }
        if signature.as_ref().is_some_and(|signature| signature.ends_with('{')) {
            signature = None;
        }
    }
    functions
}

fn extend(signature: &mut Option<String>, more: &str) {
    if let Some(signature) = signature {
        if !signature.is_empty() && !more.is_empty() {
            signature.push(' ');
        }
        signature.push_str(more);
    }
}

#[cfg(test)]
mod tests {
    use super::documented;

    #[test]
    fn comments_of_private_functions_are_not_those_of_the_next() {
        let functions = documented(
            "/// Private.\nfn inner(x: float) {\n    x\n}\n\n/// Public.\npub fn outer(x: float) {\n    x\n}\n",
        );
        let words: Vec<_> = functions.iter().map(|function| (function.name(), &function.words[..])).collect();
        assert_eq!(words, [("outer", "Public.\n")]);
    }
}
