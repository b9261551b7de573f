//! What holds for every declaration.

use super::*;
use crate::base::threads::MOST_THREADS;
use crate::data::loss::Loss;

/// A range with one number changed to `x`, where the parameter takes numbers.
fn with(parameter: &Parameter, x: f64) -> Params {
    let mut params = Params::default();
    params.set(parameter.name, &x.to_string()).unwrap();
    params
}

/// Every parameter can be set by its name, and says what it must be.
#[test]
fn every_parameter_is_known_by_its_name() {
    for parameter in Parameter::ALL {
        let unknown = Params::default().set(parameter.name, "no such value").unwrap_err().to_string();
        assert!(unknown.starts_with(&format!("{} must be ", parameter.name)), "{unknown}");
    }
    assert!(Params::default().set("nonsense", "1").is_err());
    assert_eq!(Params::default().get("nonsense"), None);
}

/// A preset's values arrive through the names alone.
#[test]
fn what_is_read_is_what_is_written() {
    for name in Preset::NAMES {
        let preset = name.parse::<Preset>().unwrap().params();
        let mut copy = Params::default();
        for parameter in Parameter::ALL {
            if let Some(text) = preset.get(parameter.name) {
                copy.set(parameter.name, &text).unwrap();
            }
        }
        assert_eq!(copy, preset, "{name}");
    }
}

/// Words stand where the value is left open, and nowhere else.
#[test]
fn open_defaults_are_put_into_words() {
    for parameter in Parameter::ALL {
        assert_eq!(parameter.open.is_some(), Params::default().get(parameter.name).is_none(), "{}", parameter.name);
    }
}

/// Every number has a range, whose words tell its ends; beyond them it is refused with these words.
#[test]
fn numbers_outside_their_range_are_refused() {
    for parameter in Parameter::ALL {
        let takes_numbers = !matches!(
            parameter.kind,
            ParameterKind::Choice(_)
                | ParameterKind::NumbersByColumn
                | ParameterKind::NumberByColumn
                | ParameterKind::DirectionByColumn
                | ParameterKind::Texts
        );
        assert_eq!(parameter.range.is_some(), takes_numbers, "{}", parameter.name);
        let Some(range) = parameter.range else { continue };
        let told: Vec<f64> = range.words.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
        let ends: Vec<f64> = [range.least, range.most].into_iter().filter(|end| end.is_finite()).collect();
        assert_eq!(told, ends, "{}", range.words);

        let refused = |x: f64| with(parameter, x).check_ranges().map_err(|error| error.to_string());
        assert_eq!(refused(range.least).is_err(), range.is_open, "{}", parameter.name);
        if range.most.is_finite() {
            assert_eq!(refused(range.most), Ok(()), "{}", parameter.name);
            let beyond = if range.most < 1e99 { range.most + 1.0 } else { 2.0 * range.most };
            let message = refused(beyond).unwrap_err();
            assert_eq!(message, format!("{} must be {}, got {beyond}", parameter.name, range.words));
        }
        if range.least > 0.0 {
            assert!(refused(range.least - 1.0).is_err(), "{}", parameter.name);
        }
    }
}

/// The engine has names for some ends of ranges.
#[test]
fn ranges_end_where_the_engine_says() {
    let range = |name: &str| Parameter::ALL.iter().find(|p| p.name == name).and_then(|p| p.range).unwrap();
    assert_eq!(range("bootstrap").least, FEWEST_DRAWS as f64);
    assert_eq!(range("threads").most, MOST_THREADS as f64);
}

/// Purposes are sentences that name parameters by their names.
#[test]
fn purposes_are_sentences_about_parameters() {
    let known = |name: &str| name == "preset" || Parameter::ALL.iter().any(|parameter| parameter.name == name);
    for parameter in Parameter::ALL {
        let text = parameter.purpose();
        assert!(text.ends_with('.') && text.starts_with(|c: char| c.is_uppercase() || c == 'λ'), "{text}");
        for words in [text, parameter.default()] {
            assert!(words.split('`').skip(1).step_by(2).all(known), "{words}");
        }
    }
}

#[test]
fn the_defaults_pass() {
    for loss in [Loss::Squared, Loss::Logistic, Loss::Poisson, Loss::Gamma] {
        Params::default().check(loss, 1000).unwrap();
    }
}

#[test]
fn names_round_trip() {
    for name in Objective::NAMES {
        assert_eq!(&name.parse::<Objective>().unwrap().to_string(), name);
    }
    for name in Preset::NAMES {
        assert_eq!(&name.parse::<Preset>().unwrap().to_string(), name);
    }
    for name in Select::NAMES {
        let select = name.parse::<Select>().unwrap();
        assert_eq!(&select.to_string(), name);
        // Files spell it as flags do.
        assert_eq!(serde_json::to_string(&select).unwrap(), format!("{name:?}"));
    }
}
