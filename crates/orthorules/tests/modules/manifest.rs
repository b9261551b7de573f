//! What a `Cargo.toml` says of dependencies: enough of its grammar for the files of this project.

use std::collections::BTreeMap;

/// The dependencies of a crate beside those of its tests, by their names in the registry, each with what is said of it.
pub(crate) struct Manifest {
    dependencies: BTreeMap<String, String>,
}

impl Manifest {
    pub(crate) fn new(text: &str) -> Self {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        let (mut listed, mut single) = (false, None);
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
            if let Some(header) = line.strip_prefix('[') {
                let header = header.trim_end_matches(']');
                let of_tests = header.contains("dev-dependencies");
                listed = header.ends_with("dependencies") && !of_tests;
                single = header.rsplit_once("dependencies.").filter(|_| !of_tests).map(|(_, name)| name.to_owned());
                if let Some(name) = &single {
                    found.entry(name.clone()).or_default();
                }
            } else if let Some(name) = &single {
                found.entry(name.clone()).or_default().push_str(line);
            } else if let Some((key, said)) = line.split_once('=').filter(|_| listed) {
                let name = key.split('.').next().unwrap_or_default().trim();
                found.entry(name.to_owned()).or_default().push_str(said);
            }
        }
        Self { dependencies: found.into_iter().map(|(name, said)| (registered(&said).unwrap_or(name), said)).collect() }
    }

    /// The crates of this project among them.
    pub(crate) fn ours(&self) -> Vec<String> {
        self.dependencies.keys().filter(|name| name.starts_with("orthorules")).cloned().collect()
    }

    /// Those that bring the readers of files whatever features are on.
    pub(crate) fn needs_readers(&self) -> Vec<String> {
        let always = |name: &str, said: &str| {
            let feature = name.starts_with("orthorules") && said.contains("\"files\"");
            feature || is_reader(name) && !said.contains("optional = true")
        };
        self.dependencies.iter().filter(|(name, said)| always(name, said)).map(|(name, _)| name.clone()).collect()
    }

    /// Whether there are crates among them that read files.
    pub(crate) fn names_readers(&self) -> bool {
        self.dependencies.keys().any(|name| is_reader(name))
    }
}

fn is_reader(name: &str) -> bool {
    name.starts_with("arrow") || name == "parquet"
}

/// The name in the registry, where it is another.
fn registered(said: &str) -> Option<String> {
    let (_, after) = said.split_once("package")?;
    after.split('"').nth(1).map(str::to_owned)
}
