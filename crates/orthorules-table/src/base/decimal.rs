//! Numbers as people write them: the shortest decimal of a float, the roundest decimal in a gap.

/// The largest finite number in place of an overflow: reported figures stay numbers.
#[doc(hidden)]
pub fn at_most_finite(x: f64) -> f64 {
    x.clamp(-f64::MAX, f64::MAX)
}

/// The shortest text that parses back to `x`; scientific where plain digits would be long.
pub fn plain(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if !x.is_finite() || (1e-5..1e16).contains(&size) {
        format!("{x}")
    } else {
        format!("{x:e}")
    }
}

/// `x` rounded to `digits` significant digits, as text without trailing zeros.
pub fn rounded(x: f64, digits: usize) -> String {
    let text = format!("{x:.*e}", digits.saturating_sub(1));
    text.parse().map_or(text, plain)
}

/// Numbers from 10⁻⁴ to 10⁹ are digits for people, others scientific.
const EXPONENTS: std::ops::RangeInclusive<i32> = -4..=8;
/// So many digits of a number are never rounded away before its point.
const WHOLE_DIGITS: usize = 4;

/// `x` with `digits` significant digits, zeros at the end included; of 1000 and more four digits, if `digits` are
/// fewer. Scientific where digits alone would not tell how large it is.
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return plain(x);
    }
    let text = scientific(x, digits);
    let exponent: i32 = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default();
    if !EXPONENTS.contains(&exponent) {
        return text;
    }
    match usize::try_from(digits as i32 - 1 - exponent) {
        Ok(decimals) => format!("{x:.decimals$}"),
        Err(_) => scientific(x, digits.max(WHOLE_DIGITS)).parse::<f64>().map_or(text, |x| format!("{x:.0}")),
    }
}

/// `x` as a digit, decimals and a power of ten.
pub fn scientific(x: f64, digits: usize) -> String {
    format!("{x:.*e}", digits.saturating_sub(1))
}

/// A number with this many significant digits as [`significant`] has it, without zeros after the last digit.
pub fn readable(x: f64, digits: usize) -> String {
    let text = significant(x, digits);
    let (number, power) = text.find('e').map_or((text.as_str(), ""), |at| text.split_at(at));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number}{power}")
}

/// A number of a table for people: a whole one as it is, another with four significant digits or all before its point.
pub fn brief(x: f64) -> String {
    match x.abs() {
        _ if x.fract() == 0.0 => plain(x),
        size if (1e4..1e9).contains(&size) => format!("{x:.0}"),
        _ => readable(x, 4),
    }
}

/// The decimal with the fewest digits that is at least `low` and less than `high`; among those the one nearest to the
/// middle of the gap. Used for `x <= t`: `t` keeps the training values `low` in and `high` out. The result is finite
/// where a finite number can do that: not from +∞ on, nor up to −∞.
pub fn shortest_below(low: f64, high: f64) -> f64 {
    let (from, to) = finite(low, high);
    shortest(from, to, |t| from <= t && t < high).unwrap_or(from)
}

/// The decimal with the fewest digits that is more than `low` and at most `high`: the `t` of `x >= t`. Finite as above.
pub fn shortest_above(low: f64, high: f64) -> f64 {
    let (from, to) = finite(low, high);
    shortest(from, to, |t| low < t && t <= to).unwrap_or(to)
}

/// A gap without its infinite ends, which no threshold may be: models are kept as JSON, which has finite numbers only.
fn finite(low: f64, high: f64) -> (f64, f64) {
    (low.max(-f64::MAX), high.min(f64::MAX))
}

/// Tries multiples of 10ᵉ from coarse to fine. The first grid with a point inside the gap gives the fewest digits.
fn shortest(low: f64, high: f64, inside: impl Fn(f64) -> bool) -> Option<f64> {
    if inside(0.0) {
        return Some(0.0);
    }
    if low >= high {
        return None;
    }
    let middle = low / 2.0 + high / 2.0;
    let largest = low.abs().max(high.abs()).log10().floor() as i32;
    for exponent in (largest - 17..=largest).rev() {
        let at = |m: f64| decimal(m, exponent);
        let nearest = (middle / 10f64.powi(exponent)).round();
        let best = [nearest, nearest - 1.0, nearest + 1.0]
            .into_iter()
            .map(at)
            .filter(|&t| inside(t))
            .min_by(|s, t| (s - middle).abs().total_cmp(&(t - middle).abs()));
        if best.is_some() {
            return best;
        }
    }
    None
}

