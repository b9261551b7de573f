//! One limit of complexity, and one budget of columns, for the models of several classes.

use crate::data::schema::ColumnSpec;
use crate::model::RuleList;
use crate::params::{Checked, Multiclass, PathKind, Polish, Terms, Update};
use std::borrow::Cow;

/// The parameters with the columns that the lists of all classes may use, where there is a budget of columns. They are
/// those of a list that the classes share, as `shared_list` learns it: so they are worth most to all classes together.
pub(crate) fn within_budget<'c>(
    params: &'c Checked,
    columns: &[ColumnSpec],
    shared_list: impl FnOnce(&Checked) -> Option<RuleList>,
) -> Cow<'c, Checked> {
    let Some(budget) = &params.wishes.budget else { return Cow::Borrowed(params) };
    let mut shared = params.clone();
    (shared.multiclass, shared.update) = (Multiclass::Shared, Update::Corrective);
    (shared.terms, shared.polish, shared.exact) = (Terms::Rules, Polish::Off, false);
    if shared.path == PathKind::Best {
        (shared.path, shared.length_penalty) = (PathKind::Nested, 1.0);
    }
    let mut paid = budget.required().clone();
    paid.extend(shared_list(&shared).map(|list| budget.paid(list.rules.iter())).unwrap_or_default());
    let others = columns.iter().filter(|column| !paid.contains(budget.paid_as(&column.name)));
    let mut chosen = params.clone();
    chosen.wishes.limits.columns.extend(others.map(|column| column.name.clone()));
    Cow::Owned(chosen)
}

/// Shortens the paths of several lists so that their largest sizes together are of at most `limit`. From the
/// constant models on, that list goes to its next size which lowers its training risk most for each unit of
/// complexity; what does not fit any more ends its path.
pub(crate) fn within(lists: &mut [RuleList], limit: usize) {
    let mut places = vec![0; lists.len()];
    let mut left = limit;
    loop {
        let next = |(l, list): (usize, &RuleList)| {
            let now = &list.sizes[places[l]];
            // The size that pays best, not the next one: a path may stand still before it falls.
            let larger = list.sizes.iter().enumerate().skip(places[l] + 1);
            let fitting = larger.filter(|(_, size)| size.complexity - now.complexity <= left);
            let rate = move |size: &crate::model::Size| {
                (now.train_risk - size.train_risk) / (size.complexity - now.complexity).max(1) as f64
            };
            let best = fitting.max_by(|a, b| rate(a.1).total_cmp(&rate(b.1)).then(b.0.cmp(&a.0)));
            best.map(|(place, size)| (l, place, rate(size)))
        };
        let all = lists.iter().enumerate().filter_map(next);
        // Of equals the first class goes first.
        let Some((l, place, _)) = all.max_by(|a, b| a.2.total_cmp(&b.2).then(b.0.cmp(&a.0))) else { break };
        let sizes = &lists[l].sizes;
        left -= sizes[place].complexity - sizes[places[l]].complexity;
        places[l] = place;
    }
    for (list, place) in lists.iter_mut().zip(places) {
        shorten(list, place);
    }
}

/// Ends a path at the size at `last`, and drops the rules that no size uses.
fn shorten(list: &mut RuleList, last: usize) {
    list.sizes.truncate(last + 1);
    let mut used = vec![false; list.rules.len()];
    list.sizes.iter().flat_map(|size| size.members().collect::<Vec<_>>()).for_each(|k| used[k] = true);
    let mut new_place = vec![0; used.len()];
    let mut count = 0;
    for (place, &used) in new_place.iter_mut().zip(&used) {
        *place = count;
        count += usize::from(used);
    }
    let mut keep = used.iter();
    list.rules.retain(|_| keep.next() == Some(&true));
    for size in &mut list.sizes {
        if let Some(members) = &mut size.members {
            members.iter_mut().for_each(|k| *k = new_place[*k]);
        }
    }
    list.choose(last);
}

#[cfg(test)]
mod tests {
    use crate::model::observer::Silent;
    use crate::params::{Multiclass, Params, PathKind};
    use crate::{Column, Problem, Roles, Table, Values};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// All classes together keep the limit, whatever the path.
        #[test]
        fn classes_share_one_limit(
            seed in any::<u32>(),
            classes in 3u32..6,
            limit in 0usize..40,
            nested in any::<bool>(),
        ) {
            let random = |i: u32| (i.wrapping_add(seed).wrapping_mul(2_654_435_761)) >> 20;
            let rows = 0..90u32;
            let table = Table::new(vec![
                Column::new("a", Values::numbers(rows.clone().map(|i| random(i) % 50))),
                Column::new("b", Values::numbers(rows.clone().map(|i| random(i + 777) % 7))),
                Column::new("y", Values::text(rows.map(|i| {
                    let noise = u32::from(random(i + 99) % 5 == 0);
                    Some(format!("c{}", (random(i) % 50 / 9 + noise) % classes))
                }))),
            ]).unwrap();
            let problem = Problem::new(table, &Roles { target: "y".into(), ..Roles::default() });
            prop_assume!(problem.is_ok());
            let problem = problem.unwrap();
            let path = nested.then_some(PathKind::Nested);
            let multiclass = Some(Multiclass::OneVsRest);
            let max_complexity = Some(limit);
            let params = Params { max_complexity, path, multiclass, threads: Some(1), ..Params::default() };
            let model = crate::fit(&problem, &params, &Silent).unwrap().model;
            prop_assert!(model.check().is_ok());
            prop_assert!(model.complexity(model.chosen()) <= limit);
            prop_assert!(model.sizes().into_iter().all(|rules| model.complexity(rules) <= limit));
            // With room for the path of every class, nothing is cut off.
            let alone = Params { max_complexity: Some(limit * problem.classes().len()), ..params.clone() };
            let roomy = crate::fit(&problem, &alone, &Silent).unwrap().model;
            let risk = |model: &crate::Model| model.steps(model.chosen()).map(|(_, size)| size.train_risk).sum::<f64>();
            prop_assert!(risk(&roomy) <= risk(&model) + 1e-9);
        }
    }
}
