// What the page says: conditions, weights and quality in words, and one view of a report at one size.

const SIGNS = { '<=': '≤', '>=': '≥', '=': '=', '!=': '≠', in: 'in', 'not in': 'not in' };

// The clauses of a rule; two bounds of one column are one clause.
function clauses(rule) {
  const told = new Set();
  return rule.conditions.flatMap((condition, i) => {
    if (told.has(i)) return [];
    const { column, op, value, flag } = condition;
    // At least 1 is 1, and at most 0 is 0, where there is nothing else.
    if (flag && op === '>=' && value > 0 && value <= 1) return [[name(column), ' = 1']];
    if (flag && op === '<=' && value >= 0 && value < 1) return [[name(column), ' = 0']];
    if (op === 'missing') return [[name(column), ' is missing']];
    if (op === 'present') return [[name(column), ' is known']];
    if (op === 'is' || op === 'is not') return [[name(column), ` ${op} `, name(value)]];
    const text = (v) => (typeof v === 'number' ? plain(v) : name(v));
    if (Array.isArray(value)) {
      const levels = value.flatMap((level, k) => (k > 0 ? [', ', text(level)] : [text(level)]));
      return [[name(column), ` ${SIGNS[op]} {`, ...levels, '}']];
    }
    const opposite = { '<=': '>=', '>=': '<=' }[op];
    const j = rule.conditions.findIndex((c, k) => {
      const [low, high] = op === '>=' ? [value, c.value] : [c.value, value];
      return (
        k > i &&
        !told.has(k) &&
        c.column === column &&
        c.op === opposite &&
        (typeof value !== 'number' || low <= high)
      );
    });
    if (j < 0) return [[name(column), ` ${SIGNS[op]} `, text(value)]];
    told.add(j);
    const [low, high] = op === '>=' ? [value, rule.conditions[j].value] : [rule.conditions[j].value, value];
    return [low === high ? [name(column), ' = ', text(low)] : [text(low), ' ≤ ', name(column), ' ≤ ', text(high)]];
  });
}

// The conditions of a rule, or a trend.
const conditionText = (rule) =>
  rule.trend
    ? [el('span', { class: 'clause' }, trendText(rule.trend))]
    : clauses(rule).map((clause, i) => [
        i > 0 && el('span', { class: 'and' }, ' and '),
        el('span', { class: 'clause' }, clause),
      ]);

// What a rule excludes that holds for most rows. Only of a column without missing values: these satisfy neither.
function exception({ conditions, covered }, { columns, document: { rows } }) {
  const [condition] = conditions;
  const opposite = { '!=': '=', 'not in': 'in', 'is not': 'is' }[conditions.length === 1 && condition.op];
  if (!opposite || !(2 * covered > rows) || columns.get(condition.column).missing !== 0) return null;
  return { conditions: [{ ...condition, op: opposite }] };
}

