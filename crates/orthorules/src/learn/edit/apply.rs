//! What an edit does to the lists of a model: which rules there are, and which sizes have them. Weights follow later.

use crate::base::error::{Error, Result};
use crate::model::edit::{Action, Edit, Limits, find};
use crate::model::rule::Rule;
use crate::model::{Model, RuleList, Size};

/// Makes `edit` happen to the lists of `model`. `limits` are those of all edits so far, this one among them. New
/// members of a size have the weight that the edit names, or 0.
pub(super) fn apply(model: &mut Model, edit: &Edit, limits: &Limits) -> Result<()> {
    let class = edit.class.as_deref();
    let rule = edit.rule.as_deref().unwrap_or_default();
    match edit.action {
        Action::Drop => {
            for (l, k) in find(model, rule, class)?.places {
                drop_rule(&mut model.lists[l], k);
            }
        }
        Action::Pin | Action::Add => {
            let new = allowed(Rule::parse(rule, &model.columns)?, limits)?;
            for l in meant(model, class)? {
                let list = &mut model.lists[l];
                let least = if edit.action == Action::Pin { 0 } else { list.chosen().complexity };
                let is_there = |size: &Size| list.members(size).any(|own| own.says_same(&new));
                if edit.action == Action::Add && is_there(list.chosen()) {
                    return Err(Error::Edit(format!("add: the chosen size has the rule \"{new}\" already")));
                }
                join(list, &new, edit.value.unwrap_or(0.0), |size| size.complexity >= least);
            }
        }
        Action::Change | Action::Swap => {
            let found = find(model, rule, class)?;
            let to = allowed(Rule::parse(edit.to.as_deref().unwrap_or_default(), &model.columns)?, limits)?;
            if edit.action == Action::Change && columns(&found.rule) != columns(&to) {
                let what = "change keeps the columns of a rule, and gives it other thresholds, levels or sets";
                return Err(Error::Edit(format!("change \"{}\" to \"{to}\": {what}; use swap", found.rule)));
            }
            for (l, k) in found.places {
                replace(&mut model.lists[l], k, &to);
            }
        }
        Action::Weight => {
            let found = find(model, rule, class)?;
            for (l, k) in found.places {
                bring_within_bounds(model, (l, k), limits);
            }
        }
        Action::Forbid => forbid(model, limits)?,
        Action::Refit => {}
        _ => return Err(Error::Edit(format!("{}: there is no such edit", edit.action))),
    }
    Ok(())
}

/// The lists that an edit is about.
fn meant(model: &Model, class: Option<&str>) -> Result<Vec<usize>> {
    if let Some(class) = class
        && !model.classes.iter().any(|own| own == class)
    {
        return Err(Error::Edit(format!("the model has no class {class:?}")));
    }
    let is_meant = |list: &RuleList| list.class.is_none() || class.is_none() || list.class.as_deref() == class;
    Ok((0..model.lists.len()).filter(|&l| is_meant(&model.lists[l])).collect())
}

/// The rule, unless something forbids it.
fn allowed(rule: Rule, limits: &Limits) -> Result<Rule> {
    match limits.forbidding(&rule) {
        Some(why) => Err(Error::Edit(format!("rule \"{rule}\" cannot be in the model: {why}"))),
        None => Ok(rule),
    }
}

