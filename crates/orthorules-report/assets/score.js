// The model: which rules hold for a row, scores and predictions. A row maps column names to a number, a text, or null
// where the value is missing. Sums are taken in the engine's order, so that scores have the engine's bits.

// What a number of a column stands for, where it is a special code.
function specialName(column, value) {
  const code = (column.special || []).find((each) => each.value === value);
  return code === undefined ? null : code.name;
}

// What a comparison by size sees of a value: a number itself, a level its place in the order of levels. Nothing is
// smaller or larger than a value that is missing, unknown or a special code.
function rank(column, value) {
  if (column.kind === 'numeric') return typeof value === 'number' && specialName(column, value) === null ? value : NaN;
  const place = (column.levels || []).indexOf(value);
  return place < 0 ? NaN : place;
}

// A threshold is one even where it has the number of a special code.
const thresholdOf = (column, value) => (column.kind === 'numeric' ? value : rank(column, value));

function holds(condition, column, value) {
  const present = value !== null && value !== undefined && !Number.isNaN(value);
  switch (condition.op) {
    case '<=':
      return rank(column, value) <= thresholdOf(column, condition.value);
    case '>=':
      return rank(column, value) >= thresholdOf(column, condition.value);
    case '=':
      return present && value === condition.value;
    case '!=':
      return present && value !== condition.value;
    case 'in':
      return present && condition.value.includes(value);
    case 'not in':
      return present && !condition.value.includes(value);
    case 'is':
      return present && specialName(column, value) === condition.value;
    case 'is not':
      return present && specialName(column, value) !== condition.value;
    case 'missing':
      return !present;
    case 'present':
      return present;
    default:
      return false;
  }
}

// What a trend is for a number: 0 where it is missing.
function trendValue({ from, to, zero, per }, x) {
  if (typeof x !== 'number' || Number.isNaN(x)) return 0;
  return ((x < from ? from : x > to ? to : x) - zero) / per;
}

// The names of the columns that a rule looks at.
const columnsOf = (rule) => (rule.trend ? [rule.trend.column] : [...new Set(rule.conditions.map((c) => c.column))]);

const sigmoid = (f) => 1 / (1 + Math.exp(-f));

// What class `k` has of a list of rules that several share.
function sharedEnsemble(document, label, k) {
  const path = document.path.map((step) => ({
    ...step,
    intercept: step.intercepts[k],
    weights: step.weights.map((each) => each[k]),
  }));
  return { class: label, rules: document.rules, path, chosen: document.chosen };
}

class Model {
  constructor(document) {
    this.document = document;
    this.task = document.task;
    this.target = document.target;
    this.classes = document.classes || [];
    this.exposure = document.exposure || null;
    // The column that is added to the score as it is.
    this.offset = document.offset || null;
    this.identity = document.link === 'identity';
    // One list of rules with a weight for each class: an ensemble for each, which share their rules.
    this.shared = document.multiclass === 'shared';
    this.ensembles = this.shared
      ? this.classes.map((label, k) => sharedEnsemble(document, label, k))
      : document.one_vs_rest || [
          { class: null, rules: document.rules, path: document.path, chosen: document.chosen },
        ];
    this.columns = new Map(document.columns.map((column) => [column.name, column]));
    for (const ensemble of this.ensembles) {
      for (const rule of ensemble.rules) {
        rule.places = rule.conditions.map((c) => this.columns.get(c.column));
        rule.conditions.forEach((c, i) => {
          c.flag = rule.places[i].flag === true;
        });
      }
    }
  }

  // The rules of the step at `place` of ensemble `e`: {index, rule, weight}.
  terms(e, place) {
    const step = this.ensembles[e].path[place];
    return step.weights.map((weight, i) => {
      const index = step.members ? step.members[i] : i;
      return { index, weight, rule: this.ensembles[e].rules[index] };
    });
  }

  // What a weight is multiplied by: 1 where a rule holds, else 0; what a trend is.
  amount(rule, row) {
    if (!rule.trend) return Number(this.fires(rule, row));
    return trendValue(rule.trend, rank(this.columns.get(rule.trend.column), row[rule.trend.column]));
  }

  // Whether a rule holds; of a trend, whether it says anything.
  fires(rule, row) {
    if (rule.trend) return this.amount(rule, row) !== 0;
    return rule.conditions.every((condition, i) => {
      const value = row[condition.column];
      return holds(condition, rule.places[i], value === undefined ? null : value);
    });
  }

  // Score of ensemble `e`: `amount(index)` says what the weight of a rule is multiplied by. The offset comes last.
  sum(e, place, amount, offset) {
    const step = this.ensembles[e].path[place];
    const rules = this.terms(e, place).reduce((score, t) => score + t.weight * amount(t.index), step.intercept);
    return this.offset === null ? rules : rules + offset;
  }

  // The offset of a row, 0 where there is none.
  offsetOf(row) {
    return (this.offset !== null && row[this.offset]) || 0;
  }

  // All scores of a row at one size.
  scores(places, row) {
    const amount = (e) => (k) => this.amount(this.ensembles[e].rules[k], row);
    return places.map((place, e) => this.sum(e, place, amount(e), this.offsetOf(row)));
  }

  // Probabilities of the other class and of the class with this score.
  pair(score) {
    if (!this.identity) return [sigmoid(-score), sigmoid(score)];
    const p = Math.min(1, Math.max(0, score));
    return [1 - p, p];
  }

  // {value} for numbers; {probabilities, label} for classes.
  predict(scores, exposure = 1) {
    if (this.task !== 'classification') {
      return { value: this.task !== 'regression' ? exposure * Math.exp(scores[0]) : scores[0] };
    }
    let probabilities;
    if (scores.length === 1) {
      probabilities = this.pair(scores[0]);
    } else if (this.shared) {
      const highest = scores.reduce((most, score) => (score > most ? score : most), -Infinity);
      const each = scores.map((score) => Math.exp(score - highest));
      const total = each.reduce((sum, p) => sum + p, 0);
      probabilities = each.map((p) => p / total);
    } else {
      const each = scores.map((score) => this.pair(score)[1]);
      const total = each.reduce((sum, p) => sum + p, 0);
      probabilities = each.map((p) => (total > 0 ? p * (1 / total) : 1 / each.length));
    }
    let label = 0;
    probabilities.forEach((p, k) => {
      if (p > probabilities[label]) label = k;
    });
    return { probabilities, label };
  }

  // The number that a goal "below" or "above" is about.
  goalValue(prediction) {
    return prediction.probabilities
      ? prediction.probabilities[prediction.probabilities.length - 1]
      : prediction.value;
  }

  // Whether some term of a size is a trend.
  hasTrends(places) {
    return places.some((place, e) => this.terms(e, place).some((t) => t.rule.trend));
  }

  // The columns that rules of a size use, in the model's order.
  used(places) {
    const names = new Set();
    places.forEach((place, e) => {
      for (const t of this.terms(e, place)) columnsOf(t.rule).forEach((column) => names.add(column));
    });
    return [...this.columns.values()].filter((column) => names.has(column.name));
  }
}
