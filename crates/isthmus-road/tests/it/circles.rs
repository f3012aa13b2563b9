// SPDX-License-Identifier: Apache-2.0
//! No circle of imports between the files of this crate: what a file needs can be read without it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module's path from the crate's root, without the root.
type Module = Vec<String>;

/// Every source file under `folder`, with the module it is.
fn files(folder: &Path, module: &Module, found: &mut BTreeMap<Module, PathBuf>) {
    for entry in fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry")) {
        let path = entry.path();
        let mut below = module.clone();
        if path.is_dir() {
            below.push(entry.file_name().into_string().expect("UTF-8"));
            files(&path, &below, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            if !["lib", "main", "mod"].contains(&name) {
                below.push(name.to_owned());
            }
            found.insert(below, path);
        }
    }
}

/// The paths that `use` statements outside of tests name, with braces taken apart.
fn imports(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: String = source
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut paths = Vec::new();
    for statement in code.split(';') {
        let Some(at) = statement.rfind("use ") else { continue };
        let before = statement[..at].lines().last().unwrap_or_default().trim();
        if before.is_empty() || before.starts_with("pub") {
            expand("", &statement[at + 4..].replace('\n', " "), &mut paths);
        }
    }
    paths
}

fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        paths.push(format!("{prefix}{path}"));
        return;
    };
    let prefix = format!("{prefix}{}", tree[..open].trim());
    let inside = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&prefix, &inside[start..at], paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inside[start..].trim().is_empty() {
        expand(&prefix, &inside[start..], paths);
    }
}

/// The file that an import of `from` names: the deepest module on its path.
fn target(from: &Module, path: &str, files: &BTreeMap<Module, PathBuf>) -> Option<Module> {
    let mut parts = path.split("::").peekable();
    let mut at = from.clone();
    match parts.peek().copied()? {
        "crate" => {
            at.clear();
            parts.next();
        }
        "self" => {
            parts.next();
        }
        "super" => {
            while parts.next_if(|part| *part == "super").is_some() {
                at.pop()?;
            }
        }
        // A module of this file, or another crate.
        child => {
            let mut below = from.clone();
            below.push(child.to_owned());
            files.get(&below)?;
        }
    }
    for part in parts {
        at.push(part.to_owned());
        if !files.contains_key(&at) {
            at.pop();
            break;
        }
    }
    (at != *from).then_some(at)
}

/// A circle that begins at `at`, if one does.
fn circle(
    at: &Module,
    arrows: &BTreeMap<Module, BTreeSet<Module>>,
    way: &mut Vec<Module>,
    done: &mut BTreeSet<Module>,
) -> Option<Vec<Module>> {
    if let Some(begin) = way.iter().position(|module| module == at) {
        return Some(way[begin..].to_vec());
    }
    if !done.insert(at.clone()) {
        return None;
    }
    way.push(at.clone());
    let found = arrows.get(at).into_iter().flatten().find_map(|to| circle(to, arrows, way, done));
    way.pop();
    found
}

fn first_circle(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|module| circle(module, arrows, &mut Vec::new(), &mut done))
}

#[test]
fn no_file_imports_one_that_imports_it() {
    let mut found = BTreeMap::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &Module::new(), &mut found);
    assert!(found.len() > 40, "only {} files found", found.len());
    let mut arrows: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, path) in &found {
        let source = fs::read_to_string(path).expect("source");
        let targets = imports(&source).into_iter().filter_map(|to| target(module, &to, &found));
        arrows.insert(module.clone(), targets.collect());
    }
    let many: usize = arrows.values().map(BTreeSet::len).sum();
    assert!(many > 150, "only {many} imports found");
    if let Some(circle) = first_circle(&arrows) {
        let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
        panic!("a circle of imports: {}", names.join(" -> "));
    }
}

#[test]
fn a_circle_is_found() {
    let module = |name: &str| -> Module { name.split("::").map(str::to_owned).collect() };
    let source = "use std::{fs, io};\nuse super::{b::X, c};\npub use d::Y;\n// use super::e;\n";
    assert_eq!(imports(source), ["std::fs", "std::io", "super::b::X", "super::c", "d::Y"]);
    let names = ["a", "b", "c", "a::d"];
    let files = names.map(|name| (module(name), PathBuf::new())).into_iter().collect();
    let to = |path: &str| target(&module("a"), path, &files);
    assert_eq!(to("super::b::X"), Some(module("b")));
    assert_eq!(to("d::Y"), Some(module("a::d")));
    assert_eq!((to("std::fs"), to("self::Z")), (None, None));
    let mut arrows: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    arrows.insert(module("a"), BTreeSet::from([module("b")]));
    arrows.insert(module("b"), BTreeSet::from([module("c")]));
    assert_eq!(first_circle(&arrows), None);
    arrows.insert(module("c"), BTreeSet::from([module("a")]));
    assert_eq!(first_circle(&arrows).map(|circle| circle.len()), Some(3));
}