// A rule after what it adds: "if age ≥ 56", "unless state = CA"; a trend says itself when it adds something.
function ruleText(view, rule, first = (word) => word) {
  if (rule.trend) return conditionText(rule);
  const other = exception(rule, view.model);
  return [el('span', { class: 'when' }, first(other ? 'unless' : 'if'), ' '), conditionText(other || rule)];
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// How far a weight of 1 moves a row from the average, on average, where a rule holds for the share `p` of rows. A trend
// does so as if the numbers were spread evenly between its ends.
function moved(rule, p) {
  if (rule.trend) return 0.25 * ((rule.trend.to - rule.trend.from) / Math.abs(rule.trend.per)) * (p === null ? 1 : p);
  return p === null ? 1 : 2 * p * (1 - p);
}

// A report at one size, and who wants to hear of another.
class View {
  constructor(entry, program, date) {
    Object.assign(this, { entry, program, date, size: entry.start, model: new Model(entry.model), heard: [], of: 0 });
    this.words = entry.words;
    this.table = entry.table;
    this.test = entry.test;
    const { model } = this;
    this.several = model.ensembles.length > 1;
    this.isClasses = model.task === 'classification';
    // Numbers above 0, by a score that is the logarithm of their mean.
    this.isCounts = model.task !== 'regression' && !this.isClasses;
    // Weights add to a logarithm, so that their exponentials multiply.
    this.factorOf = this.isCounts
      ? model.exposure
        ? 'rate'
        : model.task === 'poisson'
          ? 'count'
          : 'mean'
      : this.isClasses && !model.identity && !model.shared
        ? 'odds'
        : null;
    this.unit = this.isCounts
      ? `log of the ${this.factorOf}`
      : this.isClasses
        ? model.identity
          ? 'probability'
          : model.shared
            ? 'score'
            : 'log-odds'
        : model.target;
    this.judged = [this.test, this.table].find((t) => t && t.labelled) || null;
  }

  get label() {
    return this.entry.sizes[this.size];
  }

  get places() {
    return this.label.places;
  }

  className(e) {
    return this.several ? this.model.classes[e] : this.model.classes[1];
  }

  listen(call) {
    this.heard.push(call);
  }

  show(size) {
    this.size = Math.max(0, Math.min(this.entry.sizes.length - 1, size));
    this.heard.forEach((call) => call());
  }

  // The share of rows that a rule covers: of the table, else of the training rows.
  coverage(e, index) {
    const known = this.table || this.test;
    if (known) return { rows: known.rules[e][index].rows, of: known.used };
    const { rows } = this.model.document;
    const { covered } = this.model.ensembles[e].rules[index];
    return rows && covered ? { rows: covered, of: rows } : null;
  }

  // The rules of ensemble `e` at this size, with all that is known of each.
  terms(e) {
    const place = this.places[e];
    const bootstrap = this.model.document.bootstrap;
    const sure =
      bootstrap && bootstrap.rules === this.label.rules && this.size === this.entry.chosen
        ? bootstrap.ensembles[e].rules
        : null;
    const listed = this.model.terms(e, place);
    const shown = signed([...listed.map((t) => t.weight), this.model.ensembles[e].path[place].intercept]);
    return listed.map((term, order) => {
      const covered = this.coverage(e, term.index);
      const p = covered ? Math.min(1, covered.rows / Math.max(1, covered.of)) : null;
      return {
        ...term,
        e,
        order,
        shown: shown[order],
        text: this.words.rules[e][term.index],
        covered,
        importance: Math.abs(term.weight) * moved(term.rule, p),
        target:
          this.table && this.table.labelled
            ? this.table.rules[e][term.index]
            : this.test
              ? this.test.rules[e][term.index]
              : null,
        sure: sure ? sure[order] : null,
      };
    });
  }

  // The lists that are shown: one for each score; one alone where classes share their rules.
  lists() {
    const lists = this.model.ensembles.map((_, e) => this.terms(e));
    return this.model.shared ? [lists[0].map((_, i) => sharedTerm(lists.map((terms) => terms[i])))] : lists;
  }

  // Whether a column had missing values, in training or in the rows at hand.
  lacks(column) {
    this.gaps ||= new Map();
    if (!this.gaps.has(column)) {
      const summary = this.table && this.table.columns.find((c) => c.name === column);
      const drawn = [this.table, this.test].flatMap((t) => (t ? t.sample.columns : []));
      const found =
        this.model.columns.get(column).missing > 0 ||
        (summary && summary.bins[summary.bins.length - 1].rows > 0) ||
        drawn.some((c) => c.name === column && c.values.includes(null));
      this.gaps.set(column, Boolean(found));
    }
    return this.gaps.get(column);
  }

  // A number of a column as people read it: brief, but on the same side of every threshold.
  number(column, x) {
    if (!Number.isFinite(x) || Number.isInteger(x)) return plain(x);
    this.cuts ||= new Map();
    if (!this.cuts.has(column)) {
      const rules = this.model.ensembles.flatMap((e) => e.rules).filter((rule) => columnsOf(rule).includes(column));
      const ends = rules.flatMap((rule) => (rule.trend ? [rule.trend.from, rule.trend.to] : []));
      const bounds = rules.flatMap((rule) => rule.conditions.filter((c) => c.column === column).map((c) => c.value));
      this.cuts.set(column, [...ends, ...bounds.filter((value) => typeof value === 'number')]);
    }
    const isSame = (y) => this.cuts.get(column).every((cut) => Math.sign(y - cut) === Math.sign(x - cut));
    if (isSame(Number(brief(x)))) return brief(x);
    for (let digits = 5; digits < 17; digits += 1) {
      const y = Number(scientific(x, digits));
      if (isSame(y)) return plain(y);
    }
    return plain(x);
  }

  // Mean targets as people read them.
  mean(x) {
    return x === null || x === undefined ? '–' : this.isClasses ? percent(x) : short(x);
  }

  get meanWord() {
    return this.isClasses ? 'share' : this.isCounts ? 'rate' : 'mean';
  }
}

// A rule that classes share, from what it is for each: `parts`. `strongest` is the class that it says most of.
function sharedTerm(parts) {
  const strongest = parts.reduce((most, part) => (Math.abs(part.weight) > Math.abs(most.weight) ? part : most));
  const importance = parts.reduce((sum, part) => sum + part.importance, 0) / parts.length;
  return { ...parts[0], parts, strongest: strongest.e, weight: strongest.weight, importance };
}

// How many rules and trends there are; `one` is how a single one is counted.
function termsCounted(terms, one = '1') {
  const trends = terms.filter((t) => t.rule.trend).length;
  const some = (n, thing) => (n === 1 ? `${one} ${thing}` : counted(n, thing));
  const parts = [
    ...(terms.length > trends || trends === 0 ? [some(terms.length - trends, 'rule')] : []),
    ...(trends > 0 ? [some(trends, 'trend')] : []),
  ];
  return parts.join(' and ');
}
