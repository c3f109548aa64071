//! Redaction of text that comes in pieces and is shown at once: a secret may lie across any of them.

use crate::json::JsString;

use super::{Needle, marked, needles, occurrences};

/// Takes secrets out of a text as it comes, piece by piece.
///
/// All that it gives, put together, is what [`redact_text`](super::redact_text) makes of the whole
/// text. It keeps back no more than what may be the beginning of a secret.
pub struct Redactor {
    needles: Vec<Needle>,
    /// Text whose secrets are not certain yet.
    held: Vec<u16>,
    /// How much of `held` was given away by [`Redactor::release`].
    shown: usize,
}

/// As much of the beginning of a text as no text to come can change, secrets included.
pub(super) fn certain(text: &JsString, secrets: &[JsString]) -> JsString {
    let mut redactor = Redactor::new(secrets);
    redactor.held.extend(text.units());
    let (settled, _) = redactor.settled();
    redactor.held.truncate(settled);
    JsString::from_utf16(&redactor.held)
}

impl Redactor {
    /// Nothing has come yet.
    pub fn new(secrets: &[JsString]) -> Self {
        Self { needles: needles(secrets), held: Vec::new(), shown: 0 }
    }

    /// Whether there is nothing to take out.
    pub fn is_idle(&self) -> bool {
        self.needles.is_empty()
    }

    /// Takes the next piece and gives what is certain now.
    pub fn push(&mut self, text: &JsString) -> JsString {
        self.held.extend(text.units());
        let (settled, cuts) = self.settled();
        let given = marked(&self.held, &cuts, self.shown.min(settled), settled);
        self.held.drain(..settled);
        self.shown = self.shown.saturating_sub(settled);
        given
    }

    /// What is kept back, as it is shown where nothing follows.
    pub fn rest(&self) -> JsString {
        let cuts = occurrences(&self.held, &self.needles);
        marked(&self.held, &cuts, self.shown, self.held.len())
    }

    /// Gives what is kept back. Should the next piece complete a secret that begins in there, its mark
    /// stands for the part that was not shown.
    pub fn release(&mut self) -> JsString {
        let rest = self.rest();
        self.shown = self.held.len();
        rest
    }

    /// Up to where no text to come can change what is cut, and the cuts up to there.
    ///
    /// A needle that is matched in part at the end may be complete soon: what follows from its start is
    /// open, for it and for every shorter one, since those are looked for in what it leaves.
    fn settled(&self) -> (usize, Vec<(usize, usize)>) {
        let mut settled = self.held.len();
        let (mut pieces, mut cuts) = (vec![(0, settled)], Vec::new());
        for needle in &self.needles {
            let matched = needle.cut(&self.held, &mut pieces, &mut cuts);
            if let Some((_, end)) = pieces.last_mut().filter(|(_, end)| *end == settled) {
                settled -= matched;
                *end = settled;
            }
        }
        cuts.sort_unstable();
        let is_cut = cuts.last().is_some_and(|(_, end)| *end == settled);
        // The other half of a pair is on its way; apart, neither could be shown.
        let halved = self.held.get(..settled).and_then(<[u16]>::last);
        let halved = halved.is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        (if halved && !is_cut { settled - 1 } else { settled }, cuts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::redact::redact_text;

    fn strings(secrets: &[&str]) -> Vec<JsString> {
        secrets.iter().map(|secret| (*secret).into()).collect()
    }

    fn pushed(redactor: &mut Redactor, text: &str) -> String {
        redactor.push(&text.into()).to_text()
    }

    #[test]
    fn only_what_may_begin_a_secret_is_kept_back() {
        let mut redactor = Redactor::new(&strings(&["hunter2"]));
        assert_eq!(pushed(&mut redactor, "password hun"), "password ");
        assert_eq!(redactor.rest().to_text(), "hun");
        assert_eq!(pushed(&mut redactor, "ter"), "");
        assert_eq!(pushed(&mut redactor, "2!"), "[redacted]!");
        assert_eq!(pushed(&mut redactor, "hunt"), "");
        assert_eq!(pushed(&mut redactor, "ing"), "hunting");
        assert_eq!(pushed(&mut redactor, "h"), "");
        assert_eq!(redactor.release().to_text(), "h");
        assert_eq!(redactor.release().to_text(), "", "given once");
    }

    #[test]
    fn what_was_released_is_not_shown_again_and_completes_no_secret() {
        let mut redactor = Redactor::new(&strings(&["abcdef", "cd"]));
        assert_eq!(pushed(&mut redactor, "abcd"), "");
        assert_eq!(redactor.release().to_text(), "ab[redacted]");
        assert_eq!(pushed(&mut redactor, "ef."), "[redacted].");
        assert_eq!(pushed(&mut redactor, "abcd"), "");
        assert_eq!(redactor.release().to_text(), "ab[redacted]");
        assert_eq!(pushed(&mut redactor, "x"), "x");
        assert_eq!(pushed(&mut redactor, "abc"), "");
        redactor.release();
        assert_eq!(pushed(&mut redactor, "d"), "");
        assert_eq!(redactor.release().to_text(), "[redacted]");
    }

    #[test]
    fn without_secrets_everything_passes_at_once() {
        let mut redactor = Redactor::new(&strings(&["", ""]));
        assert!(redactor.is_idle());
        assert_eq!(pushed(&mut redactor, "abc"), "abc");
    }

    #[test]
    fn halves_of_a_pair_that_came_apart_are_given_together() {
        let mut redactor = Redactor::new(&[]);
        let half = |unit: u16| JsString::from_utf16(&[0x61, unit]);
        assert_eq!(redactor.push(&half(0xd83d)).to_text(), "a");
        let whole = redactor.push(&JsString::from_utf16(&[0xde00]));
        assert_eq!(whole.to_text(), "😀");
    }

    /// Numbers that are the same in every run.
    fn random(state: &mut u64, below: usize) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(*state >> 33).expect("31 bits") % below
    }

    #[test]
    fn pieces_come_to_what_the_whole_text_comes_to() {
        let mut state = 7;
        for _ in 0..20_000 {
            let mut word = |longest: usize| -> String {
                let length = 1 + random(&mut state, longest);
                (0..length).map(|_| ["a", "b", "c"][random(&mut state, 3)]).collect()
            };
            let secrets: Vec<JsString> = [word(6), word(4), word(3)].map(JsString::from).into();
            let text = word(24);
            let mut redactor = Redactor::new(&secrets);
            let (mut given, mut at) = (String::new(), 0);
            while at < text.len() {
                let end = (at + 1 + random(&mut state, 4)).min(text.len());
                given += &pushed(&mut redactor, &text[at..end]);
                at = end;
                let longest: usize = secrets.iter().map(|secret| secret.to_utf16().len()).sum();
                assert!(redactor.held.len() <= longest, "{secrets:?} {text}");
            }
            given += &redactor.release().to_text();
            let whole = redact_text(&text.as_str().into(), &secrets).to_text();
            assert_eq!(given, whole, "{secrets:?} {text}");
        }
    }
}
