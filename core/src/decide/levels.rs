//! Topological levels: which plugins wait for which.

#![expect(clippy::indexing_slicing, reason = "node numbers are positions of the roster, made here")]

use std::collections::HashMap;

use crate::json::JsString;

/// How many names of a long cycle are spelled on each side of its middle.
const SPELLED: usize = 8;

/// A plugin's directory name and the dependencies it declares.
pub type Entry = (JsString, Vec<JsString>);

/// Not every plugin can be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Every plugin on a cycle or downstream of one, in roster order.
    pub members: Vec<JsString>,
}

/// The order of an advance: what can run, and what cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Plugins by level; each depends on earlier levels alone.
    pub levels: Vec<Vec<JsString>>,
    /// Plugins on a cycle or downstream of one, in roster order, with the error that spells it.
    pub unplaced: Vec<(JsString, String)>,
}

/// Places every plugin one level after its deepest dependency.
///
/// Dependencies that are not in the roster are ignored. A level lists plugins in roster order,
/// then in the order in which their last dependency was placed. The cost is linear.
///
/// # Errors
///
/// The plugins that a cycle keeps from being placed.
///
/// ```
/// use warpline_core::decide::levels::levels;
///
/// let roster = [("digest".into(), vec!["metrics".into()]), ("metrics".into(), vec![]), ("notes".into(), vec![])];
/// let placed = levels(&roster).expect("no cycle");
/// assert_eq!(placed[0], ["metrics", "notes"]);
/// assert_eq!(placed[1], ["digest"]);
/// ```
pub fn levels(roster: &[Entry]) -> Result<Vec<Vec<JsString>>, Cycle> {
    let graph = Graph::new(roster);
    let placed = graph.place();
    let members: Vec<_> = graph.unplaced(&placed).map(|at| roster[at].0.clone()).collect();
    if members.is_empty() { Ok(graph.names(&placed)) } else { Err(Cycle { members }) }
}

/// The same levels, with plugins that cannot be placed set apart so that all others run.
pub fn order(roster: &[Entry]) -> Order {
    let graph = Graph::new(roster);
    let placed = graph.place();
    Order { levels: graph.names(&placed), unplaced: graph.explain(&placed) }
}

/// The roster by position.
struct Graph<'a> {
    roster: &'a [Entry],
    /// The dependencies of each plugin that are in the roster.
    dependencies: Vec<Vec<usize>>,
    dependents: Vec<Vec<usize>>,
}

/// Positions by level, and whether each position has a level.
struct Placed {
    levels: Vec<Vec<usize>>,
    has_level: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn new(roster: &'a [Entry]) -> Self {
        let positions: HashMap<&JsString, usize> =
            roster.iter().enumerate().map(|(at, (name, _))| (name, at)).collect();
        let mut dependents = vec![Vec::new(); roster.len()];
        let mut dependencies = Vec::with_capacity(roster.len());
        for (at, (_, names)) in roster.iter().enumerate() {
            let known: Vec<usize> =
                names.iter().filter_map(|name| positions.get(name).copied()).collect();
            for dependency in &known {
                dependents[*dependency].push(at);
            }
            dependencies.push(known);
        }
        Self { roster, dependencies, dependents }
    }

    fn place(&self) -> Placed {
        let mut waits_for: Vec<usize> = self.dependencies.iter().map(Vec::len).collect();
        let mut has_level = vec![false; self.roster.len()];
        let mut levels = Vec::new();
        let mut level: Vec<usize> =
            (0..self.roster.len()).filter(|at| waits_for[*at] == 0).collect();
        while !level.is_empty() {
            let mut next = Vec::new();
            for at in &level {
                has_level[*at] = true;
                for dependent in &self.dependents[*at] {
                    waits_for[*dependent] -= 1;
                    if waits_for[*dependent] == 0 {
                        next.push(*dependent);
                    }
                }
            }
            levels.push(std::mem::replace(&mut level, next));
        }
        Placed { levels, has_level }
    }

