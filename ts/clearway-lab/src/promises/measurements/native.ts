// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares native plugins with C alone, hand-written Node-API and koffi. Each case runs in a separate process.

import type { HostName } from "../../protocol/message.js";
import { median, ratio, spread } from "../../statistics/rounds.js";
import type { Collector, MetricInput } from "../collector.js";
import type { MeasurementContext } from "../run.js";

/** The result of the probe `native` for one mechanism. */
interface MechanismFigures {
  us: number[];
  copiedBytes: number;
  uncopiedBytes: number;
}

interface CaseFigures {
  figures: Record<string, MechanismFigures>;
  /** The peers that cannot run here, with the reason. */
  without: Record<string, string>;
}

interface Comparison {
  id: string;
  of: string;
  over: string;
  faster?: boolean;
}

/** The comparisons of each promise: `of` divided by `over`. With `faster`, for promises of a speed-up, `over` is divided by `of`. */
const comparisons = {
  memset: [
    { id: "memset-over-c", of: "plugin, native memory", over: "in C, native memory" },
    { id: "memset-over-c", of: "plugin, SharedArrayBuffer", over: "in C, SharedArrayBuffer" },
    { id: "memset-over-elements", of: "plugin, native memory", over: "koffi, element by element", faster: true },
  ],
  method: [{ id: "method-over-memcpy", of: "method call, codec both ways", over: "two memcpy in C" }],
  none: [{ id: "null-over-bare", of: "plugin, null", over: "Node-API by hand, a Uint8Array" }],
  megabyte: [
    { id: "megabyte-over-null", of: "direct, 1 MB lent", over: "direct, null" },
    { id: "megabyte-over-null", of: "pool, 1 MB lent", over: "pool, null" },
    { id: "megabyte-over-null", of: "pool, 1 MB of an ArrayBuffer", over: "pool, null" },
  ],
} satisfies Record<string, Comparison[]>;

const megabytes = comparisons.megabyte.map(({ of }) => of);
const isReference = (name: string) => /^(in C|two memcpy|Node-API)/.test(name);

export async function native({ host, collector, settings, seed, nativeFiles }: MeasurementContext): Promise<void> {
  const { files, why } = nativeFiles();
  if (why !== undefined) {
    for (const [name, all] of Object.entries<Comparison[]>(comparisons)) {
      if (name === "megabyte")
        for (const of of megabytes) collector.addMissingPromise("megabyte-copied", host.name, { of }, why);
      for (const { id, of, over } of all) collector.addMissingPromise(id, host.name, { of, over }, why);
    }
    return;
  }
  const rounds = settings["rounds"] as number;
  for (const [name, all] of Object.entries<Comparison[]>(comparisons)) {
    const { figures, without } = await host.probe<CaseFigures>("native", { name, files, rounds, seed });
    const usOf = (mechanism: string) => figures[mechanism]?.us as number[];
    for (const [mechanism, figure] of Object.entries(figures))
      addFigures(name, mechanism, figure, host.name, collector);
    for (const [peer, reason] of Object.entries(without))
      collector.addMissingMeasurement("native", host.name, { name: peer, role: "peer" }, { operation: name }, reason);
    if (name === "megabyte") addCopiedBytes(figures, host.name, collector);
    for (const { id, of, over, faster } of all) {
      const labels = { of, over };
      if (figures[over] === undefined) {
        collector.addMissingPromise(id, host.name, labels, without["koffi"] ?? "it was not measured");
        continue;
      }
      const [above, below] = faster ? ([over, of] as const) : ([of, over] as const);
      const us = (mechanism: string) => timeText(median(usOf(mechanism)));
      const detail = `${us(above)} over ${us(below)}`;
      collector.addPromise(id, host.name, { ...labels, detail }, ratio(usOf(above), usOf(below)));
    }
    if (figures["plugin, null, again"]) {
      const { median: quotient } = ratio(usOf("plugin, null, again"), usOf("plugin, null"));
      const factor = Math.max(quotient, 1 / quotient);
      collector.addNoise("native", host.name, "plugin, null", { operation: name }, factor, rounds);
    }
  }
}

function addFigures(
  operation: string,
  name: string,
  { us, copiedBytes }: MechanismFigures,
  host: HostName,
  collector: Collector,
): void {
  const role = isReference(name) ? "reference" : name.startsWith("koffi") ? "peer" : "clearway";
  // The plugin's ledger does not count the copies of other mechanisms.
  const metrics: Record<string, MetricInput> = { latency: { unit: "us", samples: us } };
  if (role === "clearway") metrics["copiedBytes"] = { unit: "bytes", value: copiedBytes };
  collector.addMeasurement("native", host, { name, role }, { operation }, metrics);
}

function addCopiedBytes(figures: Record<string, MechanismFigures>, host: HostName, collector: Collector): void {
  for (const of of megabytes) {
    const { copiedBytes, uncopiedBytes } = figures[of] as MechanismFigures;
    // The message and its answer are 2 MB together. If the ledger counted less, it missed one of them.
    if (copiedBytes + uncopiedBytes < 2 << 20)
      throw new Error(`the ledger counted too little: mechanism="${of}" bytes=${copiedBytes + uncopiedBytes}`);
    const detail = `${(uncopiedBytes / 2 ** 20).toFixed(1)} MB lent or moved`;
    collector.addPromise("megabyte-copied", host, { of, detail }, spread([copiedBytes]));
  }
}

const timeText = (us: number) =>
  us > 10_000 ? `${(us / 1000).toFixed(0)} ms` : us < 1 ? `${(us * 1000).toFixed(1)} ns` : `${us.toFixed(1)} us`;
