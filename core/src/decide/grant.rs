//! Grants: whether a plugin's effects are approved, and what a new yes makes of the old file.

use crate::clock::Instant;
use crate::json::{JsString, Map, Value};
use crate::schema::grant::{Grant, Scopes};

use super::instant;

/// How long a grant lasts unless told otherwise, in milliseconds.
pub const DEFAULT_TTL_MS: i64 = 4 * HOUR_MS;

/// How far from its anchor a window reaches unless told otherwise, in milliseconds.
pub const WINDOW_CEILING_MS: i64 = 23 * HOUR_MS;

const HOUR_MS: i64 = 3_600_000;

/// What `approve` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequest {
    /// The plugins; in any order, repeated or not.
    pub scopes: Scopes,
    /// The lifetime from now; `None` keeps a live expiry, or takes the default.
    pub ttl_ms: Option<i64>,
    /// Whether scopes and expiry of a live grant are overwritten.
    pub replace: bool,
    /// Whether the expiry may pass the ceiling.
    pub long: bool,
}

/// The grant after a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// What the file holds from now on.
    pub grant: Grant,
    /// Whether the ceiling cut the lifetime that was asked for.
    pub capped: bool,
    /// Whether the grant reaches past its ceiling.
    pub extended: bool,
}

impl Merged {
    /// The record that a merge reports.
    pub fn to_value(&self) -> Value {
        let mut record = Map::new();
        record.insert("expires_at", &self.grant.expires_at);
        record.insert("first_granted_at", &self.grant.first_granted_at);
        record.insert("scopes", self.grant.scopes.to_value());
        record.insert("capped", self.capped);
        record.insert("extended", self.extended);
        record.into()
    }
}

impl Grant {
    /// The exact text of the grant file.
    pub fn to_text(&self) -> String {
        self.to_value().to_pretty()
    }
}

/// A lifetime that cannot be granted; nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantFault {
    /// It is zero or negative.
    #[error("the lifetime of a grant must be longer than zero")]
    NotPositive,
    /// It ends after the last instant that a date can hold.
    #[error("the lifetime of a grant ends beyond the last date there is")]
    TooLong,
}

/// The grant in a file's text, if it still holds at `now`; the instant of expiry included.
///
/// `text` is `None` where there is no file. Whatever cannot be read, or whose expiry is not a
/// clock, is no grant.
pub fn live(text: Option<&str>, now: Instant) -> Option<Grant> {
    let grant = Grant::parse_lenient(text?)?;
    let expires_at = instant(&grant.expires_at)?;
    (now <= expires_at).then_some(grant)
}

/// Whether a live grant covers the plugin directory `scope`, by exact name.
pub fn is_approved(text: Option<&str>, scope: &JsString, now: Instant) -> bool {
    live(text, now).is_some_and(|grant| match &grant.scopes {
        Scopes::All => true,
        Scopes::Plugins(names) => names.contains(scope),
    })
}

/// Merges a yes into what the grant file holds.
///
/// Scopes add up, a live expiry is never shortened, and without `long` it is cut at 23 hours from
/// the window's anchor, or where an earlier long window already reached. An expired or unreadable
/// grant, or one without a readable anchor, is not merged onto: a new window starts.
///
/// # Errors
///
/// [`GrantFault`], for a lifetime without length or without an end that can be written down.
pub fn merge(
    before: Option<&str>,
    request: &MergeRequest,
    now: Instant,
) -> Result<Merged, GrantFault> {
    let wanted = end_of(request.ttl_ms.unwrap_or(DEFAULT_TTL_MS), now)?;
    let window = live(before, now).and_then(Window::of);
    let (anchor, ceiling) = match &window {
        Some(window) => (window.grant.first_granted_at.clone(), window.ceiling),
        None => (now.to_iso().into(), now.plus_ms(WINDOW_CEILING_MS).unwrap_or(now)),
    };
    let kept = window.as_ref().filter(|_| !request.replace);
    let wanted = match (kept, request.ttl_ms) {
        (None, _) => wanted,
        (Some(kept), None) => kept.expires_at,
        (Some(kept), Some(_)) => wanted.max(kept.expires_at),
    };
    // The ceiling never takes back what is held already.
    let limit = window.as_ref().map_or(ceiling, |window| ceiling.max(window.expires_at));
    let capped = wanted > limit && !request.long;
    let expires_at = if capped { limit } else { wanted };
    let scopes = match kept {
        None => request.scopes.clone(),
        Some(kept) => union(&kept.grant.scopes, &request.scopes),
    };
    let grant = Grant {
        granted_at: now.to_iso().into(),
        first_granted_at: anchor,
        expires_at: expires_at.to_iso().into(),
        scopes: sorted(scopes),
    };
    Ok(Merged { grant, capped, extended: expires_at > ceiling })
}

