//! Fits with rules that must be, and with columns and conditions that must not, on random tables.

use crate::base::random::SplitMix64;
use crate::data::problem::{Problem, Roles};
use crate::data::table::{Column, Table, Values};
use crate::model::Model;
use crate::model::observer::Silent;
use crate::model::rule::Rule;
use crate::params::{Cv, Params, PathKind, Polish, Search, Sets, Terms};

const STATES: [&str; 5] = ["AZ", "CA", "NY", "TX", "WA"];

/// A table of two columns of numbers, a flag, and levels; and what is learned from it.
fn problem(random: &mut SplitMix64, task: &str) -> Problem {
    let rows = 30 + random.below(30);
    let a: Vec<f64> = (0..rows).map(|_| random.below(30) as f64).collect();
    let b: Vec<f64> = (0..rows)
        .map(|_| if random.below(9) == 0 { f64::NAN } else { (random.uniform() * 50.0).round() / 4.0 })
        .collect();
    let flag: Vec<f64> = (0..rows).map(|_| random.below(2) as f64).collect();
    let state: Vec<usize> = (0..rows).map(|_| random.below(5)).collect();
    let y = (0..rows).map(|r| {
        let step = |holds: bool, size: f64| if holds { size } else { 0.0 };
        let signal = step(a[r] > 14.0, 2.0) + step(b[r] > 5.0 && state[r] < 2, 3.0) + step(flag[r] > 0.0, 1.0);
        let noisy = signal + random.normal();
        match task {
            "regression" => noisy,
            "poisson" => noisy.max(0.0).round(),
            "classes" => (noisy.clamp(0.0, 5.9) / 2.0).floor(),
            _ => f64::from(u8::from(noisy > 2.0)),
        }
    });
    let y = Values::numbers(y.collect::<Vec<f64>>());
    let table = Table::new(vec![
        Column::new("a", Values::numbers(a)),
        Column::new("b", Values::numbers(b)),
        Column::new("flag", Values::numbers(flag)),
        Column::new("state", Values::text(state.iter().map(|&s| Some(STATES[s])))),
        Column::new("y", y),
    ]);
    let task = if task == "classes" { "classification" } else { task };
    let roles = Roles { target: "y".into(), task: Some(task.parse().unwrap()), ..Roles::default() };
    Problem::new(table.unwrap(), &roles).unwrap()
}

