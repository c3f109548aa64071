//! How long to wait before another attempt: exponential backoff with jitter.

/// The longest wait before jitter, in milliseconds.
const CAP_MS: f64 = 30_000.0;

/// The wait before retry number `retry` (the first is 1), in whole milliseconds.
///
/// `base` is the manifest's `retry_delay_ms`; each retry doubles it up to 30 seconds. `random` is a
/// sample of `[0, 1)` that moves the wait by up to a quarter either way. The result is finite and
/// at most 37,500 for every argument.
///
/// ```
/// use warpline_core::decide::retry::delay_ms;
///
/// assert_eq!(delay_ms(2000.0, 1, 0.5), 2000.0);
/// assert_eq!(delay_ms(2000.0, 3, 0.5), 8000.0);
/// assert_eq!(delay_ms(2000.0, 9, 0.5), 30_000.0);
/// ```
pub fn delay_ms(base: f64, retry: u32, random: f64) -> f64 {
    // `max` replaces NaN too.
    let base = base.max(0.0);
    let random = random.max(0.0).clamp(0.0, 1.0);
    // 2^1023 is the largest power that is finite: zero times infinity would be NaN.
    let doublings = i32::try_from(retry.saturating_sub(1)).unwrap_or(i32::MAX).min(1023);
    let capped = (base * 2f64.powi(doublings)).min(CAP_MS);
    round(capped * (1.0 + (random * 0.5 - 0.25)))
}

/// Rounds to nearest, ties toward positive infinity, as JavaScript's `Math.round`.
fn round(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases: T168.
    #[test]
    fn waits_double_within_a_quarter_of_jitter() {
        for (retry, middle) in [(1, 10.0), (2, 20.0), (3, 40.0)] {
            assert_eq!(delay_ms(10.0, retry, 0.5), middle);
            for random in [0.0, 0.1, 0.9, 0.999_999] {
                let wait = delay_ms(10.0, retry, random);
                assert!((middle * 0.75..=middle * 1.25 + 0.5).contains(&wait), "{retry} {random}");
            }
        }
    }

    /// Cases: T168.
    #[test]
    fn every_extreme_gives_a_finite_wait_within_the_cap() {
        let bases = [
            0.0,
            -0.0,
            -1.0,
            f64::MIN_POSITIVE,
            5e-324,
            1.0,
            2000.0,
            60_000.0,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let retries = [0, 1, 2, 15, 16, 69, 70, 71, 1023, 1024, 1025, 1 << 31, u32::MAX];
        let samples = [0.0, f64::EPSILON, 0.5, 1.0 - f64::EPSILON, 1.0, -1.0, 2.0, f64::NAN];
        for base in bases {
            for random in samples {
                let mut before = 0.0;
                for retry in retries {
                    let wait = delay_ms(base, retry, random);
                    assert!(wait.is_finite() && wait.fract() == 0.0, "{base} {retry} {random}");
                    assert!((0.0..=CAP_MS * 1.25).contains(&wait), "{base} {retry} {random}");
                    assert!(wait >= before, "waits never shrink: {base} {retry} {random}");
                    before = wait;
                }
            }
        }
        assert_eq!(delay_ms(0.0, u32::MAX, 0.9), 0.0);
        assert_eq!(delay_ms(1.0, u32::MAX, 0.5), CAP_MS);
    }

    #[test]
    fn rounding_is_that_of_javascript() {
        assert_eq!(round(1.5), 2.0);
        assert_eq!(round(2.5), 3.0);
        assert_eq!(round(0.499_999_999_999_999_94), 0.0);
    }
}
