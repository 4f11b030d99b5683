// SPDX-License-Identifier: MIT OR Apache-2.0
// Generates bytes that are almost valid messages: mutated messages, and random bytes.

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
export function mutate(random, bytes, codec, others) {
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
export function randomNumberText(random) {
  const digits = (max) => random.many(max, () => random.below(10)).join("");
  const long = random.chance(1, 8) ? 900 : 25;
  const exponent = random.chance(1, 2) ? `e${random.pick(["", "-", "+"])}${random.below(400)}` : "";
  return `${random.pick(["", "-"])}${random.below(10)}${digits(long)}.${random.below(10)}${digits(long)}${exponent}`;
}

/** Returns random bytes, made of parts that decoders treat specially. */
export function randomBytes(random, codec) {
  const dictionary = codec.startsWith("json") ? parts.json : parts.standard;
  return random.many(24, () => random.pick(dictionary)).flat();
}
