//! Numbers for people: three or four digits each, points below each other, signs, shares.

use orthorules::decimal;

/// What is this much smaller than the largest number of a column is what rounding left of nothing.
const NEGLIGIBLE: f64 = 1e-9;
/// Columns whose largest number is at least this are scientific.
const LARGE: f64 = 9.995e8;
/// Columns of whole numbers from 2 on, all below this, are shown digit by digit.
const COUNTS: std::ops::Range<f64> = 2.0..1e7;

/// `values` with `digits` significant digits each, four of 1000 and more. Blanks follow shorter ones, so that the
/// points align when flush right. Columns of whole numbers stay what they are.
pub fn aligned(values: &[f64], digits: usize) -> Vec<String> {
    let finite = || values.iter().filter(|x| x.is_finite());
    let largest = finite().fold(0.0f64, |most, x| most.max(x.abs()));
    let whole = COUNTS.contains(&largest) && finite().all(|x| x.fract() == 0.0);
    let show = |&x: &f64| match x {
        x if x.is_nan() => "–".to_owned(),
        x if x.is_infinite() => if x > 0.0 { "inf" } else { "-inf" }.to_owned(),
        x if x == 0.0 || x.abs() < NEGLIGIBLE * largest => "0".to_owned(),
        x if whole => format!("{x:.0}"),
        x if largest >= LARGE => decimal::scientific(x, digits),
        x => decimal::significant(x, digits),
    };
    let mut texts: Vec<String> = values.iter().map(show).collect();
    let after_point = |text: &String| text.len() - text.find(['.', 'e']).unwrap_or(text.len());
    let longest = texts.iter().map(after_point).max().unwrap_or(0);
    for text in &mut texts {
        let missing = longest - after_point(text);
        text.extend(std::iter::repeat_n(' ', missing));
    }
    texts
}

/// One number as a column of its own shows it.
pub(crate) fn alone(value: f64, digits: usize) -> String {
    aligned(&[value], digits).concat()
}

/// As [`aligned`], with a plus sign where there is no minus.
pub(crate) fn signed(values: &[f64], digits: usize) -> Vec<String> {
    let mut texts = aligned(values, digits);
    texts.iter_mut().filter(|t| !t.starts_with('-') && !t.starts_with('–')).for_each(|t| t.insert(0, '+'));
    texts
}

/// `part` of `whole` in per cent, without pretending that a few are none or nearly all are all.
pub(crate) fn share(part: u64, whole: usize) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

/// A part of 1 in whole per cent, in the same way.
pub(crate) fn percent(part: f64) -> String {
    match 100.0 * part {
        p if p > 0.0 && p <= 0.5 => "<1%".into(),
        p if (99.5..100.0).contains(&p) => ">99%".into(),
        p => format!("{p:.0}%"),
    }
}

/// A probability in per cent with three digits; only what is certain is 0 or 100.
pub(crate) fn probability(p: f64) -> String {
    match p {
        p if p > 0.0 && p < 0.0005 => "<0.1%".into(),
        p if p < 1.0 && p > 0.9995 => ">99.9%".into(),
        p => format!("{}%", decimal::readable(100.0 * p, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_align_at_the_point() {
        assert_eq!(signed(&[0.741, -1.42, -0.409], 3), ["+0.741", "-1.42 ", "-0.409"]);
        assert_eq!(aligned(&[-0.825_38, -0.303], 3), ["-0.825", "-0.303"]);
        assert_eq!(aligned(&[23211.4, 592.3, -81.5], 3), ["23210  ", "592  ", "-81.5"]);
        assert_eq!(aligned(&[0.693, 0.000_12, 0.0], 4), ["0.6930   ", "0.0001200", "0        "]);
        assert_eq!(aligned(&[0.693, 1.2e-5], 4), ["0.6930  ", "1.200e-5"]);
        assert_eq!(aligned(&[0.693, -4.4e-16], 4), ["0.6930", "0     "]);
        assert_eq!(aligned(&[17_184_562_311.4, 131_089.0], 4), ["1.718e10", "1.311e5 "]);
        assert_eq!(aligned(&[78_627_064_910_631.0], 4), ["7.863e13"]);
        assert_eq!(aligned(&[1e300, -2.5e299], 3), ["1.00e300", "-2.50e299"]);
        assert_eq!(aligned(&[f64::NAN, 1.5, f64::INFINITY], 2), ["–  ", "1.5", "inf  "]);
        assert_eq!(aligned(&[0.0, 0.0], 4), ["0", "0"]);
        assert_eq!(signed(&[0.0], 3), ["+0"]);
        assert_eq!(signed(&[12.0, -3.0, 12345.0], 3), ["+12", "-3", "+12345"]);
    }

    #[test]
    fn shares_do_not_overstate() {
        let cases = [(0, 10), (1, 1000), (1, 200), (2, 200), (19, 100), (199, 200), (999, 1000), (7, 7)];
        let texts = cases.map(|(part, whole)| share(part, whole));
        assert_eq!(texts, ["0%", "<1%", "<1%", "1%", "19%", ">99%", ">99%", "100%"]);
        assert_eq!([1e-9, 1.0 - 1e-9].map(percent), ["<1%", ">99%"]);
        let texts = [0.0, 1e-20, 0.0007, 0.1234, 0.9993, 0.99999, 1.0].map(probability);
        assert_eq!(texts, ["0%", "<0.1%", "0.07%", "12.3%", "99.9%", ">99.9%", "100%"]);
    }

    fn number() -> impl Strategy<Value = f64> {
        let any_size = (-1.0..1.0f64, -12i32..16).prop_map(|(x, power)| x * 10f64.powi(power));
        prop_oneof![3 => any_size, 1 => Just(0.0), 1 => -1e4..1e4f64]
    }

    proptest! {
        /// Every number of a column has its digits and is right; points stand below each other, and nothing is minus
        /// nothing.
        #[test]
        fn columns_are_precise_and_aligned(values in prop::collection::vec(number(), 1..12), digits in 3usize..5) {
            let largest = values.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let texts = aligned(&values, digits);
            let point = |text: &str| text.len() - text.find(['.', 'e', ' ']).unwrap_or(text.len());
            for (x, padded) in values.iter().zip(&texts) {
                prop_assert_eq!(point(padded), point(&texts[0]), "{:?}", &texts);
                let text = padded.trim_end();
                prop_assert!(!text.starts_with("-0.0000") && text != "-0", "{}", text);
                if x.abs() < 1e-9 * largest || *x == 0.0 {
                    prop_assert_eq!(text, "0");
                    continue;
                }
                let number = text.split('e').next().unwrap();
                let shown = number.chars().filter(char::is_ascii_digit).collect::<String>();
                let shown = shown.trim_start_matches('0');
                let is_exact = number.contains('.') || text.contains('e');
                let trimmed = if is_exact { shown } else { shown.trim_end_matches('0') };
                prop_assert!(trimmed.len() <= 4, "{}", text);
                prop_assert!(shown.len() >= 3, "{}", text);
                let read: f64 = text.parse().unwrap();
                prop_assert!((read / x - 1.0).abs() <= 0.5001 * 10f64.powi(1 - digits as i32), "{} {}", x, text);
            }
        }
    }
}
