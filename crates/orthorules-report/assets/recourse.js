// What would change a prediction: the least sets of columns whose values would have to be others. The same search
// as the
// engine's, state by state and tie by tie; docs/report.md says what it promises.

const MOST_NODES = 300000;

// Where a condition cuts numbers: before the threshold of >=, after that of <=.
const cutOf = (condition) =>
  condition.op === '<=' ? [condition.value + 0, true] : condition.op === '>=' ? [condition.value + 0, false] : null;

// A column as the rules of one size see it: values that no condition tells apart are one state.
class States {
  constructor(column, conditions, value, trends = []) {
    this.slopes = trends.length > 0;
    this.column = column;
    this.name = column.name;
    this.from = value === undefined || Number.isNaN(value) ? null : value;
    this.numeric = column.kind === 'numeric';
    if (this.numeric) this.cutNumbers(conditions, trends);
    else this.joinLevels(conditions);
    this.known = this.now < this.states.length;
  }

  cutNumbers(conditions, trends) {
    const bends = trends.flatMap((t) => [
      [t.from + 0, false],
      [t.to + 0, true],
    ]);
    const cuts = [...conditions.map(cutOf).filter((cut) => cut !== null), ...bends];
    cuts.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.cuts = cuts.filter((cut, i) => i === 0 || cut[0] !== cuts[i - 1][0] || cut[1] !== cuts[i - 1][1]);
    this.states = [...this.cuts, null].map((cut, i) => ({
      low: i > 0 ? { at: this.cuts[i - 1][0], included: !this.cuts[i - 1][1] } : null,
      high: cut ? { at: cut[0], included: cut[1] } : null,
    }));
    if (this.column.flag && !this.slopes && this.cuts.length === 1) {
      // What is not 1 is 0, where there is nothing else.
      const bit = (at) => ({ at, included: true });
      this.states = [0, 1].map((at) => ({ low: bit(at), high: bit(at) }));
    }
    const x = this.from;
    const isWhole = (value) => value === null || Number.isInteger(value);
    // Nobody is between 53 and 54 years old.
    this.whole = isWhole(x) && this.cuts.length > 0 && this.cuts.every((cut) => isWhole(cut[0]));
    this.now =
      typeof x === 'number' ? this.cuts.filter(([t, after]) => (after ? x > t : x >= t)).length : this.states.length;
  }

  joinLevels(conditions) {
    const byTruth = new Map();
    const named = conditions.flatMap((c) => (typeof c.value === 'number' ? [] : c.value)).filter((v) => v !== undefined);
    for (const level of new Set([...(this.column.levels || []), ...named])) {
      const truth = conditions.map((c) => (holds(c, this.column, level) ? '1' : '0')).join('');
      byTruth.set(truth, [...(byTruth.get(truth) || []), level]);
    }
    this.states = [...byTruth.values()].map((levels) => ({ levels }));
    const own = this.states.findIndex((state) => state.levels.includes(this.from));
    this.now = own < 0 ? this.states.length : own;
  }

  // Whether a condition holds, for every state and last for the row's own value.
  truth(condition) {
    const inside = (i) => {
      const cut = cutOf(condition);
      const place = cut ? this.cuts.findIndex((c) => c[0] === cut[0] && c[1] === cut[1]) : -1;
      return condition.op === '<=' ? i <= place : condition.op === '>=' ? i > place : condition.op === 'present';
    };
    const of = (state, i) => (this.numeric ? inside(i) : holds(condition, this.column, state.levels[0]));
    const own = this.numeric && this.known ? inside(this.now) : holds(condition, this.column, this.from);
    return [...this.states.map(of), own];
  }

  // Where trends slope, a change inside of its own interval is one already.
  steps(to) {
    return this.numeric && this.known ? Math.abs(this.now - to) + Number(this.slopes) : 1;
  }

  falls(to) {
    return to < this.now && this.known;
  }

