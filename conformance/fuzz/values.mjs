// SPDX-License-Identifier: MIT OR Apache-2.0
// Generates random values in the notation of README.md.

const floats = [
  "NaN",
  "Infinity",
  "-Infinity",
  "-0",
  0,
  1,
  0.1,
  5e-324,
  2.2250738585072014e-308,
  1.7976931348623157e308,
];
const edges = [
  0,
  1,
  -1,
  0x7fff_ffff,
  -0x8000_0000,
  0x8000_0000,
  -0x8000_0001,
  2 ** 53 - 1,
  1 - 2 ** 53,
  253,
  254,
  65536,
];
const characters = [
  "a",
  "Z",
  "0",
  " ",
  '"',
  "\\",
  "/",
  "\n",
  "\u0000",
  "\u001f",
  "\u007f",
  "é",
  "☺",
  "\u2028",
  "😂",
  "\uffff",
];

const isIndexLike = (text) => /^\d/.test(text);
const shown = (value) =>
  Number.isFinite(value) && !Object.is(value, -0) ? value : Object.is(value, -0) ? "-0" : `${value}`;

/** Returns a special float64, a power of two, a short decimal, or random bits, in which every exponent has the same probability. */
export function randomFloat(random) {
  if (random.chance(1, 4)) return random.pick(floats);
  // The two neighbours of a power of two are at different distances from it. Algorithms for the shortest decimal tend to fail there.
  if (random.chance(1, 4)) return 2 ** (random.below(2098) - 1074);
  if (random.chance(1, 4)) return Number(`${random.below(1e6)}e${random.below(40) - 20}`);
  return shown(new Float64Array(BigUint64Array.of(random.wide()).buffer)[0]);
}

export function randomText(random) {
  if (random.chance(1, 40)) return "x".repeat(random.pick([252, 253, 254, 255, 300, 65535, 65536]));
  return random.many(12, () => random.pick(characters)).join("");
}

function randomInteger(random) {
  if (random.chance(1, 3)) return random.pick(edges);
  if (random.chance(1, 2)) return random.below(2000) - 1000;
  if (random.chance(1, 2)) return { int64: `${BigInt.asIntN(64, random.wide())}` };
  const digits = `${random.wide().toString(16)}${random.wide().toString(16)}`.repeat(1 + random.below(3));
  return { bigint: `${random.pick(["", "-"])}0x${digits.slice(0, 1 + random.below(digits.length))}` };
}

const float32 = (random) => shown(new Float32Array(Uint32Array.of(random.bits()).buffer)[0]);
const lists = {
  uint8: (random) => random.below(256),
  int32: (random) => random.bits() | 0,
  float32,
  float64list: randomFloat,
  int64list: (random) => `${BigInt.asIntN(64, random.wide())}`,
};

function randomNumbers(random) {
  if (random.chance(1, 30)) return { uint8len: random.pick([0, 252, 253, 254, 255, 256, 65535, 65536]) };
  const [form, make] = random.pick(Object.entries(lists));
  return { [form]: random.many(6, () => make(random)) };
}

function randomMap(random, depth, plain) {
  const entries = new Map();
  for (let left = random.below(5); left > 0; left--) {
    const key = plain || random.chance(2, 3) ? randomText(random) : randomValue(random, depth - 1, plain);
    // JavaScript puts index-like keys before the others. The JSON of other languages does not, so such keys are left out.
    if (plain && isIndexLike(key)) continue;
    entries.set(JSON.stringify(key), [key, randomValue(random, depth - 1, plain)]);
  }
  return { map: [...entries.values()] };
}

/** Returns a random value. With `plain`, the value has a form that JSON can express. */
export function randomValue(random, depth, plain) {
  switch (random.below(depth > 0 ? 11 : 8)) {
    case 0:
      return null;
    case 1:
      return random.chance(1, 2);
    case 2:
    case 3:
      return randomInteger(random);
    case 4:
      return { float64: randomFloat(random) };
    case 5:
    case 6:
      return randomText(random);
    case 7:
      return randomNumbers(random);
    case 8:
      return randomMap(random, depth, plain);
    default:
      return random.many(5, () => randomValue(random, depth - 1, plain));
  }
}

/** Returns a call, a success or an error of a method. */
export function randomMethod(random, depth, plain) {
  const value = () => randomValue(random, depth, plain);
  const orNull = () => (random.chance(1, 3) ? null : randomText(random));
  const form = random.below(3);
  if (form === 0) return { call: { method: randomText(random), args: value() } };
  if (form === 1) return { success: value() };
  const stack = random.chance(1, 3) ? { stacktrace: orNull() } : {};
  return { error: { code: randomText(random), message: orNull(), details: value(), ...stack } };
}
