// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the messages of conformance/ into the corpora, as the codec targets read them: the first byte says which codec.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { cases } from "../../conformance/check.mjs";

const kinds = {
  standard: [0, 0],
  "standard-method call": [1],
  "standard-method reply": [2],
  json: [3, 1],
  "json-method call": [4],
  "json-method reply": [5],
  string: [6],
};
const here = (path) => new URL(path, import.meta.url);

for (const { ask } of cases) {
  // Truncations are found by the fuzzer itself.
  if (ask.op !== "decode" || ask.hex.length > 600 || ask.id.includes("first ")) continue;
  const kind = kinds[ask.as ? `${ask.codec} ${ask.as}` : ask.codec];
  for (const [at, target] of ["codec", "agree"].entries()) {
    if (kind?.[at] === undefined) continue;
    const bytes = Buffer.concat([Buffer.from([kind[at]]), Buffer.from(ask.hex, "hex")]);
    mkdirSync(here(`corpus/${target}`), { recursive: true });
    writeFileSync(here(`corpus/${target}/${createHash("sha1").update(bytes).digest("hex")}`), bytes);
  }
}
