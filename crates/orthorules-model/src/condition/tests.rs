//! What conditions ask of values, and their text.

use super::*;

fn holds(op: Op, value: Option<Operand>, values: &Values) -> Vec<bool> {
    let mut selected = vec![true; values.len()];
    Condition::new("x", op, value).narrow(values, &mut selected);
    selected
}

#[test]
fn a_missing_value_satisfies_only_missing() {
    let numbers = Values::Numeric(vec![1.0, 2.0, f64::NAN].into());
    let two = || Some(Operand::Number(2.0));
    assert_eq!(holds(Op::Le, two(), &numbers), [true, true, false]);
    assert_eq!(holds(Op::Ge, two(), &numbers), [false, true, false]);
    assert_eq!(holds(Op::Missing, None, &numbers), [false, false, true]);
    assert_eq!(holds(Op::Present, None, &numbers), [true, true, false]);
    let text = Values::text([Some("a"), Some("b"), None]);
    let level = |l: &str| Some(Operand::Text(l.into()));
    assert_eq!(holds(Op::Eq, level("a"), &text), [true, false, false]);
    assert_eq!(holds(Op::Ne, level("a"), &text), [false, true, false]);
}

#[test]
fn unknown_levels_satisfy_no_eq_and_every_ne() {
    let text = Values::text([Some("new"), None]);
    let old = || Some(Operand::Text("old".into()));
    assert_eq!(holds(Op::Eq, old(), &text), [false, false]);
    assert_eq!(holds(Op::Ne, old(), &text), [true, false]);
}

#[test]
fn flags_are_0_or_1() {
    use Op::{Ge, Le};
    let told = |op, t| {
        let value = Some(Operand::Number(t));
        Condition::new("flag", op, value).known(true, &[]).to_string()
    };
    assert_eq!(
        (told(Ge, 1.0), told(Le, 0.0), told(Ge, 0.5)),
        ("flag = 1".into(), "flag = 0".into(), "flag = 1".into())
    );
    // What is not between 0 and 1 is told as it is.
    assert_eq!(
        (told(Ge, 0.0), told(Le, 1.0), told(Ge, 2.0)),
        ("flag >= 0".into(), "flag <= 1".into(), "flag >= 2".into())
    );
}

#[test]
fn a_special_code_satisfies_no_threshold() {
    let codes = [SpecialCode::new(-9.0, "refused"), SpecialCode::new(40.0, "unknown")];
    let numbers = Values::numbers([-9.0, 40.0, -9.5, 41.0, f64::NAN]);
    let holds = |op, value: Option<Operand>| {
        let mut selected = vec![true; numbers.len()];
        let condition = Condition::new("x", op, value).known(false, &codes);
        condition.narrow(&numbers, &mut selected);
        (condition.to_string(), selected)
    };
    let (t, name) = (|t| Some(Operand::Number(t)), |name: &str| Some(Operand::Text(name.into())));
    assert_eq!(holds(Op::Le, t(50.0)), ("x <= 50".into(), vec![false, false, true, true, false]));
    assert_eq!(holds(Op::Ge, t(-9.0)), ("x >= -9".into(), vec![false, false, false, true, false]));
    assert_eq!(holds(Op::Is, name("refused")), ("x is refused".into(), vec![true, false, false, false, false]));
    assert_eq!(holds(Op::IsNot, name("refused")), ("x is not refused".into(), vec![false, true, true, true, false]));
    assert_eq!(holds(Op::Present, None).1, [true, true, true, true, false]);
    assert_eq!(holds(Op::Missing, None).1, [false, false, false, false, true]);
}
