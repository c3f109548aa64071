//! Who else can write a home. Whoever can write it decides what runs and what was granted, so that one that
//! others can write is refused, unless its owner has said that they may.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::json::JsString;

use super::{Environment, Paths, disk};

/// The variable by which the owner of a home says that others may write it.
pub const ALLOW: &str = "WARPLINE_ALLOW_SHARED_HOME";

/// Where the groups of the machine are listed.
const GROUPS: &str = "/etc/group";

/// Refuses a home that others than its owner can write.
///
/// Looked at are the home, the plugin root, the directories of configuration, state and runs, and the
/// grant file; what is absent is fine, and directories above the home are not looked at. Others are: the
/// world; a group, unless it is the owner's private one (it has the owner's number, and no other
/// member is listed); an owner who is neither this user nor root.
///
/// # Errors
///
/// [`Error::SharedHome`] names the first path, unless the environment has `WARPLINE_ALLOW_SHARED_HOME=1`.
pub fn refuse(paths: &Paths, environment: &Environment) -> Result<()> {
    match warnings(paths, environment).into_iter().next() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// What [`refuse`] would refuse, path by path: what a command says that only looks.
pub fn warnings(paths: &Paths, environment: &Environment) -> Vec<Error> {
    if environment.value(&JsString::from(ALLOW)).is_some_and(|value| *value == "1") {
        return Vec::new();
    }
    paths.deciding().iter().filter_map(|path| fault(path)).collect()
}

/// Refuses a plugin root that others can write; as for [`refuse`].
///
/// # Errors
///
/// As for [`refuse`].
pub fn refuse_root(root: &Path, environment: &Environment) -> Result<()> {
    let is_allowed = environment.value(&JsString::from(ALLOW)).is_some_and(|value| *value == "1");
    match fault(root).filter(|_| !is_allowed) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn fault(path: &Path) -> Option<Error> {
    // What cannot be looked at is met by whoever goes on to use it.
    let found = disk::follow(path).ok()?;
    let (owner, mode) = (found.uid(), found.mode() & 0o7777);
    let path = || path.to_owned();
    let me = rustix::process::geteuid().as_raw();
    if owner != me && owner != 0 {
        return Some(Error::SharedHome { path: path(), mode, owner: Some(owner) });
    }
    let by_group = mode & 0o020 != 0 && !is_private_group(&found);
    (mode & 0o002 != 0 || by_group).then(|| Error::SharedHome { path: path(), mode, owner: None })
}

/// Whether a group is that of its owner alone, as systems make one for each user.
fn is_private_group(found: &Metadata) -> bool {
    if found.gid() != found.uid() {
        return false;
    }
    let groups = disk::open(std::fs::OpenOptions::new().read(true), Path::new(GROUPS))
        .and_then(|file| disk::read_to_end(file, Path::new(GROUPS)));
    let groups = groups.unwrap_or_default();
    has_no_other_member(&String::from_utf8_lossy(&groups), found.gid())
}

/// Whether the list of groups has a group of this number, with no member but one of its own name.
fn has_no_other_member(groups: &str, number: u32) -> bool {
    let mut lines = groups.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (name, _, found) = (fields.next()?, fields.next()?, fields.next()?);
        (found.parse() == Ok(number)).then(|| (name, fields.next().unwrap_or_default()))
    });
    let Some((name, members)) = lines.next() else { return false };
    lines.next().is_none()
        && members.split(',').all(|member| member.trim().is_empty() || member.trim() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    fn environment(allow: Option<&str>) -> Environment {
        let vars = allow.map(|value| (ALLOW.to_owned(), value.into()));
        Environment { vars: vars.into_iter().collect::<BTreeMap<_, _>>(), cwd: "/".into() }
    }

    fn home() -> (tempfile::TempDir, Paths) {
        let root = tempfile::tempdir().expect("temporary directory");
        let paths = Paths::new(root.path().join("home"));
        for directory in ["plugins", "config", "state", "runs"] {
            fs::create_dir_all(paths.home.join(directory)).expect("directory");
        }
        fs::write(paths.home.join(".session-approval"), "{}").expect("file");
        for path in paths.deciding() {
            let mode = if path.is_dir() { 0o755 } else { 0o600 };
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("mode");
        }
        (root, paths)
    }

    #[test]
    fn each_path_that_the_world_can_write_is_refused_by_name_mode_and_command() {
        let (_root, paths) = home();
        refuse(&paths, &environment(None)).expect("closed");
        let looked_at = paths.deciding();
        assert_eq!(looked_at.len(), 6);
        for path in looked_at {
            let before = fs::metadata(&path).expect("facts").permissions();
            for mode in [0o777, 0o702, 0o1777] {
                fs::set_permissions(&path, Permissions::from_mode(mode)).expect("mode");
                let error = refuse(&paths, &environment(None)).expect_err("open");
                let (text, shown) = (error.to_string(), path.display());
                assert!(text.contains(&format!("{shown} ")), "{text}");
                assert!(text.contains(&format!("mode {mode:04o}")), "{text}");
                assert!(text.contains(&format!("`chmod go-w {shown}`")), "{text}");
                assert!(error.hint().is_some_and(|hint| hint.contains(ALLOW)));
                refuse(&paths, &environment(Some("1"))).expect("allowed");
                for other in ["", "0", "true", "yes"] {
                    assert!(refuse(&paths, &environment(Some(other))).is_err(), "{other:?}");
                }
            }
            fs::set_permissions(&path, before).expect("mode");
        }
        refuse(&paths, &environment(None)).expect("closed again");
    }

    #[test]
    fn what_is_absent_and_what_lies_above_is_not_looked_at() {
        let root = tempfile::tempdir().expect("temporary directory");
        fs::set_permissions(root.path(), Permissions::from_mode(0o1777)).expect("mode");
        let paths = Paths::new(root.path().join("home"));
        refuse(&paths, &environment(None)).expect("absent");
        fs::create_dir(&paths.home).expect("directory");
        fs::set_permissions(&paths.home, Permissions::from_mode(0o700)).expect("mode");
        refuse(&paths, &environment(None)).expect("below a sticky directory");
    }

    #[test]
    fn another_owner_and_a_foreign_group_are_others() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let (_root, paths) = home();
        chown(&paths.plugins, Some(12_345), None).expect("owner");
        let error = refuse(&paths, &environment(None)).expect_err("foreign").to_string();
        assert!(error.contains("belongs to user 12345") && error.contains("chown"), "{error}");
        chown(&paths.plugins, Some(0), Some(54_321)).expect("group");
        refuse(&paths, &environment(None)).expect("the group cannot write");
        fs::set_permissions(&paths.plugins, Permissions::from_mode(0o775)).expect("mode");
        assert!(refuse(&paths, &environment(None)).is_err());
        assert!(refuse_root(&paths.plugins, &environment(None)).is_err());
        assert!(refuse_root(&paths.plugins, &environment(Some("1"))).is_ok());
    }

    #[test]
    fn a_private_group_has_the_number_of_its_user_and_no_other_member() {
        let groups = "root:x:0:\nann:x:1000:ann\nbob:x:1001:ann\ncy:x:1002:\ndi:x:1003\n\
                      twin:x:1004:\nother:x:1004:\nstaff:x:50:ann,bob";
        let private = [0, 1000, 1001, 1002, 1003, 1004, 50, 7]
            .map(|number| has_no_other_member(groups, number));
        assert_eq!(private, [true, true, false, true, true, false, false, false]);
    }
}