/// The grant that a host writes in advance: a new window that lasts `ttl_ms` (four hours unless
/// given), whatever the ceiling.
///
/// # Errors
///
/// [`GrantFault`], for a lifetime without length or without an end that can be written down.
pub fn pre_grant(scopes: Scopes, ttl_ms: Option<i64>, now: Instant) -> Result<Grant, GrantFault> {
    let expires_at = end_of(ttl_ms.unwrap_or(DEFAULT_TTL_MS), now)?;
    Ok(Grant {
        granted_at: now.to_iso().into(),
        first_granted_at: now.to_iso().into(),
        expires_at: expires_at.to_iso().into(),
        scopes: sorted(scopes),
    })
}

/// A live grant that can be merged onto.
struct Window {
    grant: Grant,
    expires_at: Instant,
    ceiling: Instant,
}

impl Window {
    fn of(grant: Grant) -> Option<Self> {
        let expires_at = instant(&grant.expires_at)?;
        let ceiling = instant(&grant.first_granted_at)?.plus_ms(WINDOW_CEILING_MS)?;
        Some(Self { grant, expires_at, ceiling })
    }
}

fn end_of(ttl_ms: i64, now: Instant) -> Result<Instant, GrantFault> {
    if ttl_ms <= 0 {
        return Err(GrantFault::NotPositive);
    }
    now.plus_ms(ttl_ms).ok_or(GrantFault::TooLong)
}

fn union(held: &Scopes, added: &Scopes) -> Scopes {
    match (held, added) {
        (Scopes::Plugins(held), Scopes::Plugins(added)) => {
            Scopes::Plugins(held.iter().chain(added).cloned().collect())
        }
        _ => Scopes::All,
    }
}

