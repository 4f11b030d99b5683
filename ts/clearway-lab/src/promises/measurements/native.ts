// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares native plugins with C alone, hand-written Node-API and koffi. Each case runs in a separate process.

import type { HostName } from "../../protocol/message.js";
import { median, ratio, spread } from "../../statistics/rounds.js";
import type { Collector, MetricInput } from "../collector.js";
import type { MeasurementContext } from "../run.js";

/** The figures of one mechanism in a case. */
interface MechanismFigures {
  us: number[];
  copiedBytes: number;
  uncopiedBytes: number;
}

/** The result of the probe `native` for one case. */
interface CaseFigures {
  figures: Record<string, MechanismFigures>;
  /** The peers that cannot run here, with the reason. */
  without: Record<string, string>;
}

/** One comparison for the promise `id`. */
interface Comparison {
  id: string;
  mechanism: string;
  over: string;
  faster?: boolean;
}

/** The comparisons of each case. The figure is `mechanism` divided by `over`, or `over` divided by `mechanism` if `faster` is set. */
const comparisons = {
  memset: [
    { id: "memset-over-c", mechanism: "plugin, native memory", over: "in C, native memory" },
    { id: "memset-over-c", mechanism: "plugin, SharedArrayBuffer", over: "in C, SharedArrayBuffer" },
    { id: "memset-over-elements", mechanism: "plugin, native memory", over: "koffi, element by element", faster: true },
  ],
  method: [{ id: "method-over-memcpy", mechanism: "method call, codec both ways", over: "two memcpy in C" }],
  none: [{ id: "null-over-bare", mechanism: "plugin, null", over: "Node-API by hand, a Uint8Array" }],
  megabyte: [
    { id: "megabyte-over-null", mechanism: "direct, 1 MB lent", over: "direct, null" },
    { id: "megabyte-over-null", mechanism: "pool, 1 MB lent", over: "pool, null" },
    { id: "megabyte-over-null", mechanism: "pool, 1 MB of an ArrayBuffer", over: "pool, null" },
  ],
} satisfies Record<string, Comparison[]>;

const megabyteMechanisms = comparisons.megabyte.map(({ mechanism }) => mechanism);
const isReference = (name: string) => /^(in C|two memcpy|Node-API)/.test(name);

export async function native({ host, collector, amounts, seed, nativeFiles }: MeasurementContext): Promise<void> {
  const { files, why } = nativeFiles();
  if (why !== undefined) {
    for (const [name, caseComparisons] of Object.entries<Comparison[]>(comparisons)) {
      if (name === "megabyte")
        for (const mechanism of megabyteMechanisms)
          collector.addMissingPromise("megabyte-copied", host.name, { mechanism }, why);
      for (const { id, mechanism, over } of caseComparisons)
        collector.addMissingPromise(id, host.name, { mechanism, over }, why);
    }
    return;
  }
  const rounds = amounts["rounds"] as number;
  for (const [name, caseComparisons] of Object.entries<Comparison[]>(comparisons)) {
    const { figures, without } = await host.probe<CaseFigures>("native", { name, files, rounds, seed });
    const usOf = (name: string) => figures[name]?.us as number[];
    for (const [mechanism, figure] of Object.entries(figures))
      addFigures(name, mechanism, figure, host.name, collector);
    for (const [peer, reason] of Object.entries(without))
      collector.addMissingMeasurement("native", host.name, { name: peer, role: "peer" }, { operation: name }, reason);
    if (name === "megabyte") addCopiedBytes(figures, host.name, collector);
    for (const { id, mechanism, over, faster } of caseComparisons) {
      const labels = { mechanism, over };
      if (figures[over] === undefined) {
        collector.addMissingPromise(id, host.name, labels, without["koffi"] ?? "it was not measured");
        continue;
      }
      const [above, below] = faster ? ([over, mechanism] as const) : ([mechanism, over] as const);
      const us = (name: string) => timeText(median(usOf(name)));
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
  for (const mechanism of megabyteMechanisms) {
    const { copiedBytes, uncopiedBytes } = figures[mechanism] as MechanismFigures;
    // The message and its answer are 2 MB together. If the ledger counted less, it missed one of them.
    if (copiedBytes + uncopiedBytes < 2 << 20)
      throw new Error(`the ledger counted too little: mechanism="${mechanism}" bytes=${copiedBytes + uncopiedBytes}`);
    const detail = `${(uncopiedBytes / 2 ** 20).toFixed(1)} MB lent or moved`;
    collector.addPromise("megabyte-copied", host, { mechanism, detail }, spread([copiedBytes]));
  }
}

const timeText = (us: number) =>
  us > 10_000 ? `${(us / 1000).toFixed(0)} ms` : us < 1 ? `${(us * 1000).toFixed(1)} ns` : `${us.toFixed(1)} us`;