/// Whole numbers below this are floats.
const WHOLE: f64 = (1u64 << 53) as f64;
/// Powers of ten that are floats.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The float nearest to m·10ᵉ, for a whole number m: where both factors are floats one rounding is all there is, else
/// it is parsed from its text.
fn decimal(m: f64, exponent: i32) -> f64 {
    match TENS.get(exponent.unsigned_abs() as usize) {
        Some(ten) if m.abs() < WHOLE => {
            if exponent < 0 {
                m / ten
            } else {
                m * ten
            }
        }
        _ => format!("{m:.0}e{exponent}").parse().unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thresholds_are_round() {
        assert_eq!(shortest_below(3.0, 4.0), 3.0);
        assert_eq!(shortest_above(3.0, 4.0), 4.0);
        assert_eq!(shortest_below(44.3, 44.9), 44.6);
        assert_eq!(shortest_below(29.92, 30.02), 30.0);
        assert_eq!(shortest_below(1234.0, 5678.0), 3000.0);
        assert_eq!(shortest_below(-3.0, 5.0), 0.0);
        assert_eq!(shortest_above(-0.5, -0.25), -0.4);
        assert_eq!(shortest_below(1e300, 1.5e300), 1e300);
        assert_eq!(shortest_below(1.0, f64::INFINITY), 1e308);
        assert_eq!(shortest_above(1.0, f64::INFINITY), 1e308);
        assert_eq!(shortest_above(f64::NEG_INFINITY, -7.5), -1e308);
        assert_eq!(shortest_below(1.7e308, f64::INFINITY), 1.7e308);
        assert_eq!(shortest_above(f64::MAX.next_down(), f64::INFINITY), f64::MAX);
        assert_eq!(shortest_below(f64::NEG_INFINITY, f64::INFINITY), 0.0);
    }

    #[test]
    fn texts_are_short() {
        for (x, text) in [(0.0, "0"), (-0.0, "0"), (1.5, "1.5"), (1e300, "1e300"), (1e-7, "1e-7"), (12.0, "12")] {
            assert_eq!(plain(x), text);
        }
        assert_eq!(rounded(1234.567, 5), "1234.6");
        assert_eq!(rounded(-0.000_123_456, 3), "-0.000123");
    }

    #[test]
    fn people_read_three_or_four_digits() {
        for (x, digits, text) in [
            (0.422_234, 3, "0.422"),
            (-0.825_38, 3, "-0.825"),
            (0.5, 3, "0.500"),
            (9.9996, 4, "10.00"),
            (592.3, 3, "592"),
            (999.6, 3, "1000"),
            (23_211.4, 3, "23210"),
            (123_456_789.0, 4, "123500000"),
            (78_627_064_910_631.0, 4, "7.863e13"),
            (999_999_999.9, 4, "1.000e9"),
            (0.000_123_456, 3, "0.000123"),
            (1.2e-5, 3, "1.20e-5"),
            (0.0, 3, "0"),
            (-0.0, 3, "0"),
            (f64::INFINITY, 3, "inf"),
        ] {
            assert_eq!(significant(x, digits), text);
        }
        let texts = [0.5, 31.887_941_397_726_497, 1e13, 2300.0, 1.2e-5].map(|x| readable(x, 4));
        assert_eq!(texts, ["0.5", "31.89", "1e13", "2300", "1.2e-5"]);
        let texts = [94_107.0, 31.887_941_397_726_497, 123_456.78, 0.1, -7.0].map(brief);
        assert_eq!(texts, ["94107", "31.89", "123457", "0.1", "-7"]);
    }

    fn number() -> impl Strategy<Value = f64> {
        let limits = [f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.0, -0.0];
        prop_oneof![4 => any::<f64>(), 1 => prop::sample::select(limits.to_vec())]
    }

    proptest! {
        #[test]
        fn gap_is_respected(a in number(), b in number()) {
            prop_assume!(a != b);
            let (low, high) = (a.min(b), a.max(b));
            // Nothing finite lies between the largest number and infinity.
            if low < f64::INFINITY && high > f64::MIN {
                let below = shortest_below(low, high);
                prop_assert!(below.is_finite() && low <= below && below < high);
                prop_assert_eq!(plain(below).parse::<f64>().unwrap(), below);
            }
            if low < f64::MAX && high > f64::NEG_INFINITY {
                let above = shortest_above(low, high);
                prop_assert!(above.is_finite() && low < above && above <= high);
                prop_assert_eq!(plain(above).parse::<f64>().unwrap(), above);
            }
        }

        /// What people read is the number, rounded to the digits that it has.
        #[test]
        fn significant_digits_are_right(
            x in prop_oneof![any::<f64>(), -1e10..1e10f64, -1.0..1.0f64],
            digits in 2usize..6,
        ) {
            prop_assume!(x.is_finite() && x != 0.0);
            let text = significant(x, digits);
            let (number, _) = text.split_once('e').unwrap_or((&text, ""));
            let shown = number.chars().filter(char::is_ascii_digit).collect::<String>().trim_start_matches('0').len();
            let kept = if number.contains('.') || text.contains('e') || shown < 4 { shown } else { digits.max(4) };
            prop_assert!(kept == digits || kept == digits.max(4), "{} {}", x, text);
            let unit = 10f64.powi(x.abs().log10().floor() as i32 + 1 - digits as i32);
            let read: f64 = text.parse().unwrap();
            // Beyond the least normal number units have no meaning.
            let error = (read - x).abs();
            prop_assert!(unit < 1e-300 || error <= 0.501 * unit || error <= 1e-15 * x.abs(), "{} {}", x, text);
            prop_assert_eq!(readable(x, digits).parse::<f64>().unwrap(), read);
        }

        /// Multiplied, divided or parsed: the same float.
        #[test]
        fn decimals_are_those_of_their_text(m in any::<i64>(), shift in 0u32..60, exponent in -30i32..30) {
            let m = (m >> shift) as f64;
            prop_assert_eq!(decimal(m, exponent), format!("{m:.0}e{exponent}").parse::<f64>().unwrap());
        }

        #[test]
        fn neighbours_work(a in -1e9..1e9f64) {
            let next = a.next_up();
            prop_assert_eq!(shortest_below(a, next), a);
            prop_assert_eq!(shortest_above(a, next), next);
        }

        /// No decimal with fewer digits lies in the gap.
        #[test]
        fn nothing_is_shorter(a in -1000i32..1000, width in 1i32..500) {
            let (low, high) = (a as f64 / 100.0, (a + width) as f64 / 100.0);
            let digits =
                |x: f64| plain(x).chars().filter(char::is_ascii_digit).collect::<String>().trim_matches('0').len();
            let found = digits(shortest_below(low, high));
            for hundredths in a..a + width {
                prop_assert!(found <= digits(hundredths as f64 / 100.0));
            }
        }
    }
}