/// Parameters of any kind of search.
fn params(random: &mut SplitMix64, task: &str) -> Params {
    let search = [Search::Greedy, Search::Beam, Search::Exact][random.below(3)];
    let terms = if random.below(4) == 0 && task != "classes" { Terms::Hinge } else { Terms::Rules };
    let path = (search != Search::Exact).then(|| [PathKind::Best, PathKind::Nested][random.below(2)]);
    let polished = random.below(2) == 0 && path == Some(PathKind::Best) && terms == Terms::Rules;
    Params {
        search,
        terms: if search == Search::Exact { Terms::Rules } else { terms },
        sets: (random.below(3) == 0 && search != Search::Exact).then_some(Sets::On),
        path,
        polish: polished.then_some(Polish::Full),
        max_complexity: Some(4 + random.below(7)),
        max_conditions: Some(1 + random.below(3)),
        node_limit: Some(60),
        threads: Some(1),
        cv: (random.below(8) == 0).then_some(Cv::Folds(3)),
        ..Params::default()
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// The rules of each size of each list.
fn sizes(model: &Model) -> Vec<(usize, Vec<Rule>)> {
    let of_list = |list: &crate::model::RuleList| {
        let of_size = |size| list.members(size).cloned().collect::<Vec<Rule>>();
        list.sizes.iter().map(|size| (size.complexity, of_size(size))).collect::<Vec<_>>()
    };
    model.lists.iter().flat_map(of_list).collect()
}

#[test]
fn what_is_required_is_in_every_size_with_room_and_what_is_forbidden_in_none() {
    let mut random = SplitMix64::new(5);
    let rules = ["a >= 11.25", "b <= 7.3 & state = NY", "state in {CA, TX}", "3 <= a <= 9", "flag = 1", "b missing"];
    let mut free = 0;
    for case in 0..200 {
        let task = ["regression", "classification", "poisson", "classes"][random.below(4)];
        let (problem, mut params) = (problem(&mut random, task), params(&mut random, task));
        let mut chosen = vec![rules[random.below(6)]];
        let other = rules[random.below(6)];
        if other != chosen[0] && random.below(2) == 0 {
            chosen.push(other);
        }
        params.max_complexity = params.max_complexity.map(|most| most.max(4));
        params.require = texts(&chosen);
        match random.below(4) {
            0 => params.forbid = texts(&["flag"]),
            1 => params.forbid = texts(&["a & b", "a & flag"]),
            2 => params.interactions = texts(&["b,state", "a"]),
            _ => {}
        }
        let pins: Vec<Rule> = chosen.iter().map(|text| Rule::parse(text, &problem.specs()).unwrap()).collect();
        let model = match crate::fit(&problem, &params, &Silent) {
            Ok(fitted) => fitted.model,
            Err(error) => {
                assert!(chosen.contains(&"flag = 1") && params.forbid == ["flag"], "case {case}: {error}");
                continue;
            }
        };
        let told = format!("case {case}, {task}: {params:?}");
        let most = params.max_complexity.unwrap_or(0);
        for (complexity, rules) in sizes(&model) {
            // The pins that have room, in their order.
            let mut room = complexity;
            for pin in &pins {
                let fits = pin.complexity() <= room && pin.complexity() <= most;
                room -= if fits { pin.complexity() } else { 0 };
                let is_there = rules.iter().any(|rule| rule.says_same(pin));
                // Of two pins the second may have room only where the first has left some.
                assert!(!fits || is_there || room == 0 && complexity < most, "{told}: {complexity} {rules:?}");
            }
            for rule in rules.iter().filter(|rule| !pins.iter().any(|pin| pin.says_same(rule))) {
                free += 1;
                let uses = |name: &str| rule.columns().any(|own| own == name);
                assert!(!(uses("flag") && params.forbid == ["flag"]), "{told}: {rule}");
                let pairs = params.forbid.len() == 2 && uses("a") && (uses("b") || uses("flag"));
                assert!(!pairs, "{told}: {rule}");
                let groups = !params.interactions.is_empty();
                let apart = uses("a") && (uses("b") || uses("state") || uses("flag"))
                    || uses("flag") && (uses("b") || uses("state"));
                assert!(!(groups && apart), "{told}: {rule}");
            }
        }
    }
    assert!(free > 200, "{free}");
}

/// A condition that is forbidden is in no rule, alone or beside others.
#[test]
fn forbidden_conditions_are_in_no_rule() {
    let mut random = SplitMix64::new(6);
    for search in [Search::Greedy, Search::Beam, Search::Exact] {
        let problem = problem(&mut random, "regression");
        let plain = Params { search, max_complexity: Some(9), node_limit: Some(2000), ..Params::default() };
        let model = crate::fit(&problem, &plain, &Silent).unwrap().model;
        let first = model.lists[0].rules[0].to_string();
        let params = Params { forbid: vec![first.clone()], ..plain };
        let other = crate::fit(&problem, &params, &Silent).unwrap().model;
        let first = Rule::parse(&first, &problem.specs()).unwrap();
        for rule in other.all_rules() {
            let has = |condition| rule.conditions.iter().any(|own| own == condition);
            assert!(!first.conditions.iter().all(has), "{rule}");
        }
    }
}

#[test]
fn wishes_that_contradict_each_other_are_refused() {
    let mut random = SplitMix64::new(7);
    let problem = problem(&mut random, "regression");
    let base = Params { threads: Some(1), ..Params::default() };
    let refusal = |params: Params| crate::fit(&problem, &params, &Silent).unwrap_err().to_string();
    let require = |texts: &[&str]| Params { require: self::texts(texts), ..base.clone() };
    for (params, told) in [
        (require(&["a >= x"]), "require: rule \"a >= x\", character 6"),
        (require(&["a >= 3", "a >= 3"]), "require names the rule \"a >= 3\" twice"),
        (Params { forbid: texts(&["a"]), ..require(&["a >= 3"]) }, "\"a >= 3\" cannot be: column \"a\" is forbidden"),
        (
            Params { interactions: texts(&["a", "b"]), ..require(&["a >= 3 & b >= 1"]) },
            "interactions keep \"a\" and \"b\" apart",
        ),
        (Params { interactions: texts(&["a,c"]), ..base.clone() }, "interactions \"c\": no such column"),
        (Params { forbid: texts(&["nope"]), ..base.clone() }, "forbidden \"nope\": no such column"),
        (
            Params { max_complexity: Some(2), ..require(&["a >= 3 & b >= 1"]) },
            "no size has room for its complexity of 3",
        ),
        (
            Params {
                monotone: [("a".to_owned(), crate::params::Monotone::Rising)].into(),
                ..require(&["3 <= a <= 9"])
            },
            "no weight of it keeps the promise of monotone columns",
        ),
        (require(&["a >= 900"]), "a >= 900"),
    ] {
        let message = refusal(params);
        assert!(message.contains(told), "{message}");
    }
}
