// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the time to encode and decode one message, with Clearway's standard codec, a naive implementation of it, and other libraries.
// Usage: node ts/clearway/bench/codec.mjs [ROUNDS]. Every round runs all codecs. Prints the 10 % quantile and the median of the rounds, in
// microseconds per message, and the ratio of the medians to ours. msgpackr and cbor-x run without records, their format in which
// messages share the names of properties.
import v8 from "node:v8";
import { Encoder } from "cbor-x";
import { standardMessageCodec as standard } from "clearway/channel";
import { Packr } from "msgpackr";
import { messages } from "./codec/mixed.mjs";
import * as naive from "./codec/naive.mjs";

const rounds = Number(process.argv[2] ?? 40);
const place = new Uint8Array(1 << 16);
const packr = new Packr({ useRecords: false });
const cbor = new Encoder({ useRecords: false, mapsAsObjects: true });

// The messages of msgpackr and cbor-x are views of memory that later messages share, and the lists that they decode are views of the
// message. `encodeInto` and `owned` do the same. Without them, our messages and lists have their own memory.
const ours = "clearway, encodeInto and owned";
const codecs = {
  [ours]: [(value) => standard.encodeInto(value, place), (bytes) => standard.decode(bytes, { owned: true })],
  "clearway, encode and decode": [(value) => standard.encode(value), (bytes) => standard.decode(bytes)],
  naive: [naive.encode, naive.decode],
  msgpackr: [(value) => packr.pack(value), (bytes) => packr.unpack(bytes)],
  "cbor-x": [(value) => cbor.encode(value), (bytes) => cbor.decode(bytes)],
  "v8.serialize": [v8.serialize, v8.deserialize],
  structuredClone: [(value) => value, structuredClone],
  JSON: [JSON.stringify, JSON.parse],
};

function time(run, argument, count) {
  const start = process.hrtime.bigint();
  for (let at = 0; at < count; at++) run(argument);
  return Number(process.hrtime.bigint() - start) / count / 1000;
}

for (const [title, value] of Object.entries(messages)) {
  const samples = Object.fromEntries(Object.keys(codecs).map((name) => [name, []]));
  const count = title.startsWith("mixed") ? 500 : 5000;
  for (let round = -5; round < rounds; round++) {
    // The order is random, because a codec also pays for collecting the garbage of the codec before it.
    const order = Object.entries(codecs);
    for (const [name, [encode, decode]] of order.sort(() => Math.random() - 0.5)) {
      // Decodes a message in separate memory, as on the other side. `encodeInto` reuses its memory.
      const message = name === ours ? standard.encode(value) : encode(value);
      const both = [time(encode, value, count), time(decode, message, count)];
      if (round >= 0) samples[name].push([...both, both[0] + both[1]]);
    }
  }
  const at = (name, column, share) => {
    const sorted = samples[name].map((each) => each[column]).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * share)];
  };
  console.log(
    `\n${title}, ${standard.encode(value).length} bytes     encode, decode, both: fastest tenth (median), us`,
  );
  for (const name of Object.keys(codecs)) {
    const figures = [0, 1, 2].map(
      (column) => `${at(name, column, 0.1).toFixed(2)} (${at(name, column, 0.5).toFixed(2)})`,
    );
    const ratio = (at(name, 2, 0.5) / at(ours, 2, 0.5)).toFixed(2);
    console.log(`  ${name.padEnd(32)}${figures.map((each) => each.padStart(16)).join("")}   x ${ratio}`);
  }
}
