//! Moments in time as the clocks of a time zone showed them.

use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::TimeUnit;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

/// The world's time zones, as part of the program. So results do not depend on what a machine has installed.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Ticks of `unit` since 1970 in UTC as ticks of the clocks in `zone`. Moments beyond the year 9999 stay as they are.
pub(super) fn clock(ticks: &ArrayRef, unit: TimeUnit, zone: &str) -> Result<ArrayRef, String> {
    let per_second = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    let zone = by_name(zone).ok_or_else(|| format!("time zone {zone:?} is not known"))?;
    let shifted = |tick: i64| {
        let moment = Timestamp::from_second(tick.div_euclid(per_second)).ok();
        let offset = moment.map_or(0, |moment| i64::from(zone.to_offset(moment).seconds()));
        tick.saturating_add(offset * per_second)
    };
    let clocks: Int64Array = ticks.as_primitive::<Int64Type>().unary(shifted);
    Ok(Arc::new(clocks))
}

/// The zone that Arrow calls `name`: `Europe/Berlin`, or a fixed distance from UTC such as `+02:00`.
fn by_name(name: &str) -> Option<TimeZone> {
    let Some(sign) = name.chars().next().filter(|sign| "+-".contains(*sign)) else {
        return if name == "Z" { Some(TimeZone::UTC) } else { ZONES.get(name).ok() };
    };
    let digits: String = name[1..].chars().filter(|&c| c != ':').collect();
    let number = |part: Option<&str>| part.filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?.parse::<i32>().ok();
    let hours = number(digits.get(..2))?;
    let minutes = if digits.len() == 2 { 0 } else { number(digits.get(2..).filter(|rest| rest.len() == 2))? };
    let seconds = 60 * (60 * hours + minutes);
    let offset = Offset::from_seconds(if sign == '-' { -seconds } else { seconds }).ok()?;
    (minutes < 60).then(|| TimeZone::fixed(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(seconds: i64, unit: TimeUnit, per_second: i64, zone: &str) -> Result<i64, String> {
        let ticks: ArrayRef = Arc::new(Int64Array::from(vec![Some(seconds * per_second), None]));
        let clocks = clock(&ticks, unit, zone)?;
        assert!(clocks.is_null(1));
        Ok(clocks.as_primitive::<Int64Type>().value(0) - seconds * per_second)
    }

    #[test]
    fn clocks_show_the_time_of_their_zone() {
        let hour = 3600;
        // 2024-01-01 and 2024-07-01, noon in UTC; 2060-07-01, beyond the last listed change; 1890-01-01.
        let [winter, summer, far, old] = [1_704_110_400, 1_719_835_200, 2_855_995_200, -2_524_478_400];
        for (zone, moment, offset) in [
            ("UTC", summer, 0),
            ("Z", summer, 0),
            ("Europe/Berlin", winter, hour),
            ("Europe/Berlin", summer, 2 * hour),
            ("Europe/Berlin", far, 2 * hour),
            ("Europe/Berlin", old, 3208),
            ("America/New_York", winter, -5 * hour),
            ("Asia/Kolkata", winter, 5 * hour + 1800),
            ("US/Pacific", summer, -7 * hour),
            ("+02:00", winter, 2 * hour),
            ("-0330", winter, -3 * hour - 1800),
            ("+05", winter, 5 * hour),
        ] {
            assert_eq!(shown(moment, TimeUnit::Second, 1, zone), Ok(offset), "{zone} {moment}");
            assert_eq!(
                shown(moment, TimeUnit::Microsecond, 1_000_000, zone),
                Ok(offset * 1_000_000),
                "{zone} {moment}"
            );
        }
        for zone in ["Mars/Olympus", "", "+2", "+2:00", "+02:60", "+99:00", "+0é", "+", "-€"] {
            assert!(
                clock(&(Arc::new(Int64Array::from(vec![0])) as ArrayRef), TimeUnit::Second, zone).is_err(),
                "{zone}"
            );
        }
    }

    #[test]
    fn moments_out_of_reach_stay() {
        let ticks: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX, i64::MIN]));
        let clocks = clock(&ticks, TimeUnit::Second, "Europe/Berlin").unwrap();
        assert_eq!(clocks.as_primitive::<Int64Type>(), ticks.as_primitive::<Int64Type>());
        let clocks = clock(&ticks, TimeUnit::Nanosecond, "Europe/Berlin").unwrap();
        assert_eq!(clocks.as_primitive::<Int64Type>().value(0), i64::MAX);
    }
}
