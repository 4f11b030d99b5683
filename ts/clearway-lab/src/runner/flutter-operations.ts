// SPDX-License-Identifier: MIT OR Apache-2.0
// The operations of the host `flutter`: Flutter's own engine, and Clearway beside it. The runner is Node; the engine runs in a process of
// its own.
import { nowMs } from "#lab-host";
import { codecsWithFlutter } from "../flutter/codecs.js";
import { displayProblem } from "../flutter/display.mjs";
import { dartRelease, findFlutter } from "../flutter/install.mjs";
import { engineProblem } from "../flutter/open.js";
import { engineTrips } from "../flutter/round-trips.js";
import { workerAnswers } from "../flutter/worker-trips.js";
import { packageRoot } from "../machine/optional-packages.js";
import type { RunnerOperations } from "../protocol/lines.js";
import type { Mechanism } from "../protocol/measured.js";
import { type CellRequest, type Description, PROTOCOL_VERSION } from "../protocol/message.js";
import { clockStepUs } from "../statistics/warm-up.js";
import { toMeasurement } from "./convert.js";

const scenarios: Record<string, Record<string, Mechanism>> = {
  "codec-flutter": codecsWithFlutter,
  "channel-flutter": { ...engineTrips, ...workerAnswers },
};
const isEngine = (mechanism: string) => mechanism.startsWith("flutter-engine");

/** What the runner does. Every measurement starts the engine anew, and no process of it is left when an operation ends. */
export const flutterOperations: RunnerOperations = {
  describe,
  verify: async (cell) => ({ verified: true, result: (await run(cell)).result }),
  measure: run,
  close: async () => {},
};

async function describe(): Promise<Description> {
  const noEngine = await engineProblem();
  const noWindow = noEngine ?? displayProblem();
  const problems: Record<string, string | undefined> = { "codec-flutter": noEngine, "channel-flutter": noWindow };
  const { folder } = findFlutter(packageRoot());
  const dart = folder === undefined ? undefined : dartRelease(folder);
  return {
    protocol: PROTOCOL_VERSION,
    host: "flutter",
    runtime: `Flutter's engine, Dart ${dart ?? "unknown"}; Node ${process.version}`,
    fresh: "process",
    crossOriginIsolated: true,
    clockStepUs: clockStepUs(nowMs),
    mechanisms: Object.entries(scenarios).flatMap(([scenario, mechanisms]) =>
      Object.keys(mechanisms).map((mechanism) => {
        const unavailable = isEngine(mechanism) ? problems[scenario] : undefined;
        return { scenario, mechanism, ...(unavailable === undefined ? {} : { unavailable }) };
      }),
    ),
  };
}

async function run(cell: CellRequest) {
  const mechanism = scenarios[cell.scenario]?.[cell.mechanism];
  if (mechanism === undefined)
    throw new RangeError(
      `no such mechanism on this host: scenario=${cell.scenario} mechanism=${cell.mechanism} (${Object.keys(scenarios[cell.scenario] ?? scenarios).join(", ")})`,
    );
  const fixture = { httpUrl: "", echoPort: 0, idlePort: 0, feedUrl: "", filePath: "" };
  return toMeasurement(await mechanism({ params: cell.params, fixture }), cell);
}
