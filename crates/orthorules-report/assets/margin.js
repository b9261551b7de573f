// Where several scores slope: the point of some intervals at which a class is furthest ahead of all others. As
// model/recourse/margin.rs has it, by the simplex method.

// What is less than this part of the largest number is rounding.
const MARGIN_ROUNDING = 1e-12;
const MOST_EXCHANGES = 10000;

const leastMargin = ({ base, gains }) => base + gains.reduce((sum, gain) => sum + Math.min(gain, 0), 0);
const mostMargin = ({ base, gains }) => base + gains.reduce((sum, gain) => sum + Math.max(gain, 0), 0);

// The parts of the way through their intervals at which the least of the margins {base, gains} is the largest, and what
// it is there.
function furthestAhead(margins) {
  const parts = solvedParts(margins);
  const at = ({ base, gains }) => base + gains.reduce((sum, gain, j) => sum + gain * parts[j], 0);
  return [parts, Math.min(...margins.map(at))];
}

// Variable 0 is how far ahead, parts follow, then what rows leave. Rows are [variable, takes, is].
function solvedParts(margins) {
  const numbers = margins[0].gains.length;
  const parts = Array(numbers).fill(0);
  const least = Math.min(...margins.map((m) => m.base));
  const scale = Math.max(...margins.flatMap((m) => [m.base - least, ...m.gains.map(Math.abs)]));
  // Less than the least number with all its digits.
  if (!(scale >= 2.2250738585072014e-308 && scale < Infinity)) return parts;
  const unit = (place) => Array.from({ length: numbers + 1 }, (_, k) => Number(k === place));
  const ahead = margins.map((m) => [[1, ...m.gains.map((gain) => -gain / scale)], (m.base - least) / scale]);
  const bounded = [...ahead, ...parts.map((_, j) => [unit(j + 1), 1])];
  const rows = bounded.map(([takes, is], i) => [numbers + 1 + i, takes, is]);
  const profits = unit(0);
  const zeros = Array.from({ length: numbers + 1 }, (_, k) => k);
  const first = (places, before) => places.reduce((best, i) => (best < 0 || before(i, best) ? i : best), -1);
  for (let step = 0; step < MOST_EXCHANGES; step += 1) {
    const gains = [...zeros.keys()].filter((k) => profits[k] > MARGIN_ROUNDING);
    const enters = first(gains, (a, b) => zeros[a] < zeros[b]);
    if (enters < 0) break;
    const ratio = (i) => rows[i][2] / rows[i][1][enters];
    const limits = [...rows.keys()].filter((i) => rows[i][1][enters] > MARGIN_ROUNDING);
    const before = (a, b) => ratio(a) < ratio(b) || (ratio(a) === ratio(b) && rows[a][0] < rows[b][0]);
    const leaves = first(limits, before);
    if (leaves < 0) break;
    exchange(rows, profits, zeros, enters, leaves);
  }
  for (const [variable, , is] of rows) {
    if (variable >= 1 && variable <= numbers) parts[variable - 1] = Math.min(Math.max(is, 0), 1);
  }
  return parts;
}

// The variable at place `enters` of those that are 0 takes the row `leaves`, whose variable becomes 0.
function exchange(rows, profits, zeros, enters, leaves) {
  const row = rows[leaves];
  const pivot = row[1][enters];
  [row[0], zeros[enters]] = [zeros[enters], row[0]];
  row[1][enters] = 1;
  row[1] = row[1].map((take) => take / pivot);
  row[2] /= pivot;
  const follow = (others) => {
    const factor = others[enters];
    others[enters] = 0;
    row[1].forEach((take, k) => {
      others[k] -= factor * take;
    });
    return factor;
  };
  rows.forEach((other, i) => {
    if (i !== leaves) other[2] = Math.max(other[2] - follow(other[1]) * row[2], 0);
  });
  follow(profits);
}
