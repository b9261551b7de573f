//! Which module uses which.

use crate::scan::{Found, What, scan};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// A module, by the names on the way to it.
type Module = Vec<String>;

/// The files of several crates: the crate's name as paths spell it, then the path from `src`.
pub(crate) struct Sources {
    files: BTreeMap<(String, String), String>,
}

/// One module uses something of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: Module,
    pub(crate) to: Module,
    name: String,
    test: bool,
}

pub(crate) struct Graph {
    edges: BTreeSet<Edge>,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} uses {} of {}", self.from.join("::"), self.name, self.to.join("::"))
    }
}

/// The module that a file of a crate is.
fn module(name: &str, path: &str) -> Module {
    let mut words: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if words.last().is_some_and(|last| last == "mod") || words == ["lib"] {
        words.pop();
    }
    words.insert(0, name.to_owned());
    words
}

/// The place of a module among those of all crates, which are one library: the crate of models is its module `model`.
fn in_library(module: &[String]) -> Module {
    let (name, rest) = module.split_first().map_or(("", module), |(name, rest)| (name.as_str(), rest));
    let first = (name == "orthorules_model").then(|| "model".to_owned());
    first.into_iter().chain(rest.iter().cloned()).collect()
}

impl Sources {
    pub(crate) fn new(files: BTreeMap<(String, String), String>) -> Self {
        Self { files }
    }

    /// All files of these crates, which lie side by side in `folder`.
    pub(crate) fn read(folder: &Path, crates: &[&str]) -> Self {
        let mut files = BTreeMap::new();
        for name in crates {
            let source = folder.join(name).join("src");
            let mut folders = vec![source.clone()];
            while let Some(next) = folders.pop() {
                for entry in std::fs::read_dir(&next).unwrap() {
                    let path = entry.unwrap().path();
                    if path.is_dir() {
                        folders.push(path);
                    } else if path.extension().is_some_and(|e| e == "rs") {
                        let place = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
                        files.insert((name.replace('-', "_"), place), std::fs::read_to_string(&path).unwrap());
                    }
                }
            }
        }
        Self { files }
    }

    /// Files and folders of a crate that lie in no folder.
    pub(crate) fn top(&self, name: &str) -> Vec<String> {
        let of_crate = self.files.keys().filter(|(of, _)| of == name);
        let first = |(_, path): &(String, String)| path.split('/').next().unwrap_or_default().to_owned();
        of_crate.map(first).collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub(crate) fn graph(&self) -> Graph {
        let scanned: BTreeMap<Module, Vec<Found>> =
            self.files.iter().map(|((name, path), text)| (module(name, path), scan(text))).collect();
        let names = Names::new(&scanned);
        let mut edges = BTreeSet::new();
        for (from, found) in &scanned {
            for Found { test, inside, what } in found {
                let test = *test || names.tests.iter().any(|module| from.starts_with(module));
                let (path, public) = match what {
                    What::Import { path, public, .. } => (path, *public),
                    What::Path(path) => (path, false),
                    What::Module(_) => continue,
                };
                let Some(path) = names.absolute(from, inside, path) else { continue };
                let name = path.last().cloned().unwrap_or_default();
                let (from, to) = (in_library(from), in_library(&names.module_of(path)));
                // To tell on what lies below is no use of it; and the root is nothing but that.
                let told_on = public && to.starts_with(&from);
                if to != from && !told_on && !from.is_empty() && !to.is_empty() {
                    edges.insert(Edge { from, to, name, test });
                }
            }
        }
        Graph { edges }
    }
}

/// What names mean.
struct Names {
    modules: BTreeSet<Module>,
    /// Modules that are compiled for tests alone.
    tests: BTreeSet<Module>,
    /// Names that were imported, and what they stand for.
    aliases: BTreeMap<Module, Module>,
}

impl Names {
    fn new(scanned: &BTreeMap<Module, Vec<Found>>) -> Self {
        let modules = scanned.keys().cloned().collect();
        let mut names = Self { modules, tests: BTreeSet::new(), aliases: BTreeMap::new() };
        for (module, found) in scanned {
            for Found { test, inside, what } in found {
                let here = |name: &String| module.iter().chain(inside).chain([name]).cloned().collect::<Module>();
                match what {
                    What::Module(name) if *test => {
                        names.tests.insert(here(name));
                    }
                    What::Import { path, name, .. } if !*test && name != "*" => {
                        if let Some(path) = names.absolute(module, inside, path) {
                            names.aliases.insert(here(name), path);
                        }
                    }
                    _ => {}
                }
            }
        }
        names
    }

