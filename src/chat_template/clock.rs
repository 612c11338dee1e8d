//! The time that `strftime_now` prints.

use std::fmt;
use web_time::{SystemTime, UNIX_EPOCH};

/// A moment as a clock on the wall shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    pub(super) days: i64,
    pub(super) second: u32,
    pub(super) micros: u32,
}

/// The date, as `2026-01-31`.
impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl Clock {
    /// Midnight of a day of the Gregorian calendar; `None` for a day that the calendar does not have.
    pub fn date(year: i32, month: u32, day: u32) -> Option<Self> {
        if !(1..=9999).contains(&year)
            || !(1..=12).contains(&month)
            || day == 0
            || day > days_in_month(year, month)
        {
            return None;
        }
        Some(Self {
            days: days_from_civil(i64::from(year), month, day),
            second: 0,
            micros: 0,
        })
    }

    /// The day of this clock at another time; `None` for a time that a clock does not show.
    pub fn at(self, hour: u32, minute: u32, second: u32) -> Option<Self> {
        (hour < 24 && minute < 60 && second < 60).then_some(Self {
            second: hour * 3600 + minute * 60 + second,
            ..self
        })
    }

    /// The system's time, in UTC.
    pub fn now() -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(0);
        Self {
            days: seconds.div_euclid(86400),
            second: u32::try_from(seconds.rem_euclid(86400)).unwrap_or(0),
            micros: now.subsec_micros(),
        }
    }

    /// Year, month and day.
    pub(super) fn civil(&self) -> (i64, u32, u32) {
        civil_from_days(self.days)
    }

    /// The moment written as Python's `strftime` writes it in the C locale.
    pub(super) fn strftime(&self, format: &str) -> String {
        let (year, month, day) = self.civil();
        let (hour, minute, second) = (self.second / 3600, self.second / 60 % 60, self.second % 60);
        let weekday = (self.days + 4).rem_euclid(7) as usize;
        let yday = self.days - days_from_civil(year, 1, 1);
        let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
        let half = if hour < 12 { "AM" } else { "PM" };
        let mut out = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let Some(mut code) = chars.next() else {
                out.push('%');
                break;
            };
            let bare = code == '-';
            if bare {
                match chars.next() {
                    Some(next) => code = next,
                    None => {
                        out.push_str("%-");
                        break;
                    }
                }
            }
            let number = |value: i64, width: usize| {
                if bare {
                    value.to_string()
                } else {
                    format!("{value:0width$}")
                }
            };
            let text = match code {
                'a' => WEEKDAYS[weekday][..3].to_owned(),
                'A' => WEEKDAYS[weekday].to_owned(),
                'b' | 'h' => MONTHS[month as usize - 1][..3].to_owned(),
                'B' => MONTHS[month as usize - 1].to_owned(),
                'c' => self.strftime("%a %b %e %H:%M:%S %Y"),
                'C' => number(year / 100, 2),
                'd' => number(i64::from(day), 2),
                'D' | 'x' => self.strftime("%m/%d/%y"),
                'e' if bare => day.to_string(),
                'e' => format!("{day:2}"),
                'f' => format!("{:06}", self.micros),
                'F' => self.strftime("%Y-%m-%d"),
                'G' => self.iso_week().0.to_string(),
                'g' => number(self.iso_week().0 % 100, 2),
                'V' => number(self.iso_week().1, 2),
                'H' => number(i64::from(hour), 2),
                'I' => number(i64::from(hour12), 2),
                'j' => number(yday + 1, 3),
                'k' if bare => hour.to_string(),
                'k' => format!("{hour:2}"),
                'l' if bare => hour12.to_string(),
                'l' => format!("{hour12:2}"),
                'm' => number(i64::from(month), 2),
                'M' => number(i64::from(minute), 2),
                'n' => "\n".to_owned(),
                'p' => half.to_owned(),
                'P' => half.to_lowercase(),
                'r' => self.strftime("%I:%M:%S %p"),
                'R' => self.strftime("%H:%M"),
                's' => (self.days * 86400 + i64::from(self.second)).to_string(),
                'S' => number(i64::from(second), 2),
                't' => "\t".to_owned(),
                'T' | 'X' => self.strftime("%H:%M:%S"),
                'u' => (if weekday == 0 { 7 } else { weekday }).to_string(),
                'U' => number((yday + 7 - weekday as i64) / 7, 2),
                'w' => weekday.to_string(),
                'W' => number((yday + 7 - (weekday as i64 + 6) % 7) / 7, 2),
                'y' => number(year % 100, 2),
                'Y' => year.to_string(),
                // A clock without a time zone prints neither its offset nor its name.
                'z' | 'Z' => String::new(),
                '%' => "%".to_owned(),
                other => format!("%{}{other}", if bare { "-" } else { "" }),
            };
            out.push_str(&text);
        }
        out
    }

    fn iso_week(&self) -> (i64, i64) {
        // The week belongs to the year that its Thursday is in.
        let thursday = self.days - (self.days + 3).rem_euclid(7) + 3;
        let (year, _, _) = civil_from_days(thursday);
        (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
    }
}

/// The days of a week as `%A` prints them, Sunday first.
pub(crate) const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// The months as `%B` prints them.
pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01. Years are counted from March, so that the leap day is a year's last.
fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    } as u32;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
