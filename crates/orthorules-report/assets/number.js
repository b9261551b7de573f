// Numbers for people, in the format of the command line: equal precision in a column, signs, shares.

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

const exponentOf = (x) => Math.floor(Math.log10(x));

// As Rust writes exponents: 1.5e-7, 2e300.
const scientific = (x, digits) => x.toExponential(digits - 1).replace('e+', 'e');

// `values` with equally many decimals: `digits` significant ones for the largest, two for the smallest where six
// decimals suffice.
function aligned(values, digits) {
  const sizes = values.map(Math.abs).filter((x) => Number.isFinite(x) && x > 0);
  const largest = Math.max(0, ...sizes);
  const smallest = Math.min(Infinity, ...sizes.filter((x) => x >= largest * 1e-6));
  const far = largest > 0 && !(largest >= 1e-9 && largest < 1e15);
  let decimals = 0;
  if (largest > 0 && !far) {
    const wanted = digits - 1 - exponentOf(largest);
    const most = Math.max(0, Math.min(Math.max(wanted, 6), 14 - exponentOf(largest)));
    decimals = Math.min(most, Math.max(0, wanted, 1 - exponentOf(smallest)));
  }
  return values.map((x) => {
    if (x === null || x === undefined || Number.isNaN(x)) return '–';
    if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf';
    if (far && x !== 0) return scientific(x, digits);
    return unsignedZero(fixed(x, decimals));
  });
}

const alone = (x, digits = 4) => aligned([x], digits)[0];

const signed = (values, digits = 3) => aligned(values, digits).map((t) => (/^[-–]/.test(t) ? t : `+${t}`));

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
const rounded = (x, digits = 4) => (Number.isFinite(x) ? plain(Number(x.toExponential(digits - 1))) : plain(x));

// A part of a whole in per cent, without pretending that a few are none or nearly all are all.
function share(part, whole) {
  const percent = (100 * part) / Math.max(whole, 1);
  if (part > 0 && percent < 0.5) return '<1%';
  if (percent < 100 && percent > 99.5) return '>99%';
  return `${fixed(percent, 0)}%`;
}

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
