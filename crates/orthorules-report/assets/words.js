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

const ruleText = (rule) =>
  rule.trend
    ? [el('span', { class: 'clause' }, trendText(rule.trend))]
    : clauses(rule).map((clause, i) => [
    i > 0 && el('span', { class: 'and' }, ' and '),
    el('span', { class: 'clause' }, clause),
  ]);

// How far a weight of 1 moves a row from the average, on average, where a rule holds for the share `p` of rows. A trend does
// so as if the numbers were spread evenly between its ends.
function moved(rule, p) {
  if (rule.trend) return 0.25 * ((rule.trend.to - rule.trend.from) / rule.trend.per) * (p === null ? 1 : p);
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

  // Mean targets as people read them.
  mean(x) {
    return x === null || x === undefined ? '–' : this.isClasses ? share(x * 1000, 1000) : alone(x, 4);
  }

  get meanWord() {
    return this.isClasses ? 'share' : this.isCounts ? 'rate' : 'mean';
  }

  // Risk curves, each relative to the constant model where there is one.
  curves() {
    const { entry, model } = this;
    const cv = model.document.cv;
    const single =
      model.ensembles.length === 1 || model.shared ? entry.sizes.map((s) => model.ensembles[0].path[s.places[0]].train_risk) : null;
    const measured = (data) => (data && data.labelled ? data.measures.map((m) => m.risk) : null);
    const isTraining = this.table && this.table.training !== false;
    const curves = [
      { kind: 'train', text: 'training rows', risks: single || (isTraining ? measured(this.table) : null) },
      {
        kind: 'other',
        text: 'the table given',
        risks: this.table && this.table.training === false ? measured(this.table) : null,
      },
      {
        kind: 'cv',
        text: `cross-validation${cv ? `, ${cv.folds} folds, ± standard error` : ''}`,
        risks: cv ? cv.path.map((s) => s.cv_risk) : null,
        errors: cv ? cv.path.map((s) => s.cv_se) : null,
      },
      { kind: 'test', text: 'test rows', risks: measured(this.test) },
    ].filter((curve) => curve.risks && curve.risks.some(Number.isFinite));
    const constant = entry.sizes.findIndex((s) => s.complexity === 0);
    for (const curve of curves) {
      const base = constant < 0 ? NaN : curve.risks[constant];
      curve.relative = base > 0;
      curve.shown = curve.risks.map((r) => (curve.relative ? r / base : r));
      curve.bars = curve.errors ? curve.errors.map((s) => (curve.relative ? s / base : s)) : null;
    }
    const relative = curves.every((curve) => curve.relative);
    if (!relative)
      curves.forEach((curve) => {
        curve.shown = curve.risks;
        curve.bars = curve.errors;
      });
    return { curves, relative };
  }

  // The most honest measures there are of the shown size: [{value, text}], and on which rows.
  quality() {
    const cv = this.model.document.cv;
    const constant = this.entry.sizes.findIndex((s) => s.complexity === 0);
    const fresh =
      this.test && this.test.labelled
        ? this.test
        : this.table && this.table.labelled && this.table.training === false
          ? this.table
          : null;
    const rows = fresh || (this.table && this.table.labelled ? this.table : null);
    const where = fresh
      ? fresh === this.test
        ? `on ${counted(fresh.used, 'test row')} that it has not seen`
        : `on ${counted(fresh.used, 'row')} other than those it learned from`
      : rows
        ? 'on the rows it learned from, which flatters it'
        : null;
    const facts = [];
    const saved = (risks) => (constant >= 0 && risks[constant] > 0 ? 1 - risks[this.size] / risks[constant] : NaN);
    const cvSaved = cv ? saved(cv.path.map((s) => s.cv_risk)) : NaN;
    const m = rows ? rows.measures[this.size] : null;
    const target = this.model.target;
    if (m && this.isClasses) {
      const best = rows.measures[constant];
      facts.push({
        value: `${ofHundred(m.accuracy)} of 100`,
        text:
          `rows get the right ` +
          `class${best ? `; ${ofHundred(best.accuracy)} would by always naming the most frequent one` : ''}`,
        where,
      });
      if (m.auc !== undefined)
        facts.push({
          value: alone(Math.min(m.auc, m.auc < 1 ? 0.999 : 1), 3),
          text:
            `AUC: of two rows, one with ${target} = ${this.className(0)} and one without, it ranks the right one ` +
            `higher in ${ofHundred(m.auc)} of 100 cases`,
          where,
        });
    } else if (m && !this.isCounts) {
      facts.push({ value: alone(m.mae, 3), text: `is how far a prediction of ${target} is off on average`, where });
      if (m.r2 !== undefined)
        facts.push({
          value: `${fixed(100 * Math.max(0, m.r2), 0)}%`,
          text: `of the differences in ${target} are explained (R²)`,
          where,
        });
    } else if (m) {
      const part = saved(rows.measures.map((x) => x.risk));
      if (Number.isFinite(part))
        facts.push({ value: `${fixed(100 * part, 0)}%`, text: `of the deviance of ${target} is explained`, where });
    }
    if (Number.isFinite(cvSaved) && !fresh) {
      const folds = `in cross-validation: each of ${cv.folds} parts predicted by rules learned from the others`;
      if (!this.isClasses && !this.isCounts) {
        facts.unshift({
          value: alone(Math.sqrt(cv.path[this.size].cv_risk), 3),
          text:
            `is the typical error of a prediction of ${target} (RMSE); ` +
            `${fixed(100 * Math.max(0, cvSaved), 0)}% of the differences are explained (R²)`,
          where: folds,
        });
      } else {
        facts.unshift({
          value: `${fixed(100 * cvSaved, 0)}%`,
          text: 'less loss than the best constant guess',
          where: folds,
        });
      }
    }
    if (facts.length === 0 && (this.model.ensembles.length === 1 || this.model.shared)) {
      const part = saved(this.entry.sizes.map((s) => this.model.ensembles[0].path[s.places[0]].train_risk));
      if (Number.isFinite(part))
        facts.push({
          value: `${fixed(100 * part, 0)}%`,
          text:
            this.isClasses || this.isCounts
              ? 'less loss than the best constant guess'
              : `of the differences in ${target} are explained (R²)`,
          where: 'on the rows it learned from, which flatters it',
        });
    }
    return facts;
  }
}
