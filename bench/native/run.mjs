// SPDX-License-Identifier: MIT OR Apache-2.0
// node bench/native/run.mjs [--rounds N] [--seconds N] [--events N] [--seed N]: what native plugins cost in Node, beside peers.
// Prints medians of interleaved rounds and ratios within a round, with their middle halves.
import { parseArgs } from "node:util";
import { loadPlugin } from "clearway-native";
import { median, ratio, shuffler } from "../statistics.mjs";
import { bareAddon, probePlugin } from "./build.mjs";
import { cases } from "./cases.mjs";
import { firehose, frames } from "./frames.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seconds: { type: "string", default: "10" },
    events: { type: "string", default: "3000000" },
    seed: { type: "string", default: "1" },
  },
});
const [bareFile, file] = [bareAddon(), probePlugin()];
const plugin = await loadPlugin(file);
const shared = await loadPlugin(file, { views: "shared" });
const shuffle = shuffler(Number(values.seed));
const us = (value) => (value < 1 ? `${(value * 1000).toFixed(1)} ns` : `${value.toFixed(1)} us`);

for (const { name, subjects, ratios } of cases({ bareFile, plugin, shared })) {
  const figures = Object.fromEntries(Object.keys(subjects).map((each) => [each, []]));
  for (const each of Object.keys(subjects)) await subjects[each](); // warm
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const each of shuffle(Object.keys(subjects))) figures[each].push(await subjects[each]());
  }
  console.log(`\n${name}`);
  for (const [each, numbers] of Object.entries(figures)) console.log(`  ${each}: ${us(median(numbers))}`);
  for (const [a, b, aim] of ratios) {
    const { median: middle, p25, p75 } = ratio(figures[a], figures[b]);
    console.log(`  ${a} over ${b}: ${middle.toFixed(2)} (${p25.toFixed(2)} to ${p75.toFixed(2)}), aimed at ${aim}`);
  }
}
console.log("\na firehose of events of 16 bytes", await firehose(plugin, Number(values.events)));
console.log("60 frames of 8 MB a second", await frames(plugin, Number(values.seconds)));
await Promise.all([plugin.close(), shared.close()]);
