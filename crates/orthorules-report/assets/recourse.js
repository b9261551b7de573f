// What would change a prediction: the least sets of columns whose values would have to be others. The same search
// as the
// engine's, state by state and tie by tie; docs/report.md says what it promises.

const MOST_NODES = 300000;

// Where a condition cuts numbers: before the threshold of >=, after that of <=.
const cutOf = (condition) =>
  condition.op === '<=' ? [condition.value + 0, true] : condition.op === '>=' ? [condition.value + 0, false] : null;

// A column as the rules of one size see it: values that no condition tells apart are one state.
class States {
  constructor(column, conditions, value) {
    this.column = column;
    this.name = column.name;
    this.from = value === undefined || Number.isNaN(value) ? null : value;
    this.numeric = column.kind === 'numeric';
    if (this.numeric) this.cutNumbers(conditions);
    else this.joinLevels(conditions);
    this.known = this.now < this.states.length;
  }

  cutNumbers(conditions) {
    const cuts = conditions.map(cutOf).filter((cut) => cut !== null);
    cuts.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.cuts = cuts.filter((cut, i) => i === 0 || cut[0] !== cuts[i - 1][0] || cut[1] !== cuts[i - 1][1]);
    this.states = [...this.cuts, null].map((cut, i) => ({
      low: i > 0 ? { at: this.cuts[i - 1][0], included: !this.cuts[i - 1][1] } : null,
      high: cut ? { at: cut[0], included: cut[1] } : null,
    }));
    if (this.column.flag && this.cuts.length === 1) {
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

  steps(to) {
    return this.numeric && this.known ? Math.abs(this.now - to) : 1;
  }

  // A value of the state: the nearest end where it belongs to the interval; undefined where there is no number
  // between.
  example(to) {
    const state = this.states[to];
    if (state.levels) return state.levels[0];
    const { low, high } = state;
    const falls = to < this.now && this.known;
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

  text(to) {
    const { low, high, levels } = this.states[to];
    const sign = (end) => (end.included ? '<=' : '<');
    if (levels) return `${this.name} = ${levels.join(' or ')}`;
    if (low && high && low.at === high.at) return `${this.name} = ${plain(low.at)}`;
    if (low && high) return `${plain(low.at)} ${sign(low)} ${this.name} ${sign(high)} ${plain(high.at)}`;
    if (low) return `${this.name} ${low.included ? '>=' : '>'} ${plain(low.at)}`;
    return high ? `${this.name} ${sign(high)} ${plain(high.at)}` : `${this.name} present`;
  }
}

// A goal is {class: place}, {below: number} or {above: number}.
class Recourse {
  constructor(model, places, row, goal, locked = [], exposure = 1) {
    Object.assign(this, { model, goal, exposure, nodes: 0, open: true });
    const conditions = places.flatMap((place, e) => model.terms(e, place).flatMap((t) => t.rule.conditions));
    this.columns = model.used(places).map((column) => {
      const value = row[column.name];
      return new States(
        column,
        conditions.filter((c) => c.column === column.name),
        value === undefined ? null : value,
      );
    });
    this.locked = this.columns.map((column) => locked.includes(column.name));
    this.sums = places.map((place, e) => ({
      intercept: model.ensembles[e].path[place].intercept,
      terms: model.terms(e, place).map((t) => ({ weight: t.weight, parts: this.parts(t.rule) })),
    }));
    this.now = this.columns.map((column) => column.now);
    this.scores = this.sums.map((sum) => this.score(sum, this.now));
    this.slack = this.sums.map(
      (sum) => 1e-9 * sum.terms.reduce((s, t) => s + Math.abs(t.weight), Math.abs(sum.intercept)),
    );
    this.weighGains();
  }

  parts(rule) {
    return this.columns.flatMap((states, column) => {
      const own = rule.conditions.filter((c) => c.column === states.name).map((c) => states.truth(c));
      if (own.length === 0) return [];
      const truth = own[0].map((_, s) => own.every((t) => t[s]));
      const others = states.states
        .map((_, s) => s)
        .filter((s) => s !== states.now && states.example(s) !== undefined);
      return [{ column, truth, canHold: others.some((s) => truth[s]), canFail: others.some((s) => !truth[s]) }];
    });
  }

  score(sum, at) {
    return sum.terms.reduce(
      (score, t) => (t.parts.every((p) => p.truth[at[p.column]]) ? score + t.weight : score),
      sum.intercept,
    );
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
        const failing = term.parts.filter((p) => !p.truth[this.now[p.column]]);
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
      this.tryStates(chosen, 0, 0, [...this.now], best);
      if (best.states) found.push({ set: [...chosen], ...best });
      else this.open = true;
      return;
    }
    for (let place = from; place <= this.free.length - more; place += 1) {
      this.sets([...chosen, this.free[place]], place + 1, more - 1, found, smaller);
    }
  }

  // The states of all columns of `set` that reach the goal at the fewest steps, the first of them in order.
  tryStates(set, next, steps, at, best) {
    this.nodes += 1;
    if (this.nodes > MOST_NODES || steps + set.length - next >= best.steps) return;
    if (next === set.length) {
      if (this.isMet(this.sums.map((sum) => this.score(sum, at)))) {
        best.steps = steps;
        best.states = set.map((c) => at[c]);
      }
      return;
    }
    const [low, high] = this.range(at, set.slice(next));
    if (!this.isPossible(low, high)) return;
    const column = this.columns[set[next]];
    column.states.forEach((_, state) => {
      if (state === column.now || column.example(state) === undefined) return;
      at[set[next]] = state;
      this.tryStates(set, next + 1, steps + column.steps(state), at, best);
    });
    at[set[next]] = column.now;
  }

  range(at, open) {
    const low = this.sums.map((sum, e) => sum.intercept - this.slack[e]);
    const high = this.sums.map((sum, e) => sum.intercept + this.slack[e]);
    this.sums.forEach((sum, e) => {
      for (const { weight, parts } of sum.terms) {
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
    const at = [...this.now];
    const changes = set.map((c, i) => {
      at[c] = states[i];
      const column = this.columns[c];
      return {
        column: column.name,
        from: column.from,
        example: column.example(states[i]),
        text: column.text(states[i]),
        steps: column.steps(states[i]),
      };
    });
    const scores = this.sums.map((sum) => this.score(sum, at));
    return { changes, steps, scores, prediction: this.model.predict(scores, this.exposure) };
  }
}
