//! Quiet hours: when no plugin runs.

use crate::schema::preferences::QuietHours;

/// Whether a minute of the local day (0 to 1439) is quiet.
///
/// The start is quiet, the end is not; a start after the end wraps midnight, equal ones are never
/// quiet.
pub fn is_quiet(window: Option<QuietHours>, minute: u32) -> bool {
    let Some(QuietHours { start, end }) = window else {
        return false;
    };
    if start <= end { (start..end).contains(&minute) } else { minute >= start || minute < end }
}

/// Whether an advance does no work because of quiet hours; force and dry runs go through them.
pub fn skips_advance(window: Option<QuietHours>, minute: u32, force: bool, dry_run: bool) -> bool {
    is_quiet(window, minute) && !force && !dry_run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_quiet_and_the_end_is_not() {
        let night = Some(QuietHours { start: 1320, end: 420 });
        let day = Some(QuietHours { start: 540, end: 600 });
        for (window, minute, quiet) in [
            (night, 1319, false),
            (night, 1320, true),
            (night, 1439, true),
            (night, 0, true),
            (night, 419, true),
            (night, 420, false),
            (day, 539, false),
            (day, 540, true),
            (day, 599, true),
            (day, 600, false),
            (None, 0, false),
        ] {
            assert_eq!(is_quiet(window, minute), quiet, "{window:?} {minute}");
        }
        let never = Some(QuietHours { start: 60, end: 60 });
        assert!((0..1440).all(|minute| !is_quiet(never, minute)));
    }

    #[test]
    fn force_and_dry_runs_go_through_quiet_hours() {
        let window = Some(QuietHours { start: 0, end: 10 });
        assert!(skips_advance(window, 5, false, false));
        assert!(!skips_advance(window, 5, true, false));
        assert!(!skips_advance(window, 5, false, true));
        assert!(!skips_advance(window, 15, false, false));
    }
}
