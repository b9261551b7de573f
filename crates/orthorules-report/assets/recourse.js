// What would change a prediction: the least sets of columns whose values would have to be others. The same search as
// the engine's, state by state and tie by tie; docs/report.md says what it promises.

const MOST_NODES = 300000;

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
    const numbers = this.columns.map((column) => column.number);
    // `ends` are the least and the largest number that a column may still have.
    this.now = { at: this.columns.map((column) => column.now), numbers, ends: numbers.map((x) => [x, x]) };
    const up = goal.above !== undefined || goal.class > 0;
    this.reaches = this.columns.map((states, c) => {
      const slopes = this.sums.flatMap((sum) => sum.terms.filter((t) => t.trend && t.column === c));
      const several = this.sums.length > 1;
      const reach = (to) => (several ? reachOfSeveral(states, to, slopes) : reachOf(states, to, slopes, up));
      return states.states.map((_, to) => reach(to));
    });
    this.scores = this.sums.map((sum) => this.score(sum, this.now));
    const size = (t) => Math.max(...(t.trend ? t.extremes : [t.weight]).map(Math.abs));
    this.slack = this.sums.map((sum) => {
      const constant = Math.abs(sum.intercept) + Math.abs(this.offset);
      return 1e-9 * sum.terms.reduce((s, t) => s + size(t), constant);
    });
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
      if (this.reached(row)) {
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
      this.place(row, c, state, reach);
      this.tryStates(set, next + 1, steps + column.steps(state), row, best);
    });
    this.put(row, c, column.now, column.number);
  }

  put(row, c, state, x) {
    row.at[c] = state;
    row.numbers[c] = x;
    row.ends[c] = [x, x];
  }

  // Gives a column a state: with its best number, or with all numbers where several scores slope.
  place(row, c, state, reach) {
    this.put(row, c, state, reach.best);
    if (this.sums.length > 1 && slides(reach)) row.ends[c] = [reach.worst, reach.best];
  }

  copied({ at, numbers, ends }) {
    return { at: [...at], numbers: [...numbers], ends: [...ends] };
  }

  // The row as it is, to be changed.
  row() {
    return this.copied(this.now);
  }

  slidingIn(row) {
    return [...row.ends.keys()].filter((c) => typeof row.ends[c][0] === 'number' && row.ends[c][0] < row.ends[c][1]);
  }

  // A row with numbers at which the goal is met, if there are any between the ends that `row` has.
  reached(row) {
    const sliding = this.slidingIn(row);
    if (sliding.length === 0) return this.isMet(this.scoresOf(row)) ? row : null;
    this.nodes += 1;
    const margins = this.margins(row, sliding);
    const least = -this.slack.reduce((sum, s) => sum + s, 0);
    if (this.nodes > MOST_NODES || margins.some((m) => mostMargin(m) < least)) return null;
    const [parts, margin] = furthestAhead(margins);
    if (margin < least) return null;
    const found = this.copied(row);
    sliding.forEach((c, j) => {
      const [low, high] = row.ends[c];
      found.numbers[c] = parts[j] >= 1 ? high : low + parts[j] * (high - low);
    });
    const c = sliding.find((k) => this.columns[k].whole && !Number.isInteger(found.numbers[k]));
    if (c === undefined) {
      found.ends = found.numbers.map((x) => [x, x]);
      return this.isMet(this.scoresOf(found)) ? found : null;
    }
    // A whole number lies on one side of it.
    const [[low, high], x] = [row.ends[c], found.numbers[c]];
    for (const ends of [[low, Math.floor(x)], [Math.ceil(x), high]]) {
      const narrower = this.copied(row);
      narrower.numbers[c] = ends[0];
      narrower.ends[c] = ends;
      const inside = this.reached(narrower);
      if (inside) return inside;
    }
    return null;
  }

  // By how much the wished class is ahead of each other one, where numbers of the `sliding` columns are not known yet.
  margins(row, sliding) {
    const low = this.copied(row);
    sliding.forEach((c) => {
      low.numbers[c] = row.ends[c][0];
    });
    const base = this.scoresOf(low);
    const gain = (e, c) =>
      this.sums[e].terms
        .filter((t) => t.trend && t.column === c)
        .map((t) => row.ends[c].map((x) => t.weight * trendValue(t.trend, x)))
        .reduce((sum, [from, to]) => sum + (to - from), 0);
    const wished = this.goal.class;
    return [...base.keys()]
      .filter((e) => e !== wished)
      .map((e) => ({ base: base[wished] - base[e], gains: sliding.map((c) => gain(wished, c) - gain(e, c)) }));
  }

  scoresOf(row) {
    return this.sums.map((sum) => this.score(sum, row));
  }

  range({ at, ends }, open) {
    const low = this.sums.map((sum, e) => sum.intercept + this.offset - this.slack[e]);
    const high = this.sums.map((sum, e) => sum.intercept + this.offset + this.slack[e]);
    this.sums.forEach((sum, e) => {
      for (const { weight, parts, trend, column, extremes } of sum.terms) {
        if (trend) {
          const own = open.includes(column) ? extremes : ends[column].map((x) => weight * trendValue(trend, x));
          low[e] += Math.min(...own);
          high[e] += Math.max(...own);
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
    // What was found once is found again.
    this.nodes = 0;
    const start = this.row();
    const several = this.sums.length > 1;
    const places = set.map((c, i) => {
      const reach = this.reaches[c][states[i]];
      this.place(start, c, states[i], reach);
      return { c, state: states[i], reach: { ...reach }, ends: [reach.worst, reach.best], sliding: slides(reach) };
    });
    const everywhere = several && this.meetsAll(start);
    const furthestRow = several ? this.reached(start) : null;
    if (furthestRow)
      places.forEach(({ c, reach, sliding }) => {
        if (sliding) reach.best = furthestRow.numbers[c];
      });
    const having = (number) => {
      const row = this.copied(start);
      places.forEach(({ c, state, reach }) => this.put(row, c, state, number(reach)));
      return row;
    };
    const met = (row) => this.isMet(this.scoresOf(row));
    const sliding = places.some((place) => place.sliding);
    // Where any number of the intervals does, there is no more to say.
    const anywhere = everywhere || !sliding || (!several && met(having((reach) => reach.worst)));
    const part = sliding ? leastPart((x) => met(having((reach) => along(reach, x)))) : 0;
    let row = having((reach) => along(reach, part));
    places
      .filter((place) => place.sliding)
      .forEach(({ c, reach }) => {
        const x = readable(reach, row.numbers[c], this.columns[c].whole);
        row.numbers[c] = this.columns[c].plain(x, reach.best);
      });
    if (!met(row)) row = having((reach) => reach.best);
    const text = (place) => {
      const { c, state, reach } = place;
      if (!place.sliding || anywhere) return this.columns[c].text(state);
      return several ? this.partOf(place, row) : this.columns[c].text(state, row.numbers[c], reach.best);
    };
    const changes = places.map((place) => {
      const column = this.columns[place.c];
      return {
        column: column.name,
        from: column.from,
        example: place.sliding ? row.numbers[place.c] : column.example(place.state),
        text: text(place),
        steps: column.steps(place.state),
      };
    });
    const scores = this.scoresOf(row);
    return { changes, steps, scores, prediction: this.model.predict(scores, this.exposure) };
  }

  // Whether all numbers between the ends that `row` has meet the goal, several scores sloping.
  meetsAll(row) {
    const sliding = this.slidingIn(row);
    const most = this.slack.reduce((sum, s) => sum + s, 0);
    return sliding.length > 0 && this.margins(row, sliding).every((m) => leastMargin(m) > most);
  }

  // The part of an interval that does, where several scores slope: from the number that `row` has away from what it
  // was.
  partOf({ c, state, reach, ends }, row) {
    const [column, x] = [this.columns[c], row.numbers[c]];
    const up = reach.best === reach.near ? !column.falls(state) : reach.best > reach.near;
    const end = ends[Number(up)];
    const met = (y) => {
      const other = this.copied(row);
      this.put(other, c, state, y);
      return this.isMet(this.scoresOf(other));
    };
    const far = furthest(x, end, column.whole, met);
    return column.text(state, x, end, far === end ? undefined : far);
  }
}