  // Whether the column may change to a state, which may be its own where trends tell its numbers apart.
  isOpen(to) {
    return to === this.now ? this.slopes : this.example(to) !== undefined;
  }

  // The least and the largest number of an interval that has both ends, where it has any.
  ends(to) {
    const { low, high } = this.states[to];
    if (!low || !high) return null;
    const beside = (x, way) => (this.whole ? x + way : nextNumber(x, way));
    const from = low.included ? low.at : beside(low.at, 1);
    const end = high.included ? high.at : beside(high.at, -1);
    return from <= end ? [from, end] : null;
  }

  // A value of the state: the nearest end where it belongs to the interval; undefined where there is no number
  // between.
  example(to) {
    const state = this.states[to];
    if (state.levels) return state.levels[0];
    const { low, high } = state;
    const falls = this.falls(to);
    const [near, far] = falls ? [high, low] : [low, high];
    const away = (at) => (this.whole ? 1 : Math.max(Math.abs(at) / 10, 1));
    const inward = falls ? -1 : 1;
    let x = 0;
    if (near && near.included) x = near.at;
    else if (far && far.included) x = far.at;
    else if (near && far) x = this.whole ? near.at + inward : near.at / 2 + far.at / 2;
    else if (near) x = near.at + inward * away(near.at);
    else if (far) x = far.at - inward * away(far.at);
    const above = !low || x > low.at || (low.included && x === low.at);
    const below = !high || x < high.at || (high.included && x === high.at);
    return above && below && Number.isFinite(x) ? x : undefined;
  }

  // The values of a state in words; of an interval the part from `x` on to its end `best`, where these are given.
  text(to, x, best) {
    const { levels } = this.states[to];
    const here = { at: x, included: true };
    const low = x === undefined || best < x ? this.states[to].low : here;
    const high = x === undefined || best > x ? this.states[to].high : here;
    const sign = (end) => (end.included ? '<=' : '<');
    if (levels) return `${this.name} = ${levels.join(' or ')}`;
    if (low && high && low.at === high.at) return `${this.name} = ${plain(low.at)}`;
    if (low && high) return `${plain(low.at)} ${sign(low)} ${this.name} ${sign(high)} ${plain(high.at)}`;
    if (low) return `${this.name} ${low.included ? '>=' : '>'} ${plain(low.at)}`;
    return high ? `${this.name} ${sign(high)} ${plain(high.at)}` : `${this.name} present`;
  }
}

// The number next to `x`, up or down.
function nextNumber(x, way) {
  if (x === 0) return way * Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([x]).buffer);
  bits[0] += (x > 0) === (way > 0) ? 1n : -1n;
  return new Float64Array(bits.buffer)[0];
}

// The numbers of a state that play a part: from the one nearest to the row's own to the one that helps most, and the
// one that helps least. They are the same where no trend slopes. Nothing where the column cannot change to the state.
function reachOf(states, to, slopes, up) {
  const stays = to === states.now;
  const adds = (x) => slopes.reduce((sum, s) => sum + s.weight * trendValue(s.trend, x), 0) * (up ? 1 : -1);
  const ends = slopes.length > 0 ? states.ends(to) : null;
  if (ends && adds(ends[0]) !== adds(ends[1])) {
    const [worst, best] = adds(ends[1]) > adds(ends[0]) ? ends : [ends[1], ends[0]];
    const near = stays ? states.from : ends[states.falls(to) ? 1 : 0];
    return !stays || adds(best) > adds(near) ? { near, best, worst } : null;
  }
  const example = stays ? undefined : states.example(to);
  return example === undefined ? null : { near: example, best: example, worst: example };
}

const slides = (reach) => reach.best !== reach.worst;

const along = ({ near, best }, part) => (part >= 1 ? best : near + part * (best - near));

