//! The paths in a source file: a small lexer, and just enough grammar for imports and modules.

/// A word or a sign. Comments, strings and lifetimes are gone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Word(String),
    Sign(char),
}

/// What is of interest in a file, with the inline modules that it stands in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// Whether it is compiled for tests alone.
    pub(crate) test: bool,
    pub(crate) inside: Vec<String>,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// One name that is imported from a path, or told on.
    Import { path: Vec<String>, name: String, public: bool },
    /// A path in the code.
    Path(Vec<String>),
    /// A module in a file of its own.
    Module(String),
}

/// Everything in the text of a file.
pub(crate) fn scan(text: &str) -> Vec<Found> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    walk(&tokens, &[], false, &mut found);
    found
}

fn tokens(text: &str) -> Vec<Token> {
    tokens_with_lines(text).into_iter().map(|(token, _)| token).collect()
}

/// The tokens of a file, each with the number of its line.
pub(crate) fn tokens_with_lines(text: &str) -> Vec<(Token, usize)> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let (mut i, mut line, mut counted) = (0, 1, 0);
    while i < chars.len() {
        line += chars[counted..i].iter().filter(|&&c| c == '\n').count();
        counted = i;
        match (at(i), at(i + 1)) {
            ('/', '/') => i += chars[i..].iter().take_while(|&&c| c != '\n').count(),
            ('/', '*') => i = after(&chars, i + 2, "*/"),
            ('"', _) => i = after_string(&chars, i + 1),
            ('r', '"' | '#') if raw_hashes(&chars, i + 1).is_some() => {
                let hashes = raw_hashes(&chars, i + 1).unwrap_or(0);
                i = after(&chars, i + 2 + hashes, &format!("\"{}", "#".repeat(hashes)));
            }
            ('\'', '\\') => i = after(&chars, i + 3, "'"),
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            ('\'', _) => i += 1 + chars[i + 1..].iter().take_while(|&&c| word(c)).count(),
            (c, _) if word(c) => {
                let length = chars[i..].iter().take_while(|&&c| word(c)).count();
                tokens.push((Token::Word(chars[i..i + length].iter().collect()), line));
                i += length;
            }
            (c, _) => {
                if !c.is_whitespace() {
                    tokens.push((Token::Sign(c), line));
                }
                i += 1;
            }
        }
    }
    tokens
}

/// The place after the next `end`.
fn after(chars: &[char], start: usize, end: &str) -> usize {
    let end: Vec<char> = end.chars().collect();
    let length = end.len();
    (start..chars.len()).find(|&i| chars[i..].starts_with(&end)).map_or(chars.len(), |i| i + length)
}

