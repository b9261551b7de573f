//! Dates and times as text: which forms are read, and the parts of them that rules can use.

use crate::base::wire::{wire, wire_enum};
use serde::{Deserialize, Serialize};

/// Whether numbers like 3/4/2024 have the day or the month first. All other forms leave no choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateForm {
    /// 31/12/2024.
    DayFirst,
    /// 12/31/2024.
    MonthFirst,
}
wire_enum!(DateForm { 0 => DayFirst, 1 => MonthFirst });

/// A part of a date or time, which is a column by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatePart {
    /// The year.
    Year,
    /// The month, 1 to 12.
    Month,
    /// The day of the week: [`WEEKDAYS`], which are in order.
    Weekday,
    /// The hour, 0 to 23.
    Hour,
}
wire_enum!(DatePart { 0 => Year, 1 => Month, 2 => Weekday, 3 => Hour });

/// A column that is a part of another, which holds dates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DateSource {
    /// The column of dates.
    pub column: String,
    /// Which part.
    pub part: DatePart,
    /// How the dates are read.
    pub form: DateForm,
}
wire!(DateSource { column, part, form });

/// The days of the week, in order.
pub const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A date, with the hour where there is a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    year: i32,
    month: u32,
    day: u32,
    hour: Option<u32>,
}

/// What the text of a column was found to be.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatesFound {
    /// Whether days or months come first.
    pub form: DateForm,
    /// Whether some have a time.
    pub timed: bool,
    /// Whether days and months could as well be the other way round.
    pub ambiguous: bool,
}

impl DatePart {
    /// All parts, in the order of their columns.
    pub(crate) const ALL: [Self; 4] = [Self::Year, Self::Month, Self::Weekday, Self::Hour];

    /// Its name, as in `order_date.month`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Weekday => "weekday",
            Self::Hour => "hour",
        }
    }

    /// The name of the column of this part of another.
    pub(crate) fn column(self, of: &str) -> String {
        format!("{of}.{}", self.name())
    }

    /// Its number; of a weekday the place in [`WEEKDAYS`]. No date has an hour by itself.
    pub(crate) fn of(self, moment: Moment) -> Option<u32> {
        match self {
            Self::Year => u32::try_from(moment.year).ok(),
            Self::Month => Some(moment.month),
            Self::Weekday => Some(moment.weekday()),
            Self::Hour => moment.hour,
        }
    }
}

impl DateSource {
    /// Its number for each of the `names` of levels.
    pub(crate) fn numbers(&self, names: &[String]) -> Vec<Option<u32>> {
        names.iter().map(|text| self.form.read(text).and_then(|moment| self.part.of(moment))).collect()
    }
}

impl Moment {
    /// Monday is 0.
    fn weekday(self) -> u32 {
        // Days since 1970-01-01, a Thursday, by years that begin in March.
        let year = i64::from(self.year) - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = i64::from((153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1);
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        (days + 3).rem_euclid(7) as u32
    }
}

impl DateForm {
    /// The date that `text` spells, alone or with a time.
    pub(crate) fn read(self, text: &str) -> Option<Moment> {
        let text = text.trim();
        if text.len() > 48 || !text.is_ascii() {
            return None;
        }
        let (date, hour) = match text.find(':') {
            None => (text, None),
            Some(colon) => {
                let start = text[..colon].trim_end_matches(|c: char| c.is_ascii_digit()).len();
                let (date, time) = text.split_at_checked(start)?;
                let date = date.strip_suffix(['T', 't', ' '])?.trim_end_matches([' ', ',']);
                (date, Some(hour(time)?))
            }
        };
        let (year, month, day) = self.date(date)?;
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(Moment { year, month, day, hour })
    }

    /// Year, month and day.
    fn date(self, text: &str) -> Option<(i32, u32, u32)> {
        if !is_well_separated(text) {
            return None;
        }
        let mut words = text.split(['-', '/', '.', ' ', ',']).filter(|word| !word.is_empty());
        let words = [words.next()?, words.next()?, words.next().filter(|_| words.next().is_none())?];
        let year = |word: &str| (word.len() == 4).then(|| number(word)).flatten().map(|year| year as i32);
        let short = |word: &str| (word.len() <= 2).then(|| number(word)).flatten();
        if let Some(year) = year(words[0]) {
            return Some((year, short(words[1]).or_else(|| month(words[1]))?, short(words[2])?));
        }
        let year = year(words[2])?;
        if let Some(month) = month(words[1]) {
            return Some((year, month, short(words[0])?));
        }
        if let Some(month) = month(words[0]) {
            return Some((year, month, short(words[1])?));
        }
        let (first, second) = (short(words[0])?, short(words[1])?);
        Some(match self {
            Self::DayFirst => (year, second, first),
            Self::MonthFirst => (year, first, second),
        })
    }