fn sorted(scopes: Scopes) -> Scopes {
    match scopes {
        Scopes::All => Scopes::All,
        Scopes::Plugins(names) => Scopes::of(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{NOW, at, names, now};

    const HOUR: i64 = HOUR_MS;

    fn plugins(list: &[&str]) -> Scopes {
        Scopes::Plugins(names(list))
    }

    fn request(list: &[&str], ttl_ms: Option<i64>) -> MergeRequest {
        MergeRequest { scopes: plugins(list), ttl_ms, replace: false, long: false }
    }

    fn later(ms: i64) -> Instant {
        now().plus_ms(ms).expect("in range")
    }

    fn iso(ms: i64) -> JsString {
        later(ms).to_iso().into()
    }

    fn merged(before: Option<&Grant>, request: &MergeRequest, at: Instant) -> Merged {
        let text = before.map(Grant::to_text);
        merge(text.as_deref(), request, at).expect("the lifetime can be granted")
    }

    /// Cases: T047, T048, T050, T051, T052.
    #[test]
    fn a_grant_holds_for_its_scopes_until_its_expiry_under_the_given_clock() {
        let grant = pre_grant(plugins(&["b", "a"]), None, now()).expect("a grant").to_text();
        let text = Some(grant.as_str());
        assert!(!is_approved(None, &"a".into(), now()));
        assert!(is_approved(text, &"a".into(), later(HOUR)));
        assert!(is_approved(text, &"b".into(), later(4 * HOUR)));
        assert!(!is_approved(text, &"a".into(), later(4 * HOUR + 1)));
        assert!(!is_approved(text, &"a".into(), later(5 * HOUR)));
        assert!(!is_approved(text, &"c".into(), now()));
        assert!(!is_approved(text, &"A".into(), now()));
        let all = pre_grant(Scopes::All, None, now()).expect("a grant").to_text();
        assert!(is_approved(Some(&all), &"anything".into(), now()));
        let star = pre_grant(plugins(&["*"]), None, now()).expect("a grant").to_text();
        assert!(!is_approved(Some(&star), &"a".into(), now()));
        assert!(is_approved(Some(&star), &"*".into(), now()));
    }

    /// Cases: T054.
    #[test]
    fn a_file_without_a_readable_expiry_approves_nothing() {
        for text in [
            r#"{"scopes":"*"}"#,
            r#"{"scopes":"*","expires_at":"nonsense"}"#,
            r#"{"scopes":"*","expires_at":null}"#,
            "junk",
            "",
        ] {
            assert!(!is_approved(Some(text), &"a".into(), now()), "{text}");
            let fresh = merge(Some(text), &request(&["a"], None), now()).expect("a merge");
            assert_eq!(fresh.grant, pre_grant(plugins(&["a"]), None, now()).expect("a grant"));
        }
    }

    /// Cases: T058, T059.
    #[test]
    fn a_pre_grant_starts_a_window_of_the_lifetime_it_is_given() {
        let grant = pre_grant(plugins(&["b", "a", "b"]), Some(60_000), now()).expect("a grant");
        assert_eq!(grant.scopes, plugins(&["a", "b"]));
        assert_eq!((&grant.granted_at, &grant.first_granted_at), (&NOW.into(), &NOW.into()));
        assert_eq!(grant.expires_at, iso(60_000));
        let long = pre_grant(Scopes::All, Some(1000 * HOUR), now()).expect("no ceiling here");
        assert_eq!(long.expires_at, iso(1000 * HOUR));
    }

    /// Cases: T062.
    #[test]
    fn merging_adds_scopes_and_keeps_the_anchor_and_the_expiry() {
        let first = merged(None, &request(&["b"], None), now()).grant;
        let second = merged(Some(&first), &request(&["a"], Some(1000)), later(60_000));
        assert_eq!(second.grant.scopes, plugins(&["a", "b"]));
        assert_eq!(second.grant.first_granted_at, NOW);
        assert_eq!(second.grant.granted_at, iso(60_000));
        assert_eq!(second.grant.expires_at, iso(4 * HOUR));
        assert!(!second.capped && !second.extended);
    }

    /// Cases: T063.
    #[test]
    fn an_older_file_takes_its_grant_time_for_the_anchor() {
        let text =
            format!(r#"{{"granted_at":"{NOW}","expires_at":"{}","scopes":["a"]}}"#, iso(HOUR));
        let merged = merge(Some(&text), &request(&["b"], None), later(1)).expect("a merge");
        assert_eq!(merged.grant.first_granted_at, NOW);
        assert_eq!(merged.grant.scopes, plugins(&["a", "b"]));
    }

    /// Cases: T064.
    #[test]
    fn the_ceiling_cuts_a_lifetime_but_never_what_is_held_already() {
        let day = 24 * HOUR;
        let first = merged(None, &request(&["a"], None), now()).grant;
        let cut = merged(Some(&first), &request(&["a"], Some(30 * day)), later(1000));
        assert!(cut.capped && !cut.extended);
        assert_eq!(cut.grant.expires_at, iso(23 * HOUR));
        let long = MergeRequest { long: true, ..request(&["a"], Some(30 * day)) };
        let held = merged(Some(&first), &long, later(1000));
        assert!(!held.capped && held.extended);
        assert_eq!(held.grant.expires_at, iso(30 * day + 1000));
        let plain = merged(Some(&held.grant), &request(&["b"], None), later(2000));
        assert!(!plain.capped && plain.extended);
        assert_eq!(plain.grant.expires_at, held.grant.expires_at);
        let more = merged(Some(&held.grant), &request(&["b"], Some(60 * day)), later(2000));
        assert!(more.capped && more.extended);
        assert_eq!(more.grant.expires_at, held.grant.expires_at);
    }

    /// Cases: T066.
    #[test]
    fn replacing_overwrites_scopes_and_expiry_and_keeps_the_anchor() {
        let first = merged(None, &request(&["a", "b"], Some(HOUR)), now()).grant;
        let replace = MergeRequest { replace: true, ..request(&["c"], Some(2 * HOUR)) };
        let replaced = merged(Some(&first), &replace, later(1000)).grant;
        assert_eq!(replaced.scopes, plugins(&["c"]));
        assert_eq!(replaced.first_granted_at, NOW);
        assert_eq!(replaced.expires_at, iso(2 * HOUR + 1000));
        let shorter = MergeRequest { ttl_ms: Some(1000), ..replace };
        assert_eq!(merged(Some(&first), &shorter, now()).grant.expires_at, iso(1000));
    }

    /// Cases: T067.
    #[test]
    fn a_wildcard_absorbs_names_on_either_side() {
        let named = merged(None, &request(&["a"], None), now()).grant;
        let all = MergeRequest { scopes: Scopes::All, ..request(&[], None) };
        let widened = merged(Some(&named), &all, now()).grant;
        assert_eq!(widened.scopes, Scopes::All);
        assert_eq!(merged(Some(&widened), &request(&["b"], None), now()).grant.scopes, Scopes::All);
    }

    /// Cases: T068.
    #[test]
    fn an_expired_grant_or_a_broken_anchor_starts_a_new_window() {
        let first = pre_grant(plugins(&["a"]), Some(HOUR), now()).expect("a grant");
        let restarted = merged(Some(&first), &request(&["b"], None), later(2 * HOUR)).grant;
        assert_eq!(restarted.scopes, plugins(&["b"]));
        assert_eq!(restarted.first_granted_at, iso(2 * HOUR));
        for anchor in ["nonsense", "+275760-09-13T00:00:00.000Z"] {
            let broken = Grant { first_granted_at: anchor.into(), ..first.clone() };
            let grant = merged(Some(&broken), &request(&["b"], None), later(1)).grant;
            assert_eq!(grant.scopes, plugins(&["b"]));
            assert_eq!(grant.first_granted_at, iso(1));
            assert_eq!(grant.expires_at, iso(4 * HOUR + 1));
        }
    }

    #[test]
    fn a_lifetime_that_no_date_can_hold_is_refused() {
        for (ttl_ms, fault) in [
            (0, GrantFault::NotPositive),
            (-1, GrantFault::NotPositive),
            (8_640_000_000_000_000, GrantFault::TooLong),
            (i64::MAX, GrantFault::TooLong),
        ] {
            assert_eq!(merge(None, &request(&["a"], Some(ttl_ms)), now()), Err(fault));
            assert_eq!(pre_grant(Scopes::All, Some(ttl_ms), now()), Err(fault));
        }
        let end = at("+275760-09-13T00:00:00.000Z");
        assert_eq!(merge(None, &request(&["a"], None), end), Err(GrantFault::TooLong));
    }
}