fn after_string(chars: &[char], mut i: usize) -> usize {
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// How many # stand before the quote of a raw string, if it is one.
fn raw_hashes(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars.get(start..)?.iter().take_while(|&&c| c == '#').count();
    (chars.get(start + hashes) == Some(&'"')).then_some(hashes)
}

pub(crate) fn is_sign(token: Option<&Token>, sign: char) -> bool {
    token == Some(&Token::Sign(sign))
}

pub(crate) fn is_word(token: Option<&Token>, text: &str) -> bool {
    matches!(token, Some(Token::Word(word)) if word == text)
}

fn walk(tokens: &[Token], inside: &[String], test: bool, found: &mut Vec<Found>) {
    let mut add = |what| found.push(Found { test, inside: inside.to_vec(), what });
    let mut i = 0;
    while i < tokens.len() {
        match (&tokens[i], tokens.get(i + 1), tokens.get(i + 2)) {
            (Token::Sign('#'), Some(Token::Sign('[')), _) => {
                let end = matching(tokens, i + 1);
                if is_for_tests(&tokens[i..end]) {
                    let item = end + item_length(&tokens[end..]);
                    walk(&tokens[end..item], inside, true, found);
                    return walk(&tokens[item..], inside, test, found);
                }
                i = end;
            }
            (Token::Word(word), Some(Token::Word(name)), Some(Token::Sign(';'))) if word == "mod" => {
                add(What::Module(name.clone()));
                i += 3;
            }
            (Token::Word(word), Some(Token::Word(name)), Some(Token::Sign('{'))) if word == "mod" => {
                let end = matching(tokens, i + 2);
                let deeper: Vec<String> = inside.iter().chain([name]).cloned().collect();
                walk(&tokens[i + 3..end - 1], &deeper, test, found);
                return walk(&tokens[end..], inside, test, found);
            }
            (Token::Word(word), Some(_), _) if word == "use" && starts_statement(tokens, i) => {
                let public = i > 0 && (is_word(tokens.get(i - 1), "pub") || is_sign(tokens.get(i - 1), ')'));
                let length = tokens[i..].iter().take_while(|&t| *t != Token::Sign(';')).count();
                imports(&tokens[i + 1..i + length], &[], public, &mut add);
                i += length;
            }
            (Token::Word(word), Some(Token::Sign(':')), Some(Token::Sign(':')))
                if ["crate", "super", "self"].contains(&word.as_str()) || word.starts_with("orthorules") =>
            {
                let (path, end) = path(tokens, i);
                add(What::Path(path));
                i = end;
            }
            _ => i += 1,
        }
    }
}

/// `use` starts a statement, unless it is `use<…>` of a type.
fn starts_statement(tokens: &[Token], i: usize) -> bool {
    !is_sign(tokens.get(i + 1), '<')
        && (i == 0
            || [';', '{', '}', ']', ')'].iter().any(|&sign| is_sign(tokens.get(i - 1), sign))
            || is_word(tokens.get(i - 1), "pub"))
}

/// Whether an attribute says that what follows is for tests alone.
pub(crate) fn is_for_tests(attribute: &[Token]) -> bool {
    let has = |text| attribute.iter().any(|t| is_word(Some(t), text));
    has("cfg") && has("test") && !has("not") && !has("any")
}

/// The place after the bracket that closes the one at `open`.
pub(crate) fn matching(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('{' | '[' | '(') => depth += 1,
            Token::Sign('}' | ']' | ')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// How many tokens the next item has: up to its semicolon, or to the end of its braces.
pub(crate) fn item_length(tokens: &[Token]) -> usize {
    let mut i = 0;
    while i < tokens.len() {
        match tokens[i] {
            Token::Sign(';') => return i + 1,
            Token::Sign('{') if !tokens[..i].iter().any(|t| is_word(Some(t), "use")) => return matching(tokens, i),
            Token::Sign('(' | '[' | '{') => i = matching(tokens, i),
            _ => i += 1,
        }
    }
    tokens.len()
}

/// The words of a path that starts at `i`, and where it ends.
fn path(tokens: &[Token], mut i: usize) -> (Vec<String>, usize) {
    let mut words = Vec::new();
    while let Some(Token::Word(word)) = tokens.get(i) {
        words.push(word.clone());
        if !(is_sign(tokens.get(i + 1), ':') && is_sign(tokens.get(i + 2), ':')) {
            return (words, i + 1);
        }
        i += 3;
    }
    (words, i)
}

/// Every name of a tree of imports.
fn imports(tree: &[Token], before: &[String], public: bool, add: &mut impl FnMut(What)) {
    let (words, end) = path(tree, 0);
    let here: Vec<String> = before.iter().cloned().chain(words).collect();
    match tree.get(end) {
        Some(Token::Sign('{')) => {
            let close = matching(tree, end);
            let mut start = end + 1;
            while start < close - 1 {
                let mut stop = start;
                while stop < close - 1 && !is_sign(tree.get(stop), ',') {
                    stop = if is_sign(tree.get(stop), '{') { matching(tree, stop) } else { stop + 1 };
                }
                imports(&tree[start..stop], &here, public, add);
                start = stop + 1;
            }
        }
        Some(Token::Sign('*')) => add(What::Import { path: here, name: "*".into(), public }),
        Some(Token::Word(word)) if word == "as" => {
            if let Some(Token::Word(name)) = tree.get(end + 1) {
                add(What::Import { path: here, name: name.clone(), public });
            }
        }
        _ => {
            let mut here = here;
            // `self` in braces is the module before them.
            if here.len() > 1 && here.last().is_some_and(|word| word == "self") {
                here.pop();
            }
            if let Some(name) = here.last().cloned() {
                add(What::Import { path: here, name, public });
            }
        }
    }
}
