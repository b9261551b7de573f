// The columns of a row as the rules of one size see them, and how far the numbers of their intervals go.

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
    const x = this.number;
    const isWhole = (value) => value === null || Number.isInteger(value);
    // No age is between 53 and 54 years.
    this.whole = isWhole(x) && this.cuts.length > 0 && this.cuts.every((cut) => isWhole(cut[0]));
    this.now =
      typeof x === 'number' ? this.cuts.filter(([t, after]) => (after ? x > t : x >= t)).length : this.states.length;
  }

  // The row's own number; nothing where it is missing or a special code.
  get number() {
    return this.numeric && specialName(this.column, this.from) !== null ? null : this.from;
  }

  joinLevels(conditions) {
    const byTruth = new Map();
    const levels = conditions.flatMap((c) => (typeof c.value === 'number' ? [] : c.value));
    const named = levels.filter((v) => v !== undefined);
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
      if (condition.op === '<=') return i <= place;
      return condition.op === '>=' ? i > place : ['present', 'is not'].includes(condition.op);
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
    const ends = [this.plain(from, end), this.plain(end, from)];
    return ends[0] <= ends[1] ? ends : null;
  }

  // `x`, or the next number on the way to `end` that is no special code.
  plain(x, end) {
    const way = end < x ? -1 : 1;
    let found = x;
    while (specialName(this.column, found) !== null) found = this.whole ? found + way : nextNumber(found, way);
    return found;
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
    x = this.plain(x, inward * Infinity);
    const above = !low || x > low.at || (low.included && x === low.at);
    const below = !high || x < high.at || (high.included && x === high.at);
    return above && below && Number.isFinite(x) ? x : undefined;
  }

  // The values of a state in words; of an interval the part from `x` on to its end `best`, or up to `far`, where these
  // are given.
  text(to, x, best, far) {
    const { levels } = this.states[to];
    const at = (y) => ({ at: y, included: true });
    const within = far === undefined ? null : [at(Math.min(x, far)), at(Math.max(x, far))];
    const low = within ? within[0] : x === undefined || best < x ? this.states[to].low : at(x);
    const high = within ? within[1] : x === undefined || best > x ? this.states[to].high : at(x);
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

// The same where there are several scores, none of whose ends is best for all of them: those of its ends are told
// instead.
function reachOfSeveral(states, to, slopes) {
  const ends = slopes.length > 0 ? states.ends(to) : null;
  const adds = (s, x) => s.weight * trendValue(s.trend, x);
  if (!ends || slopes.every((s) => adds(s, ends[0]) === adds(s, ends[1]))) return reachOf(states, to, [], true);
  const near = to === states.now ? states.from : ends[states.falls(to) ? 1 : 0];
  return { near, best: ends[1], worst: ends[0] };
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

// The number furthest from `x` towards `end` at which `isMet` is true, as it is at `x` and at all numbers in between.
function furthest(x, end, whole, isMet) {
  if (isMet(end)) return end;
  const back = { near: end, best: x };
  const part = leastPart((p) => isMet(along(back, p)));
  const far = readable(back, along(back, part), whole);
  return isMet(far) ? far : x;
}