// `x`, moved on to a number that people can read: by less than a thousandth of the way, or to a whole number.
function readable({ near, best }, x, whole) {
  const up = best > near;
  const onward = up ? Math.ceil : Math.floor;
  const inside = (y) => (up ? Math.min(y, best) : Math.max(y, best));
  if (x === near || x === best) return x;
  if (whole) return inside(onward(x)) + 0;
  const exponent = Number(Math.abs(best - near).toExponential().split('e')[1]) - 3;
  const count = onward(x / Number(`1e${exponent}`));
  if (!Number.isFinite(count) || Math.abs(count) > 1e15) return x;
  const found = Number(`${count}e${exponent}`);
  return (up ? found >= x : found <= x) ? inside(found) + 0 : x;
}

// The least part of the way at which `isMet` is true, which it is at 1.
function leastPart(isMet) {
  if (isMet(0)) return 0;
  let [low, high] = [0, 1];
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2;
    if (isMet(middle)) high = middle;
    else low = middle;
  }
  return high;
}

// A goal is {class: place}, {below: number} or {above: number}.
class Recourse {
  constructor(model, places, row, goal, locked = [], exposure = 1) {
    Object.assign(this, { model, goal, exposure, offset: model.offsetOf(row), nodes: 0, open: true });
    const terms = places.flatMap((place, e) => model.terms(e, place));
    const conditions = terms.flatMap((t) => t.rule.conditions);
    const trends = terms.flatMap((t) => (t.rule.trend ? [t.rule.trend] : []));
    this.columns = model.used(places).map((column) => {
      const value = row[column.name];
      return new States(
        column,
        conditions.filter((c) => c.column === column.name),
        value === undefined ? null : value,
        trends.filter((t) => t.column === column.name),
      );
    });
    this.locked = this.columns.map((column) => locked.includes(column.name));
    this.sums = places.map((place, e) => ({
      intercept: model.ensembles[e].path[place].intercept,
      terms: model.terms(e, place).map((t) => this.term(t)),
    }));
    this.now = { at: this.columns.map((column) => column.now), numbers: this.columns.map((column) => column.from) };
    const up = goal.above !== undefined || goal.class > 0;
    this.reaches = this.columns.map((states, c) => {
      const slopes = this.sums.flatMap((sum) => sum.terms.filter((t) => t.trend && t.column === c));
      return states.states.map((_, to) => reachOf(states, to, slopes, up));
    });
    this.scores = this.sums.map((sum) => this.score(sum, this.now));
    const size = (t) => Math.max(...(t.trend ? t.extremes : [t.weight]).map(Math.abs));
    this.slack = this.sums.map((sum) => 1e-9 * sum.terms.reduce((s, t) => s + size(t), Math.abs(sum.intercept) + Math.abs(this.offset)));
    this.weighGains();
  }

  // A rule with its parts, or a trend with the place of its column and the least and the most that it adds.
  term({ rule, weight }) {
    if (!rule.trend) return { weight, parts: this.parts(rule) };
    const { trend } = rule;
    const column = this.columns.findIndex((states) => states.name === trend.column);
    const extremes = trendEnds(trend).map((value) => weight * value);
    return { weight, trend, column, extremes: extremes.sort((a, b) => a - b) };
  }

  parts(rule) {
    return this.columns.flatMap((states, column) => {
      const own = rule.conditions.filter((c) => c.column === states.name).map((c) => states.truth(c));
      if (own.length === 0) return [];
      const truth = own[0].map((_, s) => own.every((t) => t[s]));
      const others = states.states
        .map((_, s) => s)
        .filter((s) => states.isOpen(s));
      return [{ column, truth, canHold: others.some((s) => truth[s]), canFail: others.some((s) => !truth[s]) }];
    });
  }

  score(sum, { at, numbers }) {
    const rules = sum.terms.reduce((score, t) => {
      if (t.trend) return score + t.weight * trendValue(t.trend, numbers[t.column]);
      return t.parts.every((p) => p.truth[at[p.column]]) ? score + t.weight : score;
    }, sum.intercept);
    return rules + this.offset;
  }

