//! JSON held against a slow and obvious model of it: texts read and written, and objects changed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use warpline_core::json::{JsString, Map, Value, parse};

mod model;

use model::Model::{Number, Object};
use model::{quoted, read, set, written};

/// Reads and writes a text both ways, and compares.
fn check(text: &str) {
    let (model, value) = (read(text), parse(text).ok());
    assert_eq!(value.is_some(), model.is_some(), "taken: {text:?}");
    let (Some(model), Some(value)) = (model, value) else { return };
    assert_eq!(value.to_compact(), written(&model, 0, 0), "{text:?}");
    assert_eq!(value.to_pretty(), written(&model, 2, 0), "{text:?}");
}

/// What a string may hold: plain, special in JSON, of each length in UTF-8, halves of pairs, faulty.
const PIECES: [&str; 36] = [
    "x",
    "~",
    "\u{7f}",
    "/",
    "é",
    "\u{80}",
    "日",
    "\u{2028}",
    "\u{feff}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{ffff}",
    "😀",
    "\u{10ffff}",
    "\\\"",
    "\\\\",
    "\\/",
    "\\b",
    "\\f",
    "\\n",
    "\\r",
    "\\t",
    "\\u0000",
    "\\u001F",
    "\\u00e9",
    "\\ud83d",
    "\\uDE00",
    "\\ud83d\\ude00",
    "\\u2028",
    "\\x",
    "\\u12g4",
    "\\u+041",
    "\0",
    "\u{1f}",
    "\n",
    "\\",
];

const NAMES: [&str; 20] = [
    "a",
    "b",
    "__proto__",
    "constructor",
    "0",
    "1",
    "2",
    "10",
    "01",
    "-0",
    "1.5",
    "4294967294",
    "4294967295",
    "99999999999",
    "",
    "\\u0031",
    "\\u0061",
    "\\ud83d",
    "\\ud83d\\ude00",
    "😀",
];

const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "-0.0e5",
    "1",
    "25.0",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "1.7976931348623157e308",
    "1e21",
    "999999999999999900000",
    "1e-7",
    "0.000001",
    "123456789012345678901",
    "9007199254740993",
    "1E+2",
    "01",
    "1.",
    ".5",
    "1e",
    "+1",
];

