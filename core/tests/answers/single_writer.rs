//! Who can say yes, who hands out capabilities and who touches the files of a home, told from the
//! tokens of every source file.
//!
//! Comments and texts do not count, and neither does what only a test build has. A file that is not
//! on one of these lists yet is a decision to be taken, not a list to be extended in passing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The functions that write or delete a grant file.
const GRANT_WRITERS: [&str; 4] =
    ["merge_grant", "merge_grant_under", "write_grant", "revoke_grant"];

/// The words of one file: identifiers, punctuation and literals in their order.
type Words = Vec<String>;

/// The words of every source file of every crate that a release build has, by path.
fn sources() -> BTreeMap<String, Words> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("a root");
    let mut files = Vec::new();
    for entry in fs::read_dir(&root).expect("a directory") {
        let crate_sources = entry.expect("an entry").path().join("src");
        if crate_sources.is_dir() {
            collect(&crate_sources, &mut files);
        }
    }
    assert!(files.len() > 100, "the sources are found");
    let mut words = BTreeMap::new();
    let mut test_only: Vec<PathBuf> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file");
        let tokens: TokenStream =
            text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut found = Words::new();
        read(tokens, &module_directory(&file), &mut found, &mut test_only);
        words.insert(file, found);
    }
    let in_release = |file: &Path| {
        !test_only
            .iter()
            .any(|module| file.starts_with(module) || file == module.with_extension("rs"))
    };
    words
        .into_iter()
        .filter(|(file, _)| in_release(file))
        .map(|(file, words)| {
            let path = file.strip_prefix(&root).expect("below the root");
            (path.display().to_string(), words)
        })
        .collect()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            files.push(path);
        }
    }
}

/// Where the modules that a file declares lie.
fn module_directory(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default();
    let parent = file.parent().unwrap_or(Path::new("")).to_owned();
    if ["mod", "lib", "main"].iter().any(|name| stem == *name) { parent } else { parent.join(stem) }
}

/// Reads tokens in order, leaving out every item under `#[cfg(test)]`; the modules among those are
/// added to `test_only`.
fn read(tokens: TokenStream, directory: &Path, words: &mut Words, test_only: &mut Vec<PathBuf>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let Some(TokenTree::Group(attribute)) = tokens.peek() else { continue };
                if attribute.stream().to_string().replace(' ', "") != "cfg(test)" {
                    continue;
                }
                let mut item = Words::new();
                for token in tokens.by_ref() {
                    let ends = match &token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(punct) => punct.as_char() == ';',
                        _ => false,
                    };
                    if ends {
                        break;
                    }
                    item.push(token.to_string());
                }
                if let Some(at) = item.iter().position(|word| word == "mod") {
                    test_only.extend(item.get(at + 1).map(|name| directory.join(name)));
                }
            }
            TokenTree::Group(group) => read(group.stream(), directory, words, test_only),
            other => words.push(other.to_string()),
        }
    }
}

/// The files with a word that is one of these.
fn naming(sources: &BTreeMap<String, Words>, names: &[&str]) -> BTreeSet<String> {
    let has = |words: &Words| words.iter().any(|word| names.contains(&word.as_str()));
    sources.iter().filter(|(_, words)| has(words)).map(|(file, _)| file.clone()).collect()
}

/// How often these words follow each other, in every file that has them.
fn following(sources: &BTreeMap<String, Words>, run: &[&str]) -> BTreeMap<String, usize> {
    let count = |words: &Words| {
        words
            .windows(run.len())
            .filter(|window| window.iter().zip(run).all(|(a, b)| a == b))
            .count()
    };
    let counts = sources.iter().map(|(file, words)| (file.clone(), count(words)));
    counts.filter(|(_, count)| *count > 0).collect()
}

fn set(files: &[&str]) -> BTreeSet<String> {
    files.iter().map(|file| (*file).to_owned()).collect()
}

#[test]
fn the_grant_writer_is_named_by_the_commands_and_the_library_alone() {
    let sources = sources();
    let expected = set(&[
        "core/src/answers/mod.rs",
        "core/src/answers/parked.rs",
        "core/src/cli/approve/grant.rs",
        "core/src/cli/revoke.rs",
        "core/src/home/approval.rs",
    ]);
    assert_eq!(naming(&sources, &GRANT_WRITERS), expected);
}

