//! Numbers for people: equal precision in a column, signs, shares.

/// Columns whose largest number lies outside are scientific: digits alone would not tell how large their numbers are.
const DIGITS: std::ops::Range<f64> = 1e-9..1e15;
/// What is this much smaller than the largest number of a column does not decide how many decimals the column has.
const NEGLIGIBLE: f64 = 1e-6;

/// `values` with equally many decimals, so that their points align when flush right: `digits` significant digits for
/// the largest, two for the smallest where six decimals suffice. What is smaller than the last decimal is 0.
pub(crate) fn aligned(values: &[f64], digits: usize) -> Vec<String> {
    let sizes = || values.iter().map(|x| x.abs()).filter(|x| x.is_finite() && *x > 0.0);
    let largest = sizes().fold(0.0, f64::max);
    let smallest = sizes().filter(|x| *x >= largest * NEGLIGIBLE).fold(f64::INFINITY, f64::min);
    let exponent = |x: f64| x.log10().floor() as i32;
    let scientific = largest > 0.0 && !DIGITS.contains(&largest);
    let decimals = if largest > 0.0 && !scientific {
        let wanted = digits as i32 - 1 - exponent(largest);
        // A float has fifteen digits that mean something.
        let most = wanted.max(6).min(14 - exponent(largest)).max(0);
        wanted.max(1 - exponent(smallest)).clamp(0, most) as usize
    } else {
        0
    };
    let show = |&x: &f64| match x {
        x if x.is_nan() => "–".to_owned(),
        x if x.is_infinite() => if x > 0.0 { "inf" } else { "-inf" }.to_owned(),
        x if scientific && x != 0.0 => format!("{x:.*e}", digits - 1),
        x => unsigned_zero(format!("{x:.decimals$}")),
    };
    values.iter().map(show).collect()
}

/// Rounded to nothing, a number has no sign.
fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
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
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    match percent {
        p if part > 0 && p < 0.5 => "<1%".into(),
        p if p < 100.0 && p > 99.5 => ">99%".into(),
        p => format!("{p:.0}%"),
    }
}

/// A part of 1 in whole per cent.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.0}%", 100.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_align_at_the_point() {
        assert_eq!(signed(&[0.741, -1.42, -0.409], 3), ["+0.74", "-1.42", "-0.41"]);
        assert_eq!(aligned(&[23211.4, 592.3, -81.0], 3), ["23211", "592", "-81"]);
        assert_eq!(aligned(&[0.693, 0.000_12, 0.0], 4), ["0.69300", "0.00012", "0.00000"]);
        assert_eq!(aligned(&[0.693, -4.4e-16], 4), ["0.6930", "0.0000"]);
        assert_eq!(aligned(&[17_184_562_311.4, 131_089.0, 7.0], 4), ["17184562311", "131089", "7"]);
        assert_eq!(aligned(&[3.21e-7, 1e-8], 4), ["0.0000003210", "0.0000000100"]);
        assert_eq!(aligned(&[1e300, -2.5e299], 3), ["1.00e300", "-2.50e299"]);
        assert_eq!(aligned(&[f64::NAN, 1.5, f64::INFINITY], 2), ["–", "1.5", "inf"]);
        assert_eq!(aligned(&[0.0, 0.0], 4), ["0", "0"]);
        assert_eq!(signed(&[0.0], 3), ["+0"]);
    }

    #[test]
    fn shares_do_not_overstate() {
        let texts = [(0, 10), (1, 1000), (19, 100), (999, 1000), (7, 7)].map(|(part, whole)| share(part, whole));
        assert_eq!(texts, ["0%", "<1%", "19%", ">99%", "100%"]);
    }
}
