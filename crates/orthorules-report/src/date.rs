//! Today, as the page says it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today's date in UTC, or that of `SOURCE_DATE_EPOCH`, by which builds are made reproducible.
pub(crate) fn today() -> String {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.trim().parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(given.unwrap_or_else(now) / 86_400)
}

/// The date this many days after 1 January 1970: Hinnant's algorithm, in which years begin in March.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year_of_era + u64::from(month >= 10), (month + 2) % 12 + 1);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        let dates = [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (19_782, "2024-02-29")];
        for (days, text) in dates {
            assert_eq!(date(days), text);
        }
        assert_eq!(date(11_017), "2000-03-01");
        assert_eq!(date(20_774), "2026-11-17");
    }
}
