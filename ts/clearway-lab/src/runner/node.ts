// SPDX-License-Identifier: MIT OR Apache-2.0
// The Node runner. The lab starts a new process of it for every measurement, so that no earlier measurement warms it up.
import { nowMs } from "#lab-host";
import { serve } from "../protocol/lines.js";
import { PROTOCOL_VERSION } from "../protocol/message.js";
import { clockStepUs } from "../statistics/warm-up.js";
import { toMeasurement } from "./convert.js";
import { type RunningFixture, startFixture } from "./fixture.js";
import { allMechanisms, findMechanism } from "./registry.js";

let running: RunningFixture | undefined;

// Ctrl-C may reach the whole process group. The lab decides when a runner ends, by closing the runner's stdin.
process.on("SIGINT", () => {});

await serve({
  describe: async () => ({
    protocol: PROTOCOL_VERSION,
    host: "node",
    runtime: "Node " + process.version,
    fresh: "process",
    crossOriginIsolated: true,
    clockStepUs: clockStepUs(nowMs),
    mechanisms: await allMechanisms(),
  }),
  verify: async (cell) => ({ verified: true, result: (await run(cell)).result }),
  measure: run,
  close: async () => running?.close(),
});
// Peers may leave open handles (timers, ports). The runner has sent all answers, so it exits.
process.exit(0);

async function run(cell: Parameters<typeof toMeasurement>[1]) {
  running ??= await startFixture();
  const mechanism = await findMechanism(cell.scenario, cell.mechanism);
  return toMeasurement(await mechanism({ params: cell.params, fixture: running.fixture }), cell);
}
