//! How a worker for Python plugins is started: the same for every program that drives an engine.

/// What an interpreter runs, after `-c`, to be a worker.
///
/// Further arguments are for a host that starts a worker of its own kind: the directory of its package
/// and then the directories where modules are looked for, exactly as the host has them. Without
/// them, the package is the one that the interpreter finds; not in the working directory.
pub const START: &str = include_str!("start.py");

/// What the interpreter ends with where it has no package `warpline`, or one that has no worker.
pub const NO_PACKAGE: i32 = 86;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_ends_with_the_code_that_is_looked_for() {
        assert!(START.contains(&format!("sys.exit({NO_PACKAGE})\n")), "{START}");
    }
}