    /// A path as it is written in `module`, from its crate on; nothing for crates of others.
    fn absolute(&self, module: &[String], inside: &[String], path: &[String]) -> Option<Module> {
        let mut here: Module = module.iter().chain(inside).cloned().collect();
        let (first, mut rest) = path.split_first()?;
        match first.as_str() {
            "crate" => here.truncate(1),
            "self" => {}
            "super" => {
                here.pop();
                while let [up, deeper @ ..] = rest
                    && up == "super"
                {
                    here.pop();
                    rest = deeper;
                }
            }
            _ if self.modules.contains(path.get(..1)?) => return Some(path.to_vec()),
            _ => {
                here.push(first.clone());
                return self.modules.contains(&here).then(|| here.iter().chain(rest).cloned().collect());
            }
        }
        Some(here.iter().chain(rest).cloned().collect())
    }

    /// The module in which something is defined, whatever it was imported through.
    fn module_of(&self, mut path: Module) -> Module {
        // As many steps as there are names, in case they go round in circles.
        for _ in 0..=self.aliases.len() {
            let known = (1..=path.len()).rev().find(|&n| self.modules.contains(&path[..n]));
            let length = known.unwrap_or(0);
            let alias = (length + 1..=path.len()).find_map(|n| Some((n, self.aliases.get(&path[..n])?)));
            match alias {
                Some((n, stands_for)) => path = stands_for.iter().chain(&path[n..]).cloned().collect(),
                None => return path[..length].to_vec(),
            }
        }
        Module::new()
    }
}

impl Graph {
    /// Edges from a module to one that comes later in `order`, or that is not in it; of tests alone, or of the rest.
    pub(crate) fn upward(&self, order: &[&str], test: bool) -> Vec<Edge> {
        let place = |module: &Module| order.iter().position(|name| *name == module[0]).unwrap_or(order.len());
        self.edges.iter().filter(|e| e.test == test && place(&e.from) < place(&e.to)).cloned().collect()
    }

    /// Whether one module uses another, tests aside.
    pub(crate) fn uses(&self, from: &str, to: &str) -> bool {
        self.edges.iter().any(|e| !e.test && e.from[0] == from && e.to[0] == to)
    }

    /// Cycles among the modules of one parent, with all that is below each, tests aside.
    pub(crate) fn cycles(&self) -> Vec<String> {
        let mut below: BTreeMap<Module, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
        for Edge { from, to, .. } in self.edges.iter().filter(|e| !e.test) {
            let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                below.entry(from[..shared].to_vec()).or_default().entry(a).or_default().insert(b);
            }
        }
        let told = |(parent, uses): (&Module, &BTreeMap<&str, BTreeSet<&str>>)| {
            let cycle = uses.keys().find_map(|&start| cycle_from(start, uses))?;
            let parent = if parent.is_empty() { "the library".to_owned() } else { parent.join("::") };
            Some(format!("{parent}: {}", cycle.join(" → ")))
        };
        below.iter().filter_map(told).collect()
    }
}

/// The shortest way from `start` back to it.
fn cycle_from<'n>(start: &'n str, uses: &BTreeMap<&'n str, BTreeSet<&'n str>>) -> Option<Vec<&'n str>> {
    let (mut ways, mut seen) = (vec![vec![start]], BTreeSet::new());
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for &next in way.last().and_then(|last| uses.get(last)).into_iter().flatten() {
                let further: Vec<&str> = way.iter().copied().chain([next]).collect();
                if next == start {
                    return Some(further);
                }
                if seen.insert(next) {
                    longer.push(further);
                }
            }
        }
        ways = longer;
    }
    None
}
