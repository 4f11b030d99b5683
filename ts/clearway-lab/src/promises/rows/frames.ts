// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures streams from native code: frames at a fixed rate, and small events at the highest rate that the credit allows.
import { median, spread } from "../../statistics/rounds.js";
import type { Subject } from "../collect.js";
import type { RowContext } from "../run.js";

const frameBytes = 8 << 20;
const perSecond = 60;
const events = 1_000_000;

/** The result of the probe `frames`. */
interface Shown {
  asked: number;
  came: number;
  lost: number;
  copiedBytes: number;
  leaked: number;
  stallMs: number;
  warmStallMs: number;
  anyStallMs: number;
  causes: string[];
}

/** The result of the probe `firehose`. */
interface Fired {
  perSecond: number[];
  lost: number;
}

export async function frames({ host, collect, settings, nativeFiles }: RowContext): Promise<void> {
  const { files, why } = nativeFiles();
  const about = { of: "plugin, events" };
  if (why !== undefined) {
    for (const id of ["frames-copied", "frames-lost", "frames-stall", "events-lost"])
      collect.unmeasured(id, host.name, about, why);
    return;
  }
  const { seconds = 0, warmSeconds = 0 } = settings;
  const params = { file: files.plugin, seconds, warmSeconds, bytes: frameBytes, perSecond };
  const shown = await host.probe<Shown>("frames", params, (warmSeconds + seconds + 30) * 1000);
  const state = `for ${seconds} s`;
  const told = (id: string, value: number, detail: string) =>
    collect.promise(id, host.name, { ...about, state, detail }, spread([value]));
  told("frames-copied", shown.copiedBytes, `${((shown.came * frameBytes) / 2 ** 30).toFixed(1)} GB arrived`);
  told("frames-lost", shown.lost, `${shown.came} of ${shown.asked} arrived; ${shown.leaked} leaked`);
  const causes = shown.causes.length > 0 ? `: ${shown.causes.join(", ")}` : "";
  const before = `in the ${warmSeconds} s before: ${shown.warmStallMs.toFixed(1)} ms`;
  const machine = `including the machine's own stalls: ${shown.anyStallMs.toFixed(1)} ms${causes}`;
  told("frames-stall", shown.stallMs, `${machine}; ${before}`);
  const metrics = {
    longestStall: { unit: "ms", value: shown.stallMs },
    longestStallBefore: { unit: "ms", value: shown.warmStallMs },
    longestStallOfAny: { unit: "ms", value: shown.anyStallMs },
    copied: { unit: "bytes", value: shown.copiedBytes },
    lost: { unit: "frames", value: shown.lost },
  };
  const subject: Subject = {
    name: about.of,
    role: "clearway",
    settings: "credit of 4 frames; read and released at once",
  };
  collect.measured("frames", host.name, subject, { seconds, frameBytes, perSecond }, metrics);

  const fire = await host.probe<Fired>("firehose", {
    file: files.plugin,
    count: events,
    rounds: settings["eventRounds"],
  });
  const rate = median(fire.perSecond);
  const detail = `${(rate / 1e6).toFixed(1)} M events/s`;
  collect.promise("events-lost", host.name, { ...about, state: "credit of 4096", detail }, spread([fire.lost]));
  const hose: Subject = { name: about.of, role: "clearway", settings: "credit of 4096 events" };
  const rates = { rate: { unit: "events/s", value: rate }, lost: { unit: "events", value: fire.lost } };
  collect.measured("firehose", host.name, hose, { eventBytes: 16 }, rates);
}
