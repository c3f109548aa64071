//! `acknowledgements.json`: what a human answered to the events of a home.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::json::parse;
use crate::schema::acknowledgement::Acknowledgements;

use super::lock::StateLock;
use super::{Paths, files};

/// The answers for somebody who only looks: a file that cannot be used counts as empty.
pub fn read(paths: &Paths) -> Acknowledgements {
    preview(paths).0
}

/// Like [`read`], and says why the file could not be used where it could not.
pub fn preview(paths: &Paths) -> (Acknowledgements, Option<Error>) {
    match load(paths) {
        Ok(answers) => (answers, None),
        Err(fault) => (Acknowledgements::default(), Some(fault)),
    }
}

/// Changes the answers under the state lock: a fresh read, the change, the write.
///
/// # Errors
///
/// [`Error::File`], [`Error::NotJson`], [`Error::Invalid`] for a file that cannot be used, which is
/// then left alone; [`Error::StateLockTimeout`].
pub fn update(
    paths: &Paths,
    now: Instant,
    change: impl FnOnce(&mut Acknowledgements),
) -> Result<()> {
    let _lock = StateLock::acquire(paths, now)?;
    let mut answers = load(paths)?;
    change(&mut answers);
    let text = answers.to_value().to_pretty();
    files::replace(&paths.home, &paths.acknowledgements, text.as_bytes())
}

fn load(paths: &Paths) -> Result<Acknowledgements> {
    let path = &paths.acknowledgements;
    let Some(text) = files::read_text(path)? else {
        return Ok(Acknowledgements::default());
    };
    let value = parse(&text).map_err(|source| Error::NotJson { path: path.clone(), source })?;
    Acknowledgements::parse(&value).map_err(|issues| Error::Invalid { path: path.clone(), issues })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{NOW, now};
    use crate::home::runs::tests::home;
    use crate::schema::acknowledgement::{Acknowledgement, ActionTaken};

    fn answer(action_taken: ActionTaken) -> Acknowledgement {
        Acknowledgement { acknowledged_at: NOW.into(), action_taken }
    }

    /// Cases: T494.
    #[test]
    fn answers_come_back_as_they_were_given() {
        let (_root, paths) = home();
        assert_eq!(read(&paths), Acknowledgements::default());
        for (id, action) in [("e1", ActionTaken::Acknowledge), ("e2", ActionTaken::MarkDone)] {
            update(&paths, now(), |answers| {
                answers.0.insert(id.into(), answer(action));
            })
            .expect("update");
        }
        let answers = read(&paths).0;
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[1], answer(ActionTaken::MarkDone));
    }

    #[test]
    fn an_unusable_file_is_empty_for_readers_and_refused_for_writers() {
        let (_root, paths) = home();
        for bytes in [&b"{"[..], b"\xff", b"{\"e\":{\"action_taken\":\"odd\"}}", b"[]"] {
            files::write_atomic(&paths.acknowledgements, bytes, None).expect("file");
            assert_eq!(read(&paths), Acknowledgements::default());
            let refused = update(&paths, now(), |answers| answers.0.clear());
            assert!(refused.is_err(), "{bytes:?}");
            assert_eq!(std::fs::read(&paths.acknowledgements).expect("file"), bytes);
        }
    }
}
