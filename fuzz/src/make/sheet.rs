//! Random tables from which something can be learned, with odd values among the plain ones, and what to do with them.

use super::odd;
use crate::rng::Rng;
use crate::settings::Settings;

/// The values of a column; `None` is missing.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    Numbers(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
    Truth(Vec<Option<bool>>),
}

/// Named columns of one length.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    pub(crate) columns: Vec<(String, Data)>,
    pub(crate) rows: usize,
}

impl Data {
    /// The cells as a text file holds them.
    pub(crate) fn cells(&self) -> Vec<String> {
        match self {
            Self::Numbers(v) => v.iter().map(|x| x.map_or(String::new(), |x| x.to_string())).collect(),
            Self::Text(v) => v.iter().map(|x| x.clone().unwrap_or_default()).collect(),
            Self::Truth(v) => v.iter().map(|x| x.map_or(String::new(), |x| x.to_string())).collect(),
        }
    }

    /// A number for each row that a target can follow.
    fn signal(&self) -> Vec<f64> {
        match self {
            Self::Numbers(v) => v.iter().map(|x| f64::from(x.is_some_and(|x| x > 2.0))).collect(),
            Self::Text(v) => v.iter().map(|x| x.as_ref().map_or(0.0, |x| (x.len() % 3) as f64)).collect(),
            Self::Truth(v) => v.iter().map(|x| f64::from(x.unwrap_or(false))).collect(),
        }
    }
}

/// A table and settings that go with it.
pub(crate) fn sheet(rng: &mut Rng) -> (Sheet, Settings) {
    let rows = match rng.below(20) {
        0 => rng.below(4),
        1 => rng.between(100, 300),
        _ => rng.between(4, 60),
    };
    let mut settings = Settings::default();
    let mut columns: Vec<(String, Data)> = Vec::new();
    let least = usize::from(!rng.once_in(20));
    for i in 0..rng.between(least, 5) {
        let name = if rng.once_in(6) { odd::name(rng) } else { format!("x{i}") };
        columns.push((name, feature(rng, rows)));
    }
    let mut signal = vec![0.0; rows];
    for (_, data) in columns.iter().take(3) {
        signal.iter_mut().zip(data.signal()).for_each(|(sum, s)| *sum += s);
    }
    let target = target(rng, &signal, &mut settings);
    columns.push(("y".into(), target));
    settings.set("target", "y");
    if rng.once_in(4) {
        columns.push(("w".into(), Data::Numbers((0..rows).map(|_| Some(weight(rng))).collect())));
        settings.set("weight", "w");
    }
    if settings.0.iter().any(|(_, value)| value == "poisson" || value == "gamma") && rng.once_in(2) {
        columns.push(("e".into(), Data::Numbers((0..rows).map(|_| Some(0.1 + rng.unit())).collect())));
        settings.set("exposure", "e");
    }
    if rng.once_in(6) {
        columns.push(("o".into(), Data::Numbers((0..rows).map(|_| Some(2.0 * rng.unit() - 1.0)).collect())));
        settings.set("offset", "o");
    }
    // A role for a column that may not suit it.
    if rng.once_in(8) {
        let role = *rng.pick(&["ignore", "categorical", "weight", "exposure", "offset", "groups", "positive"]);
        let column = rng.pick(&columns).0.clone();
        settings.set(role, column);
    }
    let at = rng.below(columns.len());
    let last = columns.len() - 1;
    columns.swap(at, last);
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    super::params::modest(rng, &names, &mut settings);
    (Sheet { columns, rows }, settings)
}

