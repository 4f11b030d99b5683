// SPDX-License-Identifier: MIT OR Apache-2.0
// Adds the messages of conformance/ to the corpora of the codec targets. The first byte of a case selects the codec.
import { cases } from "../../conformance/check.mjs";
import { read, write } from "./corpus.mjs";

const kinds = {
  standard: [0, 0],
  "standard-method call": [1],
  "standard-method reply": [2],
  json: [3, 1],
  "json-method call": [4],
  "json-method reply": [5],
  string: [6],
};
const corpora = { codec: read("codec"), agree: read("agree") };

for (const { ask } of cases) {
  // Leaves out truncated messages (their ids contain "first "), because the fuzzer finds them itself. Leaves out long messages, too.
  if (ask.op !== "decode" || ask.hex.length > 600 || ask.id.includes("first ")) continue;
  const kind = kinds[ask.as ? `${ask.codec} ${ask.as}` : ask.codec];
  for (const [at, target] of ["codec", "agree"].entries()) {
    if (kind?.[at] === undefined) continue;
    corpora[target].push(Buffer.concat([Buffer.from([kind[at]]), Buffer.from(ask.hex, "hex")]));
  }
}
for (const [target, all] of Object.entries(corpora)) console.log(`${target}: ${write(target, all)} cases`);