    /// How to read the distinct texts of a column, if all are dates.
    pub(crate) fn of(texts: &[impl AsRef<str>]) -> Option<DatesFound> {
        texts.first()?;
        let texts = || texts.iter().map(AsRef::as_ref);
        let fits = |form: Self| texts().all(|text| form.read(text).is_some());
        let (day, month) = (fits(Self::DayFirst), fits(Self::MonthFirst));
        // Slashes are American where nothing speaks against it; points and dashes are not.
        let slashed = || texts().any(|text| text.contains('/'));
        let form = match (day, month) {
            (false, false) => return None,
            (true, true) if slashed() => Self::MonthFirst,
            (true, _) => Self::DayFirst,
            (false, true) => Self::MonthFirst,
        };
        let differ = |text: &str| Self::DayFirst.read(text) != Self::MonthFirst.read(text);
        Some(DatesFound {
            form,
            timed: texts().any(|text| form.read(text).is_some_and(|moment| moment.hour.is_some())),
            ambiguous: day && month && texts().any(differ),
        })
    }
}

/// Whether text begins and ends with a word, and between two words there is one mark or blanks: after a point or a
/// comma blanks may follow. Marks are alike, but points and commas may go with the names of months.
fn is_well_separated(text: &str) -> bool {
    let is_mark = |b: u8| b"-/.,".contains(&b);
    let separated = |pair: &[u8]| {
        !(is_mark(pair[1]) && (is_mark(pair[0]) || pair[0] == b' ')) && !(b"-/".contains(&pair[0]) && pair[1] == b' ')
    };
    let bytes = text.trim_matches(' ').as_bytes();
    let is_end = |b: Option<&u8>| b.is_some_and(|&b| !is_mark(b));
    let mut marks = bytes.iter().filter(|&&b| is_mark(b));
    let alike = match marks.next() {
        Some(first) => marks.all(|mark| mark == first),
        None => true,
    };
    let in_words = bytes.iter().any(u8::is_ascii_alphabetic) && !bytes.iter().any(|b| b"-/".contains(b));
    is_end(bytes.first()) && is_end(bytes.last()) && bytes.windows(2).all(separated) && (alike || in_words)
}

/// Whether all texts are times of a day without a date.
pub(crate) fn are_times(texts: &[impl AsRef<str>]) -> bool {
    !texts.is_empty() && texts.iter().all(|text| hour(text.as_ref().trim()).is_some())
}

/// The whole number that digits spell.
fn number(digits: &str) -> Option<u32> {
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

/// The month of that English name, whole or its first three letters.
fn month(word: &str) -> Option<u32> {
    let word = word.to_ascii_lowercase();
    let word = if word == "sept" { "sep" } else { word.as_str() };
    let named = |name: &&str| word == *name || word.len() == 3 && name.starts_with(word);
    MONTHS.iter().position(named).map(|place| place as u32 + 1)
}

/// The hour of a time: `9:05`, `09:05:59.25`, with AM or PM, with a zone, which does not count.
fn hour(time: &str) -> Option<u32> {
    let (hour, rest) = time.split_once(':')?;
    let hour = (hour.len() <= 2).then(|| number(hour)).flatten()?;
    let (minutes, mut rest) = two_digits(rest)?;
    let mut seconds = 0;
    if let Some(after) = rest.strip_prefix(':') {
        (seconds, rest) = two_digits(after)?;
        if let Some(after) = rest.strip_prefix(['.', ',']) {
            rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == after.len() {
                return None;
            }
        }
    }
    // There are leap seconds.
    if minutes > 59 || seconds > 60 {
        return None;
    }
    let rest = rest.trim_start_matches(' ').to_ascii_lowercase();
    let half = |words: [&str; 2]| words.into_iter().find_map(|word| rest.strip_prefix(word));
    let (hour, zone) = match (half(["a.m.", "am"]), half(["p.m.", "pm"]), hour) {
        (Some(zone), None, 1..=12) => (hour % 12, zone),
        (None, Some(zone), 1..=12) => (hour % 12 + 12, zone),
        (None, None, 0..=23) => (hour, rest.as_str()),
        _ => return None,
    };
    is_zone(zone.trim_start_matches(' ')).then_some(hour)
}

/// The number of two digits at the beginning, which no other digit follows, and what does.
fn two_digits(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    if rest.starts_with(|c: char| c.is_ascii_digit()) { None } else { Some((number(digits)?, rest)) }
}

/// Whether text in small letters is nothing, or a distance from UTC: `z`, `utc`, `+02`, `-0330`, `gmt+05:30`,
/// `+02:00 utc`.
fn is_zone(text: &str) -> bool {
    let named = |text: &str| ["", "z", "utc", "gmt"].contains(&text);
    let rest = ["utc", "gmt"].into_iter().find_map(|name| text.strip_prefix(name)).unwrap_or(text);
    let Some(distance) = rest.strip_prefix(['+', '-']) else { return named(text) };
    let digits = distance.bytes().take_while(u8::is_ascii_digit).count();
    let (hours, rest) = distance.split_at(digits);
    let (minutes, rest) = match (digits, rest.strip_prefix(':')) {
        (1 | 2, Some(after)) => match two_digits(after) {
            Some(found) => found,
            None => return false,
        },
        (1 | 2, None) => (0, rest),
        (4, None) => (number(&hours[2..]).unwrap_or(60), rest),
        _ => return false,
    };
    // Before there were zones, distances had seconds.
    let (seconds, rest) = match rest.strip_prefix(':').map(two_digits) {
        Some(Some(found)) if digits < 4 => found,
        Some(_) => return false,
        None => (0, rest),
    };
    number(&hours[..digits.min(2)]).is_some_and(|hours| hours < 24)
        && minutes.max(seconds) < 60
        && named(rest.trim_start_matches(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(form: DateForm, text: &str) -> Option<[Option<u32>; 4]> {
        form.read(text).map(|moment| DatePart::ALL.map(|part| part.of(moment)))
    }

    /// The parts of the 29th of February 2024 with this hour.
    const fn leap(hour: Option<u32>) -> [Option<u32>; 4] {
        [Some(2024), Some(2), Some(3), hour]
    }

    #[test]
    fn common_forms_are_read() {
        use DateForm::{DayFirst, MonthFirst};
        for text in
            ["2024-02-29", "2024/2/29", "29-Feb-2024", "Feb 29, 2024", "29 February 2024", "2024.02.29", " 29.2.2024 "]
        {
            assert_eq!(parts(DayFirst, text), Some(leap(None)), "{text}");
        }
        assert_eq!(parts(MonthFirst, "02/29/2024"), Some(leap(None)));
        // Every month by its name, its first letters, and September by four of them.
        for (place, name) in MONTHS.iter().enumerate() {
            for word in [*name, &name[..3]] {
                assert_eq!(parts(DayFirst, &format!("1 {word} 2024")).unwrap()[1], Some(place as u32 + 1), "{word}");
            }
        }
        assert_eq!(parts(DayFirst, "29 Sept 2024").unwrap()[1], Some(9));
        for word in ["m", "ma", "mayo", "septe", "junee"] {
            assert_eq!(DayFirst.read(&format!("1 {word} 2024")), None, "{word}");
        }
    }

    #[test]
    fn times_of_dates_are_read() {
        use DateForm::DayFirst;
        for text in [
            "2024-02-29T23:59",
            "2024-02-29 23:59:10.5+02:00",
            "2024-02-29 23:59:10,250 UTC",
            "2024-02-29 23:59:10.123456789 -0330",
            "2024-02-29 23:59 GMT+5",
            "2024-02-29 23:59:60z",
            "2024-02-29 23:59:10 +00:00 UTC",
            "2024-02-29 23:59:10+00:53:28",
            "29.02.2024 11:05 PM",
            "29. 2. 2024 11:05 p.m.",
            "29/2/2024 11:05pm +02",
            "29. Feb 2024 23:59",
            "Feb. 29, 2024 23:59",
            "Feb 29, 2024, 11:05:59 pm",
        ] {
            assert_eq!(parts(DayFirst, text), Some(leap(Some(23))), "{text}");
        }
        assert_eq!(parts(DayFirst, "2024-02-29T00:00:00Z"), Some(leap(Some(0))));
        assert_eq!(parts(DayFirst, "29.2.2024 12:00 AM"), Some(leap(Some(0))));
    }

    #[test]
    fn other_forms_are_not_read() {
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "20240101",
            "2024-01-01x",
            "2024-01-01 noon",
            "2024-01-01 24:00",
            "",
            "€€€€",
            "1.2.3",
            "10:30",
            "192.168.10.2024",
            "555-1234-2024",
            "Foo 29, 2024",
            "2024-01-01 10:3",
            "2024-01-01 10:30:99",
            "2024-01-01 10:30:",
            "2024-01-01 10:305",
            "-2024-03-05",
            "2024--03-05",
            "2024-03-05-",
            "-0044-03-01",
            "2024 -03-05",
            "Feb 29,, 2024",
            "2024-1",
            "2024- 03-05",
            "2024/ 03/05",
            "2024/03-05",
            "05.03/2024",
            "2024-Mar/05",
            "2024-Mar.05",
            "2024-01-01 10:30:15:20",
            "2024-01-01 10:30:15..5",
            "2024-01-01 10:30:15.",
            "2024-01-01 10:30:15-",
            "2024-01-01 10:30 :15",
            "2024-01-01 10:30+",
            "2024-01-01 10:30+99:99",
            "2024-01-01 10:30+02:60",
            "2024-01-01 10:30+02:00:60",
            "2024-01-01 10:30+02:00:00:00",
            "2024-01-01 10:30+0200:00",
            "2024-01-01 10:30+02:0",
            "2024-01-01 10:30+020",
            "2024-01-01 10:30 ZZ",
            "2024-01-01 10:30 AM PM",
            "2024-01-01 10:30 TTT",
            "2024-01-01 10:30,5",
            "2024-01-01 10:30:61",
        ] {
            assert_eq!(DateForm::DayFirst.read(text), None, "{text}");
        }
    }

    #[test]
    fn times_without_a_date_are_told_from_ratios() {
        assert!(are_times(&["10:30", "9:05:59", " 11:00 PM"]) && !are_times(&["10:30", "noon"]));
        assert!(!are_times(&["16:9"]) && !are_times(&["10:30:99"]) && !are_times(&[""; 0]));
        assert!(!are_times(&["10:30-1130h"]) && !are_times(&["10:30:00:12"]));
    }

    proptest! {
        /// No text is too odd to be looked at, and what is a date has a month and a weekday.
        #[test]
        fn any_text_is_a_date_or_none(
            words in prop::collection::vec(prop::sample::select(vec![
                "2024", "29", "2", "0", "99999", "Sept", "may", "MA", "Feb", "T", " ", "-", "/", ".", ",", ":", "5",
                "07", "PM", "am", "Z", "+", "é", "\u{0}", "",
            ]), 0..12),
        ) {
            let text = words.concat();
            for form in [DateForm::DayFirst, DateForm::MonthFirst] {
                if let Some(moment) = form.read(&text) {
                    prop_assert!(matches!(DatePart::Month.of(moment), Some(1..=12)));
                    prop_assert!(matches!(DatePart::Weekday.of(moment), Some(0..=6)));
                    prop_assert!(DatePart::Hour.of(moment).is_none_or(|hour| hour < 24));
                }
            }
        }
    }

    #[test]
    fn weekdays_are_those_of_the_calendar() {
        for (text, day) in [
            ("1970-01-01", "Thu"),
            ("2000-02-29", "Tue"),
            ("2024-12-31", "Tue"),
            ("1900-01-01", "Mon"),
            ("1600-03-01", "Wed"),
        ] {
            let moment = DateForm::DayFirst.read(text).unwrap();
            assert_eq!(WEEKDAYS[moment.weekday() as usize], day, "{text}");
        }
        // One day after the other, through leap years and centuries.
        let mut expected = DateForm::DayFirst.read("1896-01-01").unwrap().weekday();
        for year in 1896..=2104 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(moment) = DateForm::DayFirst.read(&format!("{year}-{month:02}-{day:02}")) {
                        assert_eq!(moment.weekday(), expected, "{year}-{month}-{day}");
                        expected = (expected + 1) % 7;
                    }
                }
            }
        }
    }

    #[test]
    fn a_column_decides_whether_days_come_first() {
        let found = |texts: &[&str]| DateForm::of(texts);
        let is = |texts: &[&str], form, ambiguous| {
            let found = found(texts).unwrap();
            assert_eq!((found.form, found.ambiguous), (form, ambiguous), "{texts:?}");
        };
        is(&["3/4/2024", "13/4/2024"], DateForm::DayFirst, false);
        is(&["3/4/2024", "4/13/2024"], DateForm::MonthFirst, false);
        is(&["3/4/2024"], DateForm::MonthFirst, true);
        is(&["3.4.2024"], DateForm::DayFirst, true);
        is(&["3/3/2024"], DateForm::MonthFirst, false);
        is(&["2024-03-04"], DateForm::DayFirst, false);
        assert_eq!(found(&["13/4/2024", "4/13/2024"]), None);
        assert_eq!(found(&["2024-03-04", "unknown"]), None);
        assert_eq!(found(&[]), None);
        assert!(found(&["2024-03-04", "2024-03-04 10:00"]).unwrap().timed);
    }
}
