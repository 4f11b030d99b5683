// SPDX-License-Identifier: MIT OR Apache-2.0
// `make bench`: measures all promises that a clock can measure, with the peers, on every host. Prints the table and writes out/bench.json
// in the format of results.json.
// node bench/run.mjs [--profile quick|full] [--host node,chromium] [--only call,flight] [--seed N] [--out FILE] [--record]
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openChromium } from "./host/chromium.mjs";
import { openNode } from "./host/node.mjs";
import { hasLine, lines, promisesOf } from "./line/lines.mjs";
import { learn } from "./line/subjects.mjs";
import { assemble, assertResults, before } from "./results/assemble.mjs";
import { collector } from "./results/collect.mjs";
import { table } from "./results/table.mjs";
import { profiles } from "./settings.mjs";

const openers = { node: openNode, chromium: openChromium };

const { values } = parseArgs({
  options: {
    profile: { type: "string", default: "quick" },
    host: { type: "string", default: Object.keys(openers).join(",") },
    only: { type: "string", default: Object.keys(lines).join(",") },
    seed: { type: "string", default: "1" },
    out: { type: "string", default: fileURLToPath(new URL("../out/bench.json", import.meta.url)) },
    // Also writes lab/records/promises.json, the committed copy.
    record: { type: "boolean", default: false },
  },
});
const oneOf = (name, allowed) => (each) => {
  if (!allowed.includes(each)) throw new RangeError(`--${name} must be among ${allowed.join(", ")}: ${each}`);
  return each;
};
const profile = oneOf("profile", Object.keys(profiles))(values.profile);
const hosts = values.host.split(",").map(oneOf("host", Object.keys(openers)));
const chosen = values.only.split(",").map(oneOf("only", Object.keys(lines)));
const seed = Number(values.seed);
if (!Number.isInteger(seed) || seed < 0)
  throw new RangeError(`--seed must be a whole number, 0 or more: ${values.seed}`);

const known = before();
const collect = collector();
const runtimes = {};
let done = 0;
let interrupted = false;
process.once("SIGINT", () => {
  interrupted = true;
  console.error("\nbench: ends after this line; Ctrl-C again ends at once");
});

for (const name of hosts) {
  const own = chosen.filter((line) => hasLine(name, line));
  if (own.length === 0) continue;
  const host = await openers[name]().catch((error) => ({ why: error.message }));
  if (host.why !== undefined) {
    leaveOut(name, own, host.why, "unavailable");
    continue;
  }
  runtimes[name] = host.runtime;
  await learn(host);
  for (const [at, line] of own.entries()) {
    if (interrupted) {
      leaveOut(name, own.slice(at), "the run was interrupted", "unavailable");
      break;
    }
    const begin = performance.now();
    try {
      await lines[line]({ host, collect, settings: profiles[profile], profile, seed });
      done++;
    } catch (error) {
      leaveOut(name, [line], error.message.split("\n")[0], "failed");
      console.error(error);
    }
    console.error(`bench: ${name} ${line}, ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  }
  await host.close();
}

/** Adds lines that were not measured to the table, with the reason. */
function leaveOut(host, names, why, status) {
  for (const id of names.flatMap((name) => promisesOf[name])) {
    if (!collect.cells.some((cell) => cell.scenario === id && cell.host === host))
      collect.unmeasured(id, host, { of: "clearway" }, why, status);
  }
}

const planned = hosts.flatMap((name) => chosen.filter((line) => hasLine(name, line))).length;
const { cells, noiseFloor } = collect;
const results = assemble({ known, profile, seed, planned, done, interrupted, runtimes, cells, noiseFloor });
console.log(table(results));
console.log("\nTo be doubted:");
for (const { message, next } of results.warnings) console.log(`- ${message} Next: ${next}.`);
// Results that do not match the schema are printed but not written.
await assertResults(results);
const text = `${JSON.stringify(results, null, 2)}\n`;
mkdirSync(dirname(values.out), { recursive: true });
writeFileSync(values.out, text);
if (values.record) writeFileSync(new URL("../lab/records/promises.json", import.meta.url), text);
process.exit(cells.some(({ status }) => status === "failed") ? 1 : 0);
