// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures channels to a worker, a child process and native code, against the bare mechanism of each case and the best other library.
import { pluginProblem } from "../../native/plugin.js";
import type { HostName } from "../../protocol/message.js";
import type { Role } from "../../scenario/scenario.js";
import { bestOf, median, ratio, spread } from "../../statistics/rounds.js";
import type { Collector, MetricInput } from "../collector.js";
import type { MeasurementContext } from "../run.js";

/** The figures of one mechanism in a case. The times are microseconds per round trip. */
interface WayFigures {
  role: Role;
  oneUs: number[];
  threeUs: number[];
  copiedBytes: number | null;
}

interface CaseFigures {
  figures: Record<string, WayFigures>;
  /** The mechanisms that cannot run here, with the reason. */
  without: Record<string, string>;
}

/** The promises of each case: `one` for calls one at a time, `three` for three in flight. `native` cases need a compiler. */
const cases = [
  { name: "worker, null", one: "channel-null-over-bare", three: "channel-three-over-bare" },
  { name: "worker, 2 KB", one: "channel-2kb-over-bare", three: "channel-three-over-bare" },
  { name: "worker, 1 MB moved", one: "channel-moved-over-bare" },
  { name: "process, null", one: "channel-process-null-over-ipc" },
  { name: "process, 2 KB", one: "channel-process-2kb-over-ipc" },
  { name: "process, 1 MB", one: "channel-process-megabyte-over-ipc" },
  { name: "host to native, 2 KB", one: "channel-native-over-best", native: true },
  { name: "native to host, 2 KB", one: "channel-native-over-best", native: true },
] as const;

const overPeer = "channel-over-peer";

export async function channel({ host, collector, amounts, seed, nativeFiles }: MeasurementContext): Promise<void> {
  const { rounds, calls } = amounts;
  for (const each of cases) {
    const isNative = "native" in each;
    const why = isNative ? (nativeFiles().why ?? (await pluginProblem())) : undefined;
    if (why !== undefined) {
      collector.addMissingPromise(each.one, host.name, { mechanism: "clearway", state: each.name }, why);
      continue;
    }
    const params = { name: each.name, rounds, calls, seed };
    const { figures, without } = await host.probe<CaseFigures>("channel", params, 600_000);
    addFigures(each.name, figures, host.name, collector);
    for (const [name, reason] of Object.entries(without))
      collector.addMissingMeasurement("channel", host.name, { name, role: "peer" }, { message: each.name }, reason);
    const own = nameOf(figures, "clearway");
    if (own === undefined) throw new Error(`the probe did not measure Clearway: case=${each.name}`);
    const peer = bestPeer(figures);
    // In the native cases, the best of the hand-written addon and the libraries is the measure.
    const over = isNative ? bestOther(figures) : nameOf(figures, "reference");
    const add = (id: string, rival: string | undefined, metric: "oneUs" | "threeUs", state: string): void => {
      const labels = { mechanism: own, ...(rival && { over: rival }), state };
      const [above, below] = [figures[own]?.[metric] ?? [], (rival && figures[rival]?.[metric]) || []];
      if (below.length === 0) return collector.addMissingPromise(id, host.name, labels, missing(without));
      const detail = `${[above, below].map((us) => median(us).toPrecision(3)).join(" over ")} us`;
      collector.addPromise(id, host.name, { ...labels, detail }, ratio(above, below));
    };
    add(each.one, over, "oneUs", each.name);
    if ("three" in each) add(each.three, over, "threeUs", `${each.name}, three in flight`);
    if (peer !== undefined && !isNative) add(overPeer, peer, "oneUs", each.name);
    const { copiedBytes = null } = figures[own] ?? {};
    if (each.name === "worker, 1 MB moved" && copiedBytes !== null)
      collector.addPromise(
        "channel-moved-copied",
        host.name,
        { mechanism: own, state: each.name },
        spread([copiedBytes]),
      );
  }
}

function addFigures(message: string, figures: Record<string, WayFigures>, host: HostName, collector: Collector): void {
  for (const [name, { role, oneUs, threeUs, copiedBytes }] of Object.entries(figures)) {
    const metrics: Record<string, MetricInput> = {
      roundTrip: { unit: "us", samples: oneUs },
      perMessageOfThree: { unit: "us", value: median(threeUs) },
    };
    if (copiedBytes !== null) metrics["copiedBytes"] = { unit: "bytes", value: copiedBytes };
    collector.addMeasurement("channel", host, { name, role }, { message }, metrics);
  }
}

const nameOf = (figures: Record<string, WayFigures>, role: Role): string | undefined =>
  Object.keys(figures).find((name) => figures[name]?.role === role);

const bestWhere = (figures: Record<string, WayFigures>, fits: (role: Role) => boolean): string | undefined => {
  const series = Object.entries(figures).filter(([, { role }]) => fits(role));
  return bestOf(Object.fromEntries(series.map(([name, { oneUs }]) => [name, oneUs])), "low");
};
const bestPeer = (figures: Record<string, WayFigures>) => bestWhere(figures, (role) => role === "peer");
const bestOther = (figures: Record<string, WayFigures>) => bestWhere(figures, (role) => role !== "clearway");

const missing = (without: Record<string, string>): string => Object.values(without)[0] ?? "it was not measured";
