//! Run ids as file names: made by us, or checked before a path is built from one.

use uuid::Uuid;

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::json::JsString;

/// The id of an advance that starts at `now`: `YYYY-MM-DDTHHMMSSmmmZ-` and 8 hex digits.
pub fn new(now: Instant) -> String {
    let stamp: String = now.to_iso().chars().filter(|part| !matches!(part, ':' | '.')).collect();
    let random = Uuid::new_v4().simple().to_string();
    format!("{stamp}-{}", random.get(..8).unwrap_or_default())
}

/// The instant that the id of an advance carries; `None` for an id of another making.
pub(crate) fn started_at(run_id: &JsString) -> Option<Instant> {
    let (stamp, _) = run_id.as_str()?.rsplit_once('-')?;
    let (date, time) = stamp.split_once('T')?;
    let time = time.strip_suffix('Z').filter(|time| time.len() == 9 && time.is_ascii())?;
    let (hour, minute, second, ms) =
        (time.get(..2)?, time.get(2..4)?, time.get(4..6)?, time.get(6..)?);
    Instant::parse(&format!("{date}T{hour}:{minute}:{second}.{ms}Z"))
}

/// Whether `run_id` may become a file name: `[A-Za-z0-9._-]{1,128}`, not beginning with a dot.
pub fn is_valid(run_id: &str) -> bool {
    (1..=128).contains(&run_id.len())
        && !run_id.starts_with('.')
        && run_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Refuses a run id that may not become a file name.
///
/// # Errors
///
/// [`Error::Option`] for `runId`.
pub fn check_run_id(run_id: &str) -> Result<()> {
    if is_valid(run_id) {
        return Ok(());
    }
    let expected =
        "1 to 128 letters, digits, dots, underscores and hyphens, not beginning with a dot".into();
    Err(Error::Option { option: "runId", expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_cannot_leave_its_directory_or_hide() {
        for good in ["a", "A-1_b.c", "2026-08-20T120000000Z-0a1b2c3d", &"x".repeat(128)] {
            assert!(check_run_id(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".hidden", "../victim", "a/b", "a\\b", "a b", "é", "a\n", "a\0"]
        {
            assert!(check_run_id(bad).is_err(), "{bad:?}");
        }
        assert!(check_run_id(&"x".repeat(129)).is_err());
    }

    /// Cases: T438.
    #[test]
    fn new_ids_carry_the_instant_and_differ() {
        let now = Instant::from_ms(1_787_227_200_007).expect("in range");
        let id = new(now);
        let (stamp, random) = id.rsplit_once('-').expect("two parts");
        assert_eq!(stamp, "2026-08-20T120000007Z");
        assert!(random.len() == 8 && random.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(is_valid(&id));
        assert_ne!(new(now), id);
        assert_eq!(started_at(&id.as_str().into()), Some(now));
        for other in ["", "r1", "2026-08-20T12-x", "5f3c2a52-9d4e-4b43-8b3c-2f8e4f0a1b2c"] {
            assert_eq!(started_at(&other.into()), None, "{other}");
        }
    }
}
