// Rows in groups that satisfy the same rules, and single rows of the sample.

// Rows that satisfy the same rules, as {rows, weight, mass, target, classes, fired(e, k), amount(e, k)}: all rows of a
// table, or where their groups are too many or trends and offsets tell their rows apart, the sampled rows one by one.
function groupsOf(view, data) {
  if (data.cells) return data.cells;
  const counts = view.model.ensembles.map((e) => e.rules.length);
  // Classes that share their rules share their bits.
  const start = counts.map((_, e) => (view.model.shared ? 0 : counts.slice(0, e).reduce((sum, n) => sum + n, 0)));
  const { groups, sample } = data;
  if (groups) {
    data.cells = groups.bits.map((hex, g) => {
      const bytes = hex.match(/../g) || [];
      const bits = bytes.map((byte) => parseInt(byte, 16));
      return {
        rows: groups.rows[g],
        weight: groups.weight[g],
        mass: groups.mass[g],
        target: groups.target[g],
        classes: groups.classes ? groups.classes[g] : [],
        fired: (e, k) => ((bits[(start[e] + k) >> 3] >> ((start[e] + k) & 7)) & 1) === 1,
        amount(e, k) {
          return Number(this.fired(e, k));
        },
      };
    });
  } else {
    data.cells = sample.numbers.map((_, i) => {
      const row = rowOf(data, i);
      const amounts = view.model.ensembles.map((ensemble) =>
        ensemble.rules.map((rule) => view.model.amount(rule, row.values)),
      );
      const classes = view.model.classes.map((_c, k) => (row.y === k ? row.weight : 0));
      return {
        rows: 1,
        weight: row.weight,
        mass: row.weight * row.exposure,
        target: row.weight * (row.y || 0),
        classes,
        offset: view.model.offsetOf(row.values),
        fired: (e, k) => amounts[e][k] !== 0,
        amount: (e, k) => amounts[e][k],
      };
    });
  }
  return data.cells;
}

const number = (value) => (Array.isArray(value) ? Number(value[0]) : value);

// Sampled row `i` of a table: {number, values, y, weight, exposure}.
function rowOf(data, i) {
  data.rowsKnown ||= [];
  if (data.rowsKnown[i]) return data.rowsKnown[i];
  const { sample } = data;
  const values = {};
  for (const column of sample.columns) {
    const value = column.values[i];
    values[column.name] = value === null ? null : column.levels ? column.levels[value] : number(value);
  }
  const of = (list, other) => (list ? number(list[i]) : other);
  data.rowsKnown[i] = {
    number: sample.numbers[i],
    values,
    y: of(sample.y, null),
    weight: of(sample.weight, 1),
    exposure: of(sample.exposure, 1),
  };
  return data.rowsKnown[i];
}

const targetText = (view, y) => (y === null ? '–' : view.isClasses ? view.model.classes[y] : brief(y));

// Groups of rows with what is predicted for them at the shown size, by rising prediction.
function predictedGroups(view, data) {
  const { model, places } = view;
  return groupsOf(view, data).map((g) => {
    const scores = places.map((place, e) => model.sum(e, place, (k) => g.amount(e, k), g.offset));
    return { ...g, scores, prediction: model.predict(scores, 1) };
  });
}

// Groups joined into about `count` parts of equal weight: {weight, predicted, observed}, by rising `value`.
function parts(groups, count, value, observed, massOf = (g) => g.weight) {
  const sorted = groups.filter((g) => massOf(g) > 0).sort((a, b) => value(a) - value(b));
  const total = sorted.reduce((sum, g) => sum + massOf(g), 0);
  const found = [];
  let before = 0;
  for (const g of sorted) {
    const mass = massOf(g);
    const bin = Math.min(count - 1, Math.floor((count * (before + mass / 2)) / total));
    before += mass;
    const last = found[found.length - 1];
    const part = last && last.bin === bin ? last : { bin, mass: 0, predicted: 0, observed: 0, rows: 0 };
    if (part !== last) found.push(part);
    part.mass += mass;
    part.rows += g.rows;
    part.predicted += mass * value(g);
    part.observed += observed(g);
  }
  return found.map((p) => ({ ...p, predicted: p.predicted / p.mass, observed: p.observed / p.mass }));
}
