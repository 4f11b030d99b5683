// SPDX-License-Identifier: MIT OR Apache-2.0
// Generates random cases: values to encode, and bytes to decode. Most of these bytes are TypeScript's encoding of a random value, or
// mutations of it. The cases of a seed are the same on every machine.
import { answer } from "../ts/answer.mjs";

/** Returns a source of numbers. `below(n)` returns a whole number from 0 to n - 1. */
export function randomFrom(seed) {
  // splitmix32 with 32 bits of state. Every seed has its own sequence.
  let state = seed >>> 0;
  const bits = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (n) => Math.floor((bits() / 0x1_0000_0000) * n);
  return {
    bits,
    below,
    chance: (one, of) => below(of) < one,
    pick: (choices) => choices[below(choices.length)],
    many: (max, make) => Array.from({ length: below(max + 1) }, make),
    /** Returns 64 random bits. */
    wide: () => (BigInt(bits()) << 32n) | BigInt(bits()),
  };
}

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
function randomFloat(random) {
  if (random.chance(1, 4)) return random.pick(floats);
  // The two neighbours of a power of two are at different distances from it. Algorithms for the shortest decimal tend to fail there.
  if (random.chance(1, 4)) return 2 ** (random.below(2098) - 1074);
  if (random.chance(1, 4)) return Number(`${random.below(1e6)}e${random.below(40) - 20}`);
  return shown(new Float64Array(BigUint64Array.of(random.wide()).buffer)[0]);
}

function randomText(random) {
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
function randomValue(random, depth, plain) {
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
function randomMethod(random, depth, plain) {
  const value = () => randomValue(random, depth, plain);
  const orNull = () => (random.chance(1, 3) ? null : randomText(random));
  const form = random.below(3);
  if (form === 0) return { call: { method: randomText(random), args: value() } };
  if (form === 1) return { success: value() };
  const stack = random.chance(1, 3) ? { stacktrace: orNull() } : {};
  return { error: { code: randomText(random), message: orNull(), details: value(), ...stack } };
}

// Bytes that are almost valid messages: mutated messages, and random bytes.

const bytesThatMatter = [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 127, 128, 253, 254, 255];
const partsOfJson = [
  ...'[]{}",:\\-+.0123456789eE \n\ttfn/u',
  ...[
    "null",
    "true",
    "false",
    "\\u",
    "\\ud83d",
    "\\ude02",
    "\\ud83d\\ude02",
    '"a":',
    "1e9",
    "-0",
    "\\n",
    '"',
    "[[[[",
    "{}",
  ],
].map((text) => [...Buffer.from(text)]);
const parts = {
  json: [...partsOfJson, [0xff], [0xc3, 0xa9], [0xe2, 0x98], [0xf0, 0x9f, 0x98, 0x82], [0]],
  standard: [
    ...bytesThatMatter.map((byte) => [byte]),
    [0xfe, 0xff, 0xff],
    [0xff, 0xff, 0xff, 0xff, 0xff],
    [0xff, 1, 0, 0, 0],
  ],
};

const insert = (bytes, at, more) => [...bytes.slice(0, at), ...more, ...bytes.slice(at)];

// Puts the message into nested lists, up to about the maximum depth of a message. In the standard codec, a list of one value is 0C 01.
function nested(random, bytes, codec) {
  const depth = 124 + random.below(8);
  if (!codec.startsWith("json")) return [...new Array(depth).fill([0x0c, 1]).flat(), ...bytes];
  return [...new Array(depth).fill(0x5b), ...bytes, ...new Array(depth).fill(0x5d)];
}

/** Returns the message with one mutation. `others` are messages from which the mutation may take parts. */
function mutate(random, bytes, codec, others) {
  const at = random.below(bytes.length + 1);
  const size = 1 + random.below(4);
  const dictionary = codec.startsWith("json") ? parts.json : parts.standard;
  if (random.chance(1, 20)) return nested(random, bytes, codec);
  switch (random.below(8)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return [...bytes.slice(0, at), ...bytes.slice(at + size)];
    case 2:
      return insert(bytes, at, random.pick(dictionary));
    case 3:
      return [...bytes.slice(0, at), random.below(256), ...bytes.slice(at + 1)];
    case 4:
      return [...bytes.slice(0, at), ...random.pick(dictionary), ...bytes.slice(at + size)];
    case 5:
      return insert(bytes, at, bytes.slice(at, at + size * 4));
    case 6: {
      const other = random.pick(others);
      return insert(bytes.slice(0, at), at, other.slice(random.below(other.length + 1)));
    }
    default:
      return insert(bytes, at, [random.below(256)]);
  }
}

/** Returns a text like a JSON number. It may have many digits or be close to the limits of a float64. */
function randomNumberText(random) {
  const digits = (max) => random.many(max, () => random.below(10)).join("");
  const long = random.chance(1, 8) ? 900 : 25;
  const exponent = random.chance(1, 2) ? `e${random.pick(["", "-", "+"])}${random.below(400)}` : "";
  return `${random.pick(["", "-"])}${random.below(10)}${digits(long)}.${random.below(10)}${digits(long)}${exponent}`;
}

/** Returns random bytes, made of parts that decoders treat specially. */
function randomBytes(random, codec) {
  const dictionary = codec.startsWith("json") ? parts.json : parts.standard;
  return random.many(24, () => random.pick(dictionary)).flat();
}

const codecs = ["standard", "standard", "standard-method", "json", "json-method", "string", "binary"];

function randomEncode(random, codec) {
  const plain = codec.startsWith("json");
  const depth = random.below(5);
  if (codec === "string") return { codec, op: "encode", value: randomText(random) };
  if (codec === "binary") return { codec, op: "encode", value: { uint8: random.many(9, () => random.below(256)) } };
  const value = codec.endsWith("-method") ? randomMethod(random, depth, plain) : randomValue(random, depth, plain);
  return { codec, op: "encode", value };
}

/** Yields cases without end. `others` are messages, as arrays of bytes. Mutations start with them or take parts from them. */
export function* casesFrom(random, others) {
  for (;;) {
    const codec = random.pick(codecs);
    const encode = randomEncode(random, codec);
    yield encode;
    const as = codec.endsWith("-method") ? { as: "call" in encode.value ? "call" : "reply" } : {};
    const decode = (bytes) => ({ codec, op: "decode", ...as, hex: Buffer.from(bytes).toString("hex") });
    const { hex } = answer({ id: "", ...encode });
    let bytes = hex === undefined ? randomBytes(random, codec) : [...Buffer.from(hex, "hex")];
    // A message of 64 KiB is cut, because mutating it finds no more than mutating a short one.
    if (bytes.length > 1024) bytes = bytes.slice(0, 1024);
    if (random.chance(1, 8)) bytes = randomBytes(random, codec);
    if (random.chance(1, 8)) bytes = [...random.pick(others)];
    if (codec === "json" && random.chance(1, 8)) bytes = [...Buffer.from(randomNumberText(random))];
    yield decode(bytes);
    for (let times = random.below(4); times > 0; times--) {
      bytes = mutate(random, bytes, codec, others);
      yield decode(bytes);
    }
  }
}
