// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how much heap a decoded value takes when it is as small as possible in its message. The result chose the default of the
// endpoints' `valuesMax`. Usage: node --expose-gc ts/clearway/bench/codec/values.mjs
import { jsonMessageCodec, standardMessageCodec as standard } from "clearway/channel";

const count = 1 << 20;
const lossless = standard.with({ lossless: true });

/** Returns a list of `count` equal items. */
function listOf(...item) {
  const bytes = new Uint8Array(6 + count * item.length);
  bytes.set([12, 255]);
  new DataView(bytes.buffer).setUint32(2, count, true);
  for (let at = 6; at < bytes.length; at += item.length) bytes.set(item, at);
  return bytes;
}

const text = (item) => new TextEncoder().encode(`[${Array(count).fill(item).join()}]`);
const cases = {
  "empty list": [standard, listOf(12, 0)],
  "empty map": [standard, listOf(13, 0)],
  "empty map, lossless": [lossless, listOf(13, 0)],
  "empty typed array": [standard, listOf(8, 0)],
  "big integer": [standard, listOf(5, 1, 0x31)],
  "empty list, JSON": [jsonMessageCodec, text("[]")],
  "empty object, JSON": [jsonMessageCodec, text("{}")],
};

let kept;
const used = () => {
  for (let round = 0; round < 3; round++) gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
for (const [name, [codec, message]] of Object.entries(cases)) {
  kept = undefined;
  const before = used();
  kept = codec.decode(message);
  const bytes = used() - before;
  console.log(
    `${name}: ${(bytes / kept.length).toFixed(0)} bytes a value, ${(bytes / message.length).toFixed(0)} a byte`,
  );
}