/// The columns of a rule, in order.
fn columns(rule: &Rule) -> Vec<&str> {
    let mut names: Vec<&str> = rule.columns().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The rules that a size has, written out.
fn members_of(size: &Size) -> Vec<usize> {
    size.members().collect()
}

/// Takes rule `k` out of every size.
fn drop_rule(list: &mut RuleList, k: usize) {
    for size in &mut list.sizes {
        let mut members = members_of(size);
        if let Some(place) = members.iter().position(|&own| own == k) {
            members.remove(place);
            for score in &mut size.scores {
                score.weights.remove(place);
            }
            size.rules -= 1;
        }
        size.members = Some(members);
    }
}

/// Adds a rule to those sizes for which `wanted` holds, unless they have it already. The constant model has no room:
/// where it is the only size, or the chosen one, a size with this rule alone comes after all others and is the chosen
/// one.
fn join(list: &mut RuleList, new: &Rule, weight: f64, wanted: impl Fn(&Size) -> bool) {
    let known = list.rules.iter().position(|own| own.says_same(new));
    let k = known.unwrap_or_else(|| {
        list.rules.push(new.clone());
        list.rules.len() - 1
    });
    let add = |size: &mut Size| {
        let mut members = members_of(size);
        members.push(k);
        size.members = Some(members);
        size.scores.iter_mut().for_each(|score| score.weights.push(weight));
        size.rules += 1;
    };
    let first = list.chosen().rules == 0;
    for size in list.sizes.iter_mut().filter(|size| size.rules > 0 && wanted(size)) {
        if !size.members().any(|own| own == k) {
            add(size);
        }
    }
    if first {
        let mut size = list.chosen().clone();
        add(&mut size);
        list.sizes.push(size);
    }
}

/// Puts another rule in the place of rule `k`. Where that is in a size already, rule `k` leaves it.
fn replace(list: &mut RuleList, k: usize, to: &Rule) {
    let known = list.rules.iter().position(|own| own.says_same(to)).filter(|&other| other != k);
    let Some(other) = known else {
        list.rules[k] = to.clone();
        return;
    };
    for size in &mut list.sizes {
        let mut members = members_of(size);
        if let Some(place) = members.iter().position(|&own| own == k) {
            if members.contains(&other) {
                members.remove(place);
                for score in &mut size.scores {
                    score.weights.remove(place);
                }
                size.rules -= 1;
            } else {
                members[place] = other;
            }
        }
        size.members = Some(members);
    }
}

/// Moves the weight of a rule to where it may be.
fn bring_within_bounds(model: &mut Model, (l, k): (usize, usize), limits: &Limits) {
    let (classes, is_shared) = (model.classes.clone(), model.is_shared());
    let list = &mut model.lists[l];
    let rule = list.rules[k].clone();
    for size in &mut list.sizes {
        let Some(place) = size.members().position(|own| own == k) else { continue };
        for (s, score) in size.scores.iter_mut().enumerate() {
            let class = if is_shared { Some(classes[s].as_str()) } else { list.class.as_deref() };
            score.weights[place] = limits.bounds(&rule, class).nearest(score.weights[place]);
        }
    }
}

/// Takes what is forbidden out of every size; a pinned rule may not be.
fn forbid(model: &mut Model, limits: &Limits) -> Result<()> {
    for (pin, _) in &limits.pins {
        if let Some(why) = limits.forbidding(pin) {
            return Err(Error::Edit(format!("rule \"{pin}\" is pinned, but {why}: drop the rule, or allow it")));
        }
    }
    for list in &mut model.lists {
        for k in 0..list.rules.len() {
            if limits.forbidding(&list.rules[k]).is_some() {
                drop_rule(list, k);
            }
        }
    }
    Ok(())
}

/// Puts a list in order after its sizes have changed: rules that no size has are gone, sizes come by complexity, and of
/// several of the same complexity the chosen one stays, or else the one of least risk. `chosen` is the place of the
/// chosen size.
pub(super) fn tidy(list: &mut RuleList, chosen: usize) {
    let rules = std::mem::take(&mut list.rules);
    for size in &mut list.sizes {
        size.complexity = size.members().map(|k| rules[k].complexity()).sum();
    }
    let sizes = std::mem::take(&mut list.sizes);
    let mut ordered: Vec<(bool, Size)> = sizes.into_iter().enumerate().map(|(i, size)| (i == chosen, size)).collect();
    ordered.sort_by(|(a_chosen, a), (b_chosen, b)| {
        let risk = || a.train_risk.total_cmp(&b.train_risk);
        a.complexity.cmp(&b.complexity).then(b_chosen.cmp(a_chosen)).then_with(risk)
    });
    ordered.dedup_by_key(|(_, size)| size.complexity);
    // The rules of the largest size come first, so that it is made of the first ones.
    let mut order: Vec<usize> = Vec::new();
    for (_, size) in ordered.iter().rev() {
        order.extend(size.members().filter(|k| !order.contains(k)).collect::<Vec<_>>());
    }
    let place = |k: usize| order.iter().position(|&own| own == k).unwrap_or(0);
    for (_, size) in &mut ordered {
        let members: Vec<usize> = size.members().map(place).collect();
        size.members = (!members.iter().copied().eq(0..members.len())).then_some(members);
    }
    list.rules = order.iter().map(|&k| rules[k].clone()).collect();
    let place = ordered.iter().position(|(is_chosen, _)| *is_chosen).unwrap_or(ordered.len() - 1);
    list.sizes = ordered.into_iter().map(|(_, size)| size).collect();
    list.choose(place);
}
