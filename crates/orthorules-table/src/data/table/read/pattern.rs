//! Patterns for the names of files: `*`, `?`, `[a-z]`.

/// Whether text has a sign that stands for others.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether all of `name` matches `pattern`: `*` stands for any text, `?` for any character, `[a-c]` for one of those in
/// brackets, `[!a-c]` for any other. A bracket that is not closed stands for itself.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last star is, and the character after those that it stands for. Earlier stars need no second thought.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(length) = matched(&pattern[p..], name[n]) {
            p += length;
            n += 1;
        } else if let Some((at, taken)) = star {
            (p, n) = (at + 1, taken + 1);
            star = Some((at, n));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// How much of the pattern's start stands for `c`; nothing if it does not.
fn matched(pattern: &[char], c: char) -> Option<usize> {
    let (first, rest) = pattern.split_first()?;
    match (first, bracket(rest).filter(|_| *first == '[')) {
        ('?', _) => Some(1),
        (_, Some(set)) => {
            let (negated, members) = match set {
                ['!' | '^', members @ ..] => (true, members),
                members => (false, members),
            };
            (holds(members, c) != negated).then_some(set.len() + 2)
        }
        (literal, None) => (*literal == c).then_some(1),
    }
}

/// What is between brackets, the first of which is open. A bracket that closes at once is one of the members.
fn bracket(rest: &[char]) -> Option<&[char]> {
    let first = usize::from(matches!(rest.first(), Some('!' | '^')));
    let end = rest.iter().skip(first + 1).position(|&c| c == ']')?;
    Some(&rest[..=end + first])
}

fn holds(mut members: &[char], c: char) -> bool {
    loop {
        match members {
            [low, '-', high, rest @ ..] => {
                if (*low..=*high).contains(&c) {
                    return true;
                }
                members = rest;
            }
            [member, rest @ ..] => {
                if *member == c {
                    return true;
                }
                members = rest;
            }
            [] => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_stand_for_names() {
        for (pattern, name) in [
            ("*", ""),
            ("*.csv", "a.csv"),
            ("a*b*c", "aXbYbc"),
            ("?.csv", "é.csv"),
            ("part-[0-9][0-9].csv", "part-07.csv"),
            ("[!a]b", "cb"),
            ("[^a-c]", "d"),
            ("[]]", "]"),
            ("[a-]", "-"),
            ("a[b", "a[b"),
            ("year=*", "year=2024"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("*.csv", "a.csv.gz"),
            ("?", ""),
            ("?", "ab"),
            ("[0-9]", "a"),
            ("[!a]", "a"),
            ("", "a"),
            ("a*b", "ac"),
            ("[z-a]", "m"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(50), &"a".repeat(49)), "no time is lost on stars");
    }

    /// The definition: the first sign of a pattern, tried in every way.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], _) => name.is_empty(),
            (['*', rest @ ..], _) => (0..=name.len()).any(|taken| naive(rest, &name[taken..])),
            (['?', rest @ ..], [_, after @ ..]) => naive(rest, after),
            ([c, rest @ ..], [n, after @ ..]) => c == n && naive(rest, after),
            (_, []) => false,
        }
    }

    proptest! {
        #[test]
        fn stars_are_tried_in_every_way(pattern in "[ab*?]{0,8}", name in "[ab]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            prop_assert_eq!(matches(&pattern, &name), naive(&chars(&pattern), &chars(&name)));
        }
    }
}
