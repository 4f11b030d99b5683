// SPDX-License-Identifier: MIT OR Apache-2.0
// node --no-opt garbage.child.mjs: prints how many bytes of the heap one `encodeInto` of each message takes, as JSON. V8's
// sampling heap profiler with an interval of one byte sees every allocation; what the library's functions ask for counts,
// and built-in functions that they call. Without the optimising compiler, because it folds allocations together.
import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { standardMessageCodec as standard } from "clearway/channel";
import { allocatedDuring } from "../../../../../measure/budget/allocated.mjs";

const messages = {
  "1000 integers": Array.from({ length: 1000 }, (_, at) => at),
  "1000 short texts": Array.from({ length: 1000 }, (_, at) => `text ${at}`),
  "100 objects": Array.from({ length: 100 }, (_, at) => ({ id: at, name: "a name", stock: at % 2 === 0 })),
  "1 MB of bytes": new Uint8Array(1_000_000),
  "10 lists of floats": Array.from({ length: 10 }, () => new Float64Array(100)),
  "10 long texts": Array.from({ length: 10 }, () => "☺".repeat(1000)),
};

const place = new Uint8Array(1 << 21);
const session = new Session();
session.connect();
const runs = 20;
const taken = {};
for (const [name, message] of Object.entries(messages)) {
  // Fills the inline caches, and lets the scratch grow.
  for (let run = 0; run < runs; run++) standard.encodeInto(message, place);
  const samples = await allocatedDuring(session, () => {
    for (let run = 0; run < runs; run++) standard.encodeInto(message, place);
  });
  taken[name] = Math.round(samples.reduce((sum, { size }) => sum + size, 0) / runs);
}
writeSync(1, JSON.stringify(taken));
process.exit(0);