#[test]
fn the_grant_file_is_reached_through_one_module() {
    let sources = sources();
    // The module, and the path of its file, have this name.
    let expected = set(&[
        "core/src/answers/mod.rs",
        "core/src/answers/parked.rs",
        "core/src/cli/plan/mod.rs",
        "core/src/engine/options.rs",
        "core/src/engine/plugin_run.rs",
        "core/src/home/approval.rs",
        "core/src/home/mod.rs",
        "core/src/home/paths.rs",
    ]);
    assert_eq!(naming(&sources, &["approval"]), expected);
    for module in ["approval", "answers", "home"] {
        let everything = following(&sources, &[module, ":", ":", "*"]);
        assert_eq!(everything, BTreeMap::new(), "names must be spelt to be found");
    }
    let names_the_file = |words: &Words| words.iter().any(|word| word == "\".session-approval\"");
    let files: Vec<_> =
        sources.iter().filter(|(_, words)| names_the_file(words)).map(|(file, _)| file).collect();
    assert_eq!(files, ["core/src/home/paths.rs"]);
}

#[test]
fn capabilities_are_minted_in_one_place() {
    let sources = sources();
    let expected = set(&["core/src/decide/mod.rs", "core/src/engine/invoke.rs"]);
    assert_eq!(naming(&sources, &["capability"]), expected);
    let calls = following(&sources, &["capability", ":", ":", "context"]);
    assert_eq!(calls, BTreeMap::from([("core/src/engine/invoke.rs".to_owned(), 1)]));
    let mint = sources.get("core/src/decide/capability.rs").expect("the mint");
    let grant_words = ["approval", "grant", "answers", "home"];
    assert!(!mint.iter().any(|word| grant_words.contains(&word.as_str())), "it reads no grant");
}

#[test]
fn the_files_of_a_home_are_touched_in_one_place() {
    let home: BTreeMap<String, Words> = sources()
        .into_iter()
        .filter(|(file, _)| file.starts_with("core/src/home/") && !file.ends_with("/disk.rs"))
        .collect();
    assert!(home.len() > 20, "the sources are found");
    let functions = ["canonicalize", "metadata", "symlink_metadata", "read_dir", "read", "write"];
    let more = ["read_to_string", "create_dir", "create_dir_all", "remove_file", "remove_dir_all"];
    let others = ["rename", "copy", "hard_link", "symlink", "set_permissions", "exists"];
    for name in functions.into_iter().chain(more).chain(others) {
        assert_eq!(following(&home, &["fs", ":", ":", name]), BTreeMap::new(), "{name}");
    }
    let methods = ["open", "metadata", "set_len", "sync_all", "sync_data", "set_permissions"];
    let reading = ["read_to_end", "read_exact", "read_at", "read_exact_at", "write_all", "exists"];
    let paths = ["try_lock_shared", "unlock", "persist", "canonicalize", "read_dir"];
    for name in methods.into_iter().chain(reading).chain(paths) {
        assert_eq!(following(&home, &[".", name]), BTreeMap::new(), "{name}");
    }
    // Of that name is what a mutex in memory has, too.
    let in_memory = following(&home, &["COUNTS", ".", "try_lock"]);
    assert_eq!(following(&home, &[".", "try_lock"]), in_memory);
    for name in ["File", "NamedTempFile", "TempDir"] {
        assert_eq!(following(&home, &[name, ":", ":"]), BTreeMap::new(), "{name}");
    }
    assert_eq!(naming(&home, &["tempfile_in", "tempdir_in"]), BTreeSet::new());
}

#[test]
fn comments_texts_and_tests_do_not_count() {
    let text = r##"
        //! merge_grant
        /* write_grant */
        const A: &str = "revoke_grant";
        #[cfg(test)]
        mod tests { fn a() { merge_grant(); } }
        #[cfg(test)]
        pub(crate) mod fixtures;
        #[cfg(test)]
        use tests::write_grant;
        #[cfg(not(test))]
        fn b() { c::revoke_grant() }
    "##;
    let (mut words, mut test_only) = (Words::new(), Vec::new());
    read(text.parse().expect("tokens"), Path::new("d"), &mut words, &mut test_only);
    let named: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| GRANT_WRITERS.contains(word)).collect();
    assert_eq!(named, ["revoke_grant"]);
    assert_eq!(test_only, [Path::new("d/tests"), Path::new("d/fixtures")]);
}