fn strings() -> impl Strategy<Value = String> {
    let often_plain =
        prop_oneof![6 => Just("x"), 1 => select(&PIECES[..29]), 2 => select(&PIECES[..14])];
    let rarely_faulty = prop_oneof![200 => often_plain, 1 => select(PIECES.to_vec())];
    vec(rarely_faulty, 0..24).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn texts() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        4 => select(&NUMBERS[..17]),
        1 => select(NUMBERS.to_vec()),
    ];
    let scalar = prop_oneof![
        strings(),
        number.prop_map(str::to_owned),
        any::<f64>().prop_map(|number| format!("{number:e}")),
        "-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,22})?([eE][-+]?[0-9]{1,3})?",
        select(vec!["true", "false", "null", "[]", "{ }"]).prop_map(str::to_owned),
    ];
    let name = prop_oneof![
        3 => select(NAMES.to_vec()).prop_map(|name| format!("\"{name}\"")),
        3 => (0..40_u32).prop_map(|number| format!("\"n{number}\"")),
        1 => strings(),
    ];
    let space = select(vec!["", "", "", "", " ", "\t\r\n"]);
    let value = scalar.prop_recursive(4, 60, 20, move |inner| {
        let member = (name.clone(), space.clone(), inner.clone())
            .prop_map(|(name, space, value)| format!("{space}{name}:{space}{value}{space}"));
        let members = prop_oneof![vec(member.clone(), 0..6), vec(member, 14..40)];
        prop_oneof![
            vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            members.prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    });
    prop_oneof![9 => Just(""), 1 => Just(" \n")].prop_flat_map(move |space| {
        value.clone().prop_map(move |value| format!("{space}{value}{space}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_is_read_and_written_as_the_model_has_it(text in texts()) {
        check(&text);
    }

    #[test]
    fn a_damaged_text_is_refused_or_read_as_the_model_has_it(
        text in texts(),
        at in any::<Index>(),
        other in select(vec!["", "\"", "\\", ",", ":", "{", "}", "[", "]", "0", "-", "e", "\\u", "\0", "\u{feff}", "\u{a0}", "é"]),
        keeps in any::<bool>(),
    ) {
        let (before, after) = text.split_at(text.floor_char_boundary(at.index(text.len() + 1)));
        check(before);
        let mut rest = after.chars();
        if !keeps {
            rest.next();
        }
        check(&format!("{before}{other}{}", rest.as_str()));
    }

    #[test]
    fn an_object_stays_like_the_model_whatever_is_done_to_it(
        start in vec(0..45_usize, 0..30),
        steps in vec((0..45_usize, 0..9_u8), 0..120),
    ) {
        // Names around the bound between few and many, every third one an index.
        let name = |number: usize| match number % 3 {
            0 => (number * 7 % 45).to_string(),
            1 => format!("n{number}"),
            _ => format!("\u{e9}\u{1f600}{number}"),
        };
        let units = |number: usize| name(number).encode_utf16().collect::<Vec<_>>();
        let mut model = Vec::new();
        for (at, number) in start.iter().enumerate() {
            set(&mut model, units(*number), Number(at as f64));
        }
        let mut map: Map = start.iter().enumerate().map(|(at, number)| (name(*number), at as f64)).collect();
        let mut earlier: Vec<(Map, String)> = Vec::new();
        for (at, (number, step)) in steps.iter().enumerate() {
            let key = JsString::from(name(*number));
            let there = model.iter().position(|(name, _)| *name == units(*number));
            let expected = there.map(|at| match model[at].1 {
                Number(number) => Value::from(number),
                _ => Value::Null,
            });
            prop_assert_eq!(map.get_js(&key), expected.as_ref());
            prop_assert_eq!(map.get(&name(*number)), expected.as_ref());
            prop_assert_eq!(map.contains(&key), expected.is_some());
            match step {
                0..3 => {
                    map.insert(key, at as f64);
                    set(&mut model, units(*number), Number(at as f64));
                }
                3..7 => {
                    prop_assert_eq!(map.remove(&key), expected);
                    there.map(|at| model.remove(at));
                }
                7 => earlier.push((map.clone(), Value::from(map.clone()).to_compact())),
                _ => if let Some(value) = map.get_mut(&key) {
                    *value = 0.5.into();
                    set(&mut model, units(*number), Number(0.5));
                },
            }
            prop_assert_eq!(map.len(), model.len());
            prop_assert_eq!(Value::from(map.clone()).to_compact(), written(&Object(model.clone()), 0, 0));
        }
        let mut turned = Map::new();
        for (key, value) in map.iter().rev() {
            turned.insert(key.clone(), value.clone());
        }
        prop_assert_eq!(&turned, &map);
        prop_assert_eq!(&map, &map.clone().into_iter().collect::<Map>());
        if let Some(value) = turned.values_mut().last() {
            *value = Value::Null;
            prop_assert_ne!(&turned, &map);
        }
        for (map, text) in earlier {
            prop_assert_eq!(Value::from(map).to_compact(), text, "what was cloned stays");
        }
    }

    #[test]
    fn strings_compare_join_and_cut_by_their_units(
        left in vec(select(vec![0x61, 0x7f, 0xe9, 0xd7ff, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xe000, 0xffff]), 0..8),
        right in vec(select(vec![0x61, 0x7f, 0xe9, 0xd7ff, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xe000, 0xffff]), 0..8),
        count in 0..9_usize,
    ) {
        let (a, b) = (JsString::from_utf16(&left), JsString::from_utf16(&right));
        prop_assert_eq!(a.to_utf16(), left.clone());
        prop_assert_eq!(a.cmp(&b), left.cmp(&right));
        prop_assert_eq!(a == b, left == right);
        prop_assert_eq!(a.slice_to(count).to_utf16(), &left[..count.min(left.len())]);
        let both = [left, right].concat();
        prop_assert_eq!(a.concat(&b), JsString::from_utf16(&both));
        let text = quoted(&both);
        prop_assert_eq!(Value::from(a.concat(&b)).to_compact(), text.clone());
        prop_assert_eq!(parse(&text).expect("JSON"), Value::from(JsString::from_utf16(&both)));
    }
}

#[test]
fn every_piece_is_told_wherever_it_stands_and_wherever_the_text_ends() {
    for piece in PIECES {
        for before in 0..=40 {
            for after in [0, 1, 7, 9] {
                let text = format!("[\"{}{piece}{}\"]", "~".repeat(before), "é".repeat(after));
                check(&text);
                let cuts = (before + 2..text.len()).filter(|end| text.is_char_boundary(*end));
                if after < 2 {
                    cuts.for_each(|end| check(&text[..end]));
                }
            }
        }
    }
}

#[test]
fn many_members_are_read_and_changed_one_by_one() {
    let count = 20_000;
    for name in ["", "n"] {
        let members: Vec<String> =
            (0..count).rev().map(|at| format!("\"{name}{at}\":{at}")).collect();
        let twice = [members.clone(), members].concat();
        let value = parse(&format!("{{{}}}", twice.join(","))).expect("JSON");
        let mut map = value.as_object().expect("an object").clone();
        assert_eq!(map.len(), count);
        let first = map.keys().next().expect("one").to_text();
        assert_eq!(first, if name.is_empty() { "0".to_owned() } else { format!("n{}", count - 1) });
        for at in (0..count).step_by(100) {
            assert_eq!(map.remove(&format!("{name}{at}").into()), Some(Value::from(at as f64)));
        }
        assert_eq!(map.len(), count - count / 100);
        assert_eq!(
            map.get(&format!("{name}{}", count - 1)),
            Some(&Value::from((count - 1) as f64))
        );
        assert_eq!(
            value.as_object().map(Map::len),
            Some(count),
            "a clone that is changed is another"
        );
    }
}