  // By how much the change of a column could raise and lower each score.
  weighGains() {
    const zeros = () => this.sums.map(() => this.columns.map(() => 0));
    this.up = zeros();
    this.down = zeros();
    this.sums.forEach((sum, e) => {
      for (const term of sum.terms) {
        const credit = (column, gain) => {
          if (gain > 0) this.up[e][column] += gain;
          else this.down[e][column] -= gain;
        };
        if (term.trend) {
          const own = term.weight * trendValue(term.trend, this.now.numbers[term.column]);
          if (!this.locked[term.column]) {
            this.up[e][term.column] += Math.max(0, term.extremes[1] - own);
            this.down[e][term.column] += Math.max(0, own - term.extremes[0]);
          }
          continue;
        }
        const failing = term.parts.filter((p) => !p.truth[this.now.at[p.column]]);
        if (failing.length === 0) {
          term.parts
            .filter((p) => p.canFail && !this.locked[p.column])
            .forEach((p) => credit(p.column, -term.weight));
        } else if (failing.every((p) => p.canHold && !this.locked[p.column])) {
          failing.forEach((p) => credit(p.column, term.weight / failing.length));
        }
      }
    });
    // One without gains may still be needed: to keep a rule from holding that another change would make hold.
    this.free = this.columns.map((_, c) => c).filter((c) => !this.locked[c]);
    const most = (gains) =>
      Array.from({ length: this.free.length + 1 }, (_, from) => {
        let sum = 0;
        return [
          0,
          ...this.free
            .slice(from)
            .map((c) => gains[c])
            .sort((a, b) => b - a)
            .map((gain) => (sum += gain)),
        ];
      });
    this.mostUp = this.up.map(most);
    this.mostDown = this.down.map(most);
  }

  isMet(scores) {
    const predicted = this.model.predict(scores, this.exposure);
    if (this.goal.class !== undefined) return predicted.label === this.goal.class;
    const value = this.model.goalValue(predicted);
    return this.goal.below !== undefined ? value < this.goal.below : value > this.goal.above;
  }

  isPossible(low, high) {
    if (low.length > 1) return this.isMet(low.map((l, e) => (e === this.goal.class ? high[e] : l)));
    return this.isMet(this.goal.class === 0 || this.goal.below !== undefined ? low : high);
  }

  mayReach(chosen, from, more) {
    const reach = (gains, most) => chosen.reduce((sum, c) => sum + gains[c], 0) + most[from][more];
    const low = this.scores.map((s, e) => s - reach(this.down[e], this.mostDown[e]) - this.slack[e]);
    const high = this.scores.map((s, e) => s + reach(this.up[e], this.mostUp[e]) + this.slack[e]);
    return this.isPossible(low, high);
  }

  sets(chosen, from, more, found, smaller) {
    this.nodes += 1;
    const has = (set) => set.every((c) => chosen.includes(c));
    if (this.nodes > MOST_NODES || smaller.some((f) => has(f.set))) return;
    if (!this.mayReach(chosen, from, more)) {
      this.open = true;
      return;
    }
    if (more === 0) {
      const best = { steps: Infinity, states: null };
      this.tryStates(chosen, 0, 0, this.row(), best);
      if (best.states) found.push({ set: [...chosen], ...best });
      else this.open = true;
      return;
    }
    for (let place = from; place <= this.free.length - more; place += 1) {
      this.sets([...chosen, this.free[place]], place + 1, more - 1, found, smaller);
    }
  }

  // The states of all columns of `set` that reach the goal at the fewest steps, the first of them in order.
  tryStates(set, next, steps, row, best) {
    this.nodes += 1;
    if (this.nodes > MOST_NODES || steps + set.length - next >= best.steps) return;
    if (next === set.length) {
      if (this.isMet(this.scoresOf(row))) {
        best.steps = steps;
        best.states = set.map((c) => row.at[c]);
      }
      return;
    }
    const [low, high] = this.range(row, set.slice(next));
    if (!this.isPossible(low, high)) return;
    const c = set[next];
    const column = this.columns[c];
    this.reaches[c].forEach((reach, state) => {
      if (reach === null) return;
      row.at[c] = state;
      row.numbers[c] = reach.best;
      this.tryStates(set, next + 1, steps + column.steps(state), row, best);
    });
    row.at[c] = column.now;
    row.numbers[c] = column.from;
  }

