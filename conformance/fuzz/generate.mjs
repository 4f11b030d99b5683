// SPDX-License-Identifier: MIT OR Apache-2.0
// Generates random cases: values to encode, and bytes to decode. Most of these bytes are TypeScript's encoding of a random value, or
// mutations of it.
import { answer } from "../ts/answer.mjs";
import { mutate, randomBytes, randomNumberText } from "./messages.mjs";
import { randomMethod, randomText, randomValue } from "./values.mjs";

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
