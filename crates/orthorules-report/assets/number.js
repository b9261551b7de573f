// Numbers for people: three or four significant digits each, signs, shares.

// `x` with so many decimals. Halves go to the even neighbour, as the engine rounds them.
function fixed(x, decimals) {
  const text = x.toFixed(decimals);
  const tail = Math.abs(x)
    .toFixed(Math.min(100, decimals + 30))
    .slice(-30);
  if (!/^50*$/.test(tail) || /[02468]$/.test(text)) return text;
  const below = (Math.abs(x) - 0.25 * 10 ** -decimals).toFixed(decimals);
  return (x < 0 ? '-' : '') + below;
}

// Rounded to nothing, a number has no sign.
const unsignedZero = (text) => (/^-[0.]*$/.test(text) ? text.slice(1) : text);

// With exponents as Rust writes them: 1.5e-7, 2e300. Halves go to the even neighbour here, too.
function scientific(x, digits) {
  const [number, exponent] = x
    .toExponential(digits - 1)
    .replace('e+', 'e')
    .split('e');
  const tail = x
    .toExponential(Math.min(100, digits + 29))
    .split('e')[0]
    .slice(-30);
  const last = Number(number.slice(-1));
  const isOdd = /^50*$/.test(tail) && last % 2 === 1;
  return `${isOdd ? number.slice(0, -1) + (last - 1) : number}e${exponent}`;
}

// What is this much smaller than the largest number of a list is what rounding left of nothing.
const NEGLIGIBLE = 1e-9;
// Lists whose largest number is at least this are scientific.
const LARGE = 9.995e8;

// `x` with so many significant digits, of 1000 and more at least four.
function significant(x, digits) {
  const exponent = Number(scientific(x, digits).split('e')[1]);
  if (exponent < -4 || exponent > 8) return scientific(x, digits);
  const decimals = digits - 1 - exponent;
  return decimals >= 0 ? fixed(x, decimals) : String(Number(scientific(x, Math.max(digits, 4))));
}

// The numbers of one list. Whole numbers from 2 on stay what they are.
function shorts(values, digits = 3) {
  const finite = values.filter(Number.isFinite);
  const largest = Math.max(0, ...finite.map(Math.abs));
  const isWhole = largest >= 2 && largest < 1e7 && finite.every(Number.isInteger);
  return values.map((x) => {
    if (x === null || x === undefined || Number.isNaN(x)) return '–';
    if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf';
    if (x === 0 || Math.abs(x) < NEGLIGIBLE * largest) return '0';
    if (isWhole) return plain(x);
    return largest >= LARGE ? scientific(x, digits) : significant(x, digits);
  });
}

const short = (x, digits = 4) => shorts([x], digits)[0];

// The numbers of one list, each but 0 with its sign.
const signed = (values, digits = 3) =>
  shorts(values, digits).map((t) => (t === '0' || /^[-–]/.test(t) ? t : `+${t}`));

// The texts of a column of numbers, filled up with blanks of the width of digits, so that their points are in one line.
function pointed(texts) {
  const decimals = texts.map((text) => (/^[-+]?\d+\.\d+$/.test(text) ? text.split('.')[1].length : 0));
  const most = Math.max(0, ...decimals);
  const blanks = (n) => (n === 0 ? '' : (n === most ? '\u2008' : '') + '\u2007'.repeat(n));
  return texts.map((text, i) => text + blanks(most - decimals[i]));
}

// The shortest text that parses back to `x`; scientific where plain digits would be long.
function plain(x) {
  if (x === 0) return '0';
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'NaN' : x > 0 ? 'inf' : '-inf';
  const size = Math.abs(x);
  if (size >= 1e-5 && size < 1e16) {
    const text = String(x);
    return text.includes('e') ? x.toFixed(20).replace(/0+$/, '') : text;
  }
  return x.toExponential().replace('e+', 'e');
}

// `x` with so many significant digits and no zeros after them.
const rounded = (x, digits = 4) => (Number.isFinite(x) ? plain(Number(scientific(x, digits))) : plain(x));

// A number of a table: a whole one as it is, another with four digits; below ten millions with all before its point.
function brief(x) {
  if (Number.isInteger(x)) return plain(x);
  return Math.abs(x) >= 1e4 && Math.abs(x) < 1e7 ? fixed(x, 0) : rounded(x, 4);
}

// A part of 1 in per cent, without pretending that a few are none or nearly all are all.
function percent(part) {
  if (part > 0 && part <= 0.005) return '<1%';
  if (part < 1 && part >= 0.995) return '>99%';
  return `${fixed(100 * part, 0)}%`;
}

const share = (part, whole) => percent(part / Math.max(whole, 1));

// How many of a hundred, in words where rounding would say none or all.
function ofHundred(part) {
  const text = fixed(100 * part, 0);
  if (text === '100' && part < 1) return 'more than 99';
  return text === '0' && part > 0 ? 'fewer than 1' : text;
}

// A probability in per cent, with more digits near 0 and 1.
function chance(p) {
  if (!Number.isFinite(p)) return '–';
  const percent = 100 * p;
  const near = Math.min(percent, 100 - percent);
  if (percent > 0 && percent < 0.01) return '<0.01%';
  if (percent < 100 && percent > 99.99) return '>99.99%';
  return `${fixed(percent, near === 0 || near >= 9.95 ? 0 : near >= 0.95 ? 1 : 2)}%`;
}

const whole = (n) => String(n);

// Round numbers along an axis, with as many decimals as the longest needs.
function alongAxis(values) {
  const texts = values.map(plain);
  if (texts.some((text) => text.includes('e'))) return texts;
  const decimals = Math.max(...texts.map((text) => (text.split('.')[1] || '').length));
  return values.map((x) => unsignedZero(fixed(x, decimals)));
}

const counted = (n, thing) => `${whole(n)} ${thing}${n === 1 ? '' : 's'}`;