fn feature(rng: &mut Rng, rows: usize) -> Data {
    let missing = *rng.pick(&[0, 0, 10, 3]);
    let absent = |rng: &mut Rng| missing > 0 && rng.once_in(missing);
    let kind = rng.below(12);
    let pool: Vec<String> = (0..rng.between(1, 5)).map(|_| odd::token(rng)).collect();
    let numbers = |rng: &mut Rng, value: &mut dyn FnMut(&mut Rng) -> f64| {
        Data::Numbers((0..rows).map(|_| (!absent(rng)).then(|| value(rng))).collect())
    };
    match kind {
        0 | 1 => numbers(rng, &mut |rng| rng.below(6) as f64),
        2 | 3 => numbers(rng, &mut |rng| 5.0 * rng.unit()),
        4 => numbers(rng, &mut |rng| odd::number(rng)),
        5 => numbers(rng, &mut |rng| if rng.once_in(8) { odd::number(rng) } else { rng.below(5) as f64 }),
        6 => numbers(rng, &mut |_| 3.0),
        7 => Data::Truth((0..rows).map(|_| (!absent(rng)).then(|| rng.once_in(2))).collect()),
        8 => Data::Text((0..rows).map(|_| (!absent(rng)).then(|| rng.pick(&pool).clone())).collect()),
        9 => Data::Text((0..rows).map(|i| Some(format!("id{i}"))).collect()),
        10 if rng.once_in(3) => Data::Numbers(vec![None; rows]),
        _ => {
            let levels = ["a", "bb", "ccc", "d d"];
            Data::Text((0..rows).map(|_| (!absent(rng)).then(|| (*rng.pick(&levels)).to_owned())).collect())
        }
    }
}

fn target(rng: &mut Rng, signal: &[f64], settings: &mut Settings) -> Data {
    let noise = if rng.once_in(3) { 0.0 } else { 0.5 };
    match rng.below(9) {
        0..=2 => {
            let scale = *rng.pick(&[1.0, 1.0, 1.0, 1e-300, 1e150, 1e300, 1e308, 5e-324]);
            let offset = *rng.pick(&[0.0, 0.0, 1e6, -1e15]);
            Data::Numbers(signal.iter().map(|s| Some(offset + scale * (s + noise * rng.unit()))).collect())
        }
        3 | 4 => {
            let labels: Vec<&str> = rng.word(&["no yes", "0 1", "a b c", "x\"y l\nm"]).split(' ').collect();
            let class = |rng: &mut Rng, s: f64| (s + 2.0 * noise * rng.unit()) as usize % labels.len();
            Data::Text(signal.iter().map(|&s| Some(labels[class(rng, s)].to_owned())).collect())
        }
        5 => Data::Truth(signal.iter().map(|&s| Some(s + noise * rng.unit() > 1.0)).collect()),
        6 => {
            settings.set("task", "poisson");
            let scale = *rng.pick(&[1.0, 1.0, 1e-3, 1e100]);
            Data::Numbers(signal.iter().map(|s| Some(scale * (s + noise * 2.0 * rng.unit()).floor())).collect())
        }
        7 => {
            settings.set("task", "gamma");
            let scale = *rng.pick(&[1.0, 1e-3, 1e100, 1e307, 1e-300]);
            Data::Numbers(signal.iter().map(|s| Some(scale * (0.01 + s.abs() + noise * rng.unit()))).collect())
        }
        _ => {
            settings.set("task", *rng.pick(&["regression", "classification", "poisson", "gamma"]));
            feature(rng, signal.len())
        }
    }
}

fn weight(rng: &mut Rng) -> f64 {
    match rng.below(30) {
        0 => 0.0,
        1 => odd::finite(rng).abs(),
        2 => rng.unit(),
        _ => rng.between(1, 4) as f64,
    }
}

/// One of a few plain tables, for parameters to be tried on.
pub(crate) fn plain(which: usize) -> Sheet {
    let rows = 40;
    let number = |f: &dyn Fn(usize) -> f64| Data::Numbers((0..rows).map(|i| Some(f(i))).collect());
    let a = number(&|i| (i * 7 % 11) as f64);
    let b = number(&|i| (i * 13 % 17) as f64 / 4.0);
    let c = Data::Text((0..rows).map(|i| (i % 9 > 0).then(|| ["r", "g", "b"][i % 3].to_owned())).collect());
    let y = match which % 4 {
        0 => number(&|i| (i * 7 % 11) as f64 / 3.0 + f64::from(i % 3 == 0)),
        1 => Data::Text((0..rows).map(|i| Some(["no", "yes"][usize::from(i * 7 % 11 > 5)].to_owned())).collect()),
        2 => Data::Text((0..rows).map(|i| Some(["u", "v", "w"][(i * 13 % 17) / 6].to_owned())).collect()),
        _ => number(&|i| (i * 7 % 11 / 4) as f64),
    };
    let w = number(&|i| (1 + i % 3) as f64);
    let names = ["a", "b", "c", "w", "y"].map(str::to_owned);
    Sheet { columns: names.into_iter().zip([a, b, c, w, y]).collect(), rows }
}