    fn names(&self, placed: &Placed) -> Vec<Vec<JsString>> {
        let name = |at: &usize| self.roster[*at].0.clone();
        placed.levels.iter().map(|level| level.iter().map(name).collect()).collect()
    }

    fn unplaced<'b>(&self, placed: &'b Placed) -> impl Iterator<Item = usize> + 'b {
        placed.has_level.iter().enumerate().filter(|(_, has)| !**has).map(|(at, _)| at)
    }

    /// Follows, from each plugin without a level, its first dependency without one: each such walk
    /// ends in exactly one cycle, which is spelled from its first plugin in roster order.
    fn explain(&self, placed: &Placed) -> Vec<(JsString, String)> {
        let next: Vec<Option<usize>> = (0..self.roster.len())
            .map(|at| {
                if placed.has_level[at] {
                    return None;
                }
                self.dependencies[at].iter().copied().find(|other| !placed.has_level[*other])
            })
            .collect();
        let mut walk_of = vec![usize::MAX; self.roster.len()];
        // The cycle that a walk from a position ends in, and whether the position is on it.
        let mut cycle_of: Vec<Option<(usize, bool)>> = vec![None; self.roster.len()];
        let mut cycles: Vec<String> = Vec::new();
        for start in self.unplaced(placed) {
            let mut path = Vec::new();
            let mut at = Some(start);
            while let Some(here) = at.filter(|here| walk_of[*here] == usize::MAX) {
                walk_of[here] = start;
                path.push(here);
                at = next[here];
            }
            let Some(met) = at else { continue };
            let cycle = match cycle_of[met] {
                Some((cycle, _)) => cycle,
                None => {
                    // The walk met itself: what follows the meeting point is a cycle.
                    let from = path.iter().position(|here| *here == met).unwrap_or(0);
                    let ring = path.split_off(from);
                    for here in &ring {
                        cycle_of[*here] = Some((cycles.len(), true));
                    }
                    cycles.push(self.spell(&ring));
                    cycles.len() - 1
                }
            };
            for here in path {
                cycle_of[here] = Some((cycle, false));
            }
        }
        self.unplaced(placed)
            .map(|at| {
                let text = match cycle_of[at] {
                    Some((cycle, true)) => format!("dependency cycle: {}", cycles[cycle]),
                    Some((cycle, false)) => format!("depends on the cycle {}", cycles[cycle]),
                    None => "depends on a cycle".into(),
                };
                (self.roster[at].0.clone(), text)
            })
            .collect()
    }

    /// `a -> b -> a`; the middle of a long cycle is left out, so that all texts together stay
    /// linear in the roster.
    fn spell(&self, ring: &[usize]) -> String {
        let first = (0..ring.len()).min_by_key(|at| ring[*at]).unwrap_or(0);
        let name = |step: usize| self.roster[ring[(first + step) % ring.len()]].0.to_text();
        let mut steps: Vec<String> = Vec::new();
        if ring.len() <= 2 * SPELLED {
            steps.extend((0..ring.len()).map(name));
        } else {
            steps.extend((0..SPELLED).map(name));
            steps.push(format!("({} more)", ring.len() - 2 * SPELLED));
            steps.extend((ring.len() - SPELLED..ring.len()).map(name));
        }
        steps.push(name(0));
        steps.join(" -> ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::names;

    fn roster(entries: &[(&str, &[&str])]) -> Vec<Entry> {
        entries.iter().map(|(name, needs)| ((*name).into(), names(needs))).collect()
    }

    fn texts(order: &Order) -> Vec<(String, &str)> {
        order.unplaced.iter().map(|(name, text)| (name.to_text(), text.as_str())).collect()
    }

    /// Cases: T097, T098, T102.
    #[test]
    fn plugins_wait_for_their_deepest_dependency() {
        let independent = roster(&[("a", &[]), ("b", &["ghost"]), ("c", &[])]);
        assert_eq!(levels(&independent), Ok(vec![names(&["a", "b", "c"])]));
        let chain = roster(&[("a", &[]), ("b", &["a", "a"]), ("c", &["b", "a"])]);
        assert_eq!(levels(&chain), Ok(vec![names(&["a"]), names(&["b"]), names(&["c"])]));
        assert_eq!(levels(&[]), Ok(vec![]));
    }

    /// Cases: T101.
    #[test]
    fn the_first_level_is_what_depends_on_nothing() {
        let nine = roster(&[
            ("auth", &[]),
            ("brief", &["metrics", "issues"]),
            ("feed", &[]),
            ("issues", &["auth"]),
            ("mail", &["brief"]),
            ("metrics", &["auth", "feed"]),
            ("poll", &[]),
            ("report", &["mail", "feed"]),
            ("watch", &[]),
        ]);
        let expected = [
            names(&["auth", "feed", "poll", "watch"]),
            names(&["issues", "metrics"]),
            names(&["brief"]),
            names(&["mail"]),
            names(&["report"]),
        ];
        assert_eq!(levels(&nine), Ok(expected.into()));
    }

    /// Cases: T100.
    #[test]
    fn a_cycle_names_everything_it_keeps_from_running() {
        let cyclic = roster(&[("c", &["b"]), ("a", &["b"]), ("b", &["a"]), ("d", &[])]);
        assert_eq!(levels(&cyclic), Err(Cycle { members: names(&["c", "a", "b"]) }));
        let own = roster(&[("a", &["a"])]);
        assert_eq!(levels(&own), Err(Cycle { members: names(&["a"]) }));
    }

    /// Cases: T100.
    #[test]
    fn an_advance_runs_what_no_cycle_holds_and_spells_the_cycle_for_the_rest() {
        let order = order(&roster(&[
            ("a", &["free", "b"]),
            ("b", &["c"]),
            ("c", &["a"]),
            ("down", &["b"]),
            ("further", &["free", "down"]),
            ("free", &[]),
            ("own", &["own"]),
            ("user", &["free"]),
        ]));
        assert_eq!(order.levels, vec![names(&["free"]), names(&["user"])]);
        let cycle = "dependency cycle: a -> b -> c -> a";
        let downstream = "depends on the cycle a -> b -> c -> a";
        let expected = [
            ("a", cycle),
            ("b", cycle),
            ("c", cycle),
            ("down", downstream),
            ("further", downstream),
            ("own", "dependency cycle: own -> own"),
        ];
        assert_eq!(texts(&order), expected.map(|(name, text)| (name.to_owned(), text)));
    }

    #[test]
    fn a_cycle_is_spelled_from_its_first_plugin_wherever_the_walk_entered_it() {
        let order = order(&roster(&[("z", &["b"]), ("a", &["b"]), ("b", &["a"])]));
        let expected = [
            ("z", "depends on the cycle a -> b -> a"),
            ("a", "dependency cycle: a -> b -> a"),
            ("b", "dependency cycle: a -> b -> a"),
        ];
        assert_eq!(texts(&order), expected.map(|(name, text)| (name.to_owned(), text)));
    }

    #[test]
    fn a_hundred_thousand_plugins_are_placed_without_recursion() {
        let count = 100_000;
        let name = |at: usize| JsString::from(format!("n{at:06}"));
        let ring: Vec<Entry> =
            (0..count).map(|at| (name(at), vec![name((at + 1) % count)])).collect();
        let whole = order(&ring);
        assert!(whole.levels.is_empty());
        assert_eq!(whole.unplaced.len(), count);
        let size: usize = whole.unplaced.iter().map(|(_, text)| text.len()).sum();
        assert!(size < count * 250, "texts stay short: {size}");
        assert!(whole.unplaced[0].1.contains("n000007 -> (99984 more) -> n099992"));
        let chain: Vec<Entry> = ring.into_iter().skip(1).collect();
        let open = order(&chain);
        assert_eq!(open.levels.len(), count - 1);
        assert!(open.unplaced.is_empty());
    }
}