  // The row as it is, to be changed.
  row() {
    return { at: [...this.now.at], numbers: [...this.now.numbers] };
  }

  scoresOf(row) {
    return this.sums.map((sum) => this.score(sum, row));
  }

  range({ at, numbers }, open) {
    const low = this.sums.map((sum, e) => sum.intercept + this.offset - this.slack[e]);
    const high = this.sums.map((sum, e) => sum.intercept + this.offset + this.slack[e]);
    this.sums.forEach((sum, e) => {
      for (const { weight, parts, trend, column, extremes } of sum.terms) {
        if (trend) {
          const own = weight * trendValue(trend, numbers[column]);
          low[e] += open.includes(column) ? extremes[0] : own;
          high[e] += open.includes(column) ? extremes[1] : own;
          continue;
        }
        const canHold = parts.every((p) => (open.includes(p.column) ? p.canHold : p.truth[at[p.column]]));
        if (!canHold) continue;
        const sure = !parts.some((p) => open.includes(p.column) && p.canFail);
        low[e] += sure ? weight : Math.min(weight, 0);
        high[e] += sure ? weight : Math.max(weight, 0);
      }
    });
    return [low, high];
  }

  // {met, complete, answers: [{steps, changes: [{column, from, example, text, steps}], scores, prediction}]}
  run(most = 5) {
    const met = this.isMet(this.scores);
    let all = [];
    for (let size = 1; !met && size <= this.free.length; size += 1) {
      const found = [];
      this.open = false;
      this.sets([], 0, size, found, all);
      found.sort((a, b) => a.steps - b.steps || a.set.map((c, i) => c - b.set[i]).find((d) => d !== 0) || 0);
      all = all.concat(found);
      if (all.length >= most || this.nodes > MOST_NODES || !this.open) break;
    }
    return {
      met,
      complete: this.nodes <= MOST_NODES,
      answers: all.slice(0, most).map((found) => this.answer(found)),
    };
  }

  answer({ set, states, steps }) {
    const start = this.row();
    const places = set.map((c, i) => ({ c, state: states[i], reach: this.reaches[c][states[i]] }));
    places.forEach(({ c, state }) => {
      start.at[c] = state;
    });
    const having = (number) => {
      const row = { at: start.at, numbers: [...start.numbers] };
      places.forEach(({ c, reach }) => {
        row.numbers[c] = number(reach);
      });
      return row;
    };
    const met = (row) => this.isMet(this.scoresOf(row));
    const sliding = places.some(({ reach }) => slides(reach));
    // Where any number of the intervals does, there is no more to say.
    const anywhere = !sliding || met(having((reach) => reach.worst));
    const part = sliding ? leastPart((x) => met(having((reach) => along(reach, x)))) : 0;
    let row = having((reach) => along(reach, part));
    places
      .filter(({ reach }) => slides(reach))
      .forEach(({ c, reach }) => {
        row.numbers[c] = readable(reach, row.numbers[c], this.columns[c].whole);
      });
    if (!met(row)) row = having((reach) => reach.best);
    const changes = places.map(({ c, state, reach }) => {
      const column = this.columns[c];
      const x = row.numbers[c];
      return {
        column: column.name,
        from: column.from,
        example: slides(reach) ? x : column.example(state),
        text: slides(reach) && !anywhere ? column.text(state, x, reach.best) : column.text(state),
        steps: column.steps(state),
      };
    });
    const scores = this.scoresOf(row);
    return { changes, steps, scores, prediction: this.model.predict(scores, this.exposure) };
  }
}
