//! Where the engine gets the time and randomness from.

use crate::clock::Instant;

/// A wall clock.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The system's.
    System,
    /// One that stands at an instant and moves with tokio's clock, so that tests on a paused
    /// runtime see hours pass in no time.
    Virtual {
        /// What the clock showed when tokio's showed `since`.
        base: Instant,
        /// See `base`.
        since: tokio::time::Instant,
    },
    /// One that stands still. Time limits and waits go by the real time all the same.
    Still(Instant),
}

impl Clock {
    /// A virtual clock that shows `base` now. Must be called on a tokio runtime.
    pub fn starting_at(base: Instant) -> Self {
        Self::Virtual { base, since: tokio::time::Instant::now() }
    }

    /// What the clock shows.
    pub fn now(self) -> Instant {
        match self {
            Self::System => Instant::now(),
            Self::Still(at) => at,
            Self::Virtual { base, since } => {
                let passed = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
                base.plus_ms(passed).unwrap_or(base)
            }
        }
    }
}

/// A random sample in [0, 1) with 53 bits, the shape of JavaScript's `Math.random()`.
#[allow(clippy::cast_precision_loss)]
pub(super) fn random_sample() -> f64 {
    let bits = uuid::Uuid::new_v4().as_u128() & ((1 << 53) - 1);
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_in_the_unit_interval() {
        let samples: Vec<f64> = (0..2000).map(|_| random_sample()).collect();
        assert!(samples.iter().all(|sample| (0.0..1.0).contains(sample)));
        assert!(samples.iter().any(|sample| *sample < 0.1));
        assert!(samples.iter().any(|sample| *sample > 0.9));
    }
}
