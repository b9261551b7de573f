//! Values that programs stumble over.

use crate::rng::Rng;

/// Numbers at the ends of every range.
const NUMBERS: [f64; 26] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1e308,
    -1e308,
    1e-308,
    1e154,
    1e-154,
    9_007_199_254_740_993.0,
    -9_007_199_254_740_992.0,
    9_223_372_036_854_775_808.0,
    18_446_744_073_709_551_616.0,
    4_294_967_296.0,
    2_147_483_648.0,
    0.300_000_000_000_000_04,
    1e16,
    123_456_789.125,
];

/// Cells of text files that are nearly numbers, nearly missing or nearly truth values, and marks that mean something.
const TOKENS: [&str; 46] = [
    "",
    " ",
    "NA",
    "N/A",
    "NaN",
    "nan",
    "null",
    "NULL",
    "None",
    "?",
    "-",
    "inf",
    "-inf",
    "Infinity",
    "1e999",
    "-1e999",
    "1e-999",
    "0x1F",
    "1_000",
    "1,5",
    "1.5.2",
    "+7",
    "--7",
    ".5",
    "5.",
    "-0",
    "00012",
    "1e5",
    "1E+05",
    "9007199254740993",
    "18446744073709551616",
    "170141183460469231731687303715884105728",
    "true",
    "FALSE",
    "True",
    "yes",
    "\"",
    "\"\"",
    "\"a\"b",
    "\"open",
    "a\tb",
    "\u{feff}",
    "é",
    "日本",
    "\u{200b}",
    "2024-01-31",
];

pub(crate) fn number(rng: &mut Rng) -> f64 {
    match rng.below(4) {
        0 => f64::from_bits(rng.next()),
        1 => rng.pick(&NUMBERS) * (1.0 + rng.unit()),
        _ => *rng.pick(&NUMBERS),
    }
}

pub(crate) fn finite(rng: &mut Rng) -> f64 {
    Some(number(rng)).filter(|x| x.is_finite()).unwrap_or(0.5)
}

pub(crate) fn token(rng: &mut Rng) -> String {
    match rng.below(12) {
        0 => number(rng).to_string(),
        1 => format!("{:e}", number(rng)),
        2 => digits(rng),
        3 if rng.once_in(20) => long(rng),
        _ => (*rng.pick(&TOKENS)).to_owned(),
    }
}

/// A name for a column or a level: mostly plain, sometimes with marks that have a meaning somewhere.
pub(crate) fn name(rng: &mut Rng) -> String {
    const NAMES: [&str; 20] = [
        "x",
        "age",
        "a b",
        "a=b",
        "a,b",
        "a;b",
        "x >= 1",
        " x ",
        "\"q\"",
        "l\nm",
        "é",
        "日本語",
        "\u{1b}[31m",
        "\u{202e}x",
        "--x",
        "__index_level_0__",
        "target",
        "0",
        "NaN",
        "😀",
    ];
    if rng.once_in(400) { long(rng) } else { (*rng.pick(&NAMES)).to_owned() }
}

/// More characters than a field of a format may have.
pub(crate) fn long(rng: &mut Rng) -> String {
    let length = *rng.pick(&[255, 256, 4096, 65_534, 65_535, 65_536, 70_000]);
    rng.pick(&["a", "é", "9", " x"]).repeat(length)
}

fn digits(rng: &mut Rng) -> String {
    (0..rng.between(1, 400)).map(|_| char::from(b'0' + rng.below(10) as u8)).collect()
}

/// Whole numbers at the ends of every width, as text.
pub(crate) fn whole(rng: &mut Rng) -> String {
    const EXTREMES: [&str; 22] = [
        "0",
        "1",
        "2",
        "3",
        "7",
        "255",
        "256",
        "65535",
        "65536",
        "2147483647",
        "2147483648",
        "4294967295",
        "4294967296",
        "1000000000000",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-1",
        "1.5",
        "",
        "x",
    ];
    (*rng.pick(&EXTREMES)).to_owned()
}
