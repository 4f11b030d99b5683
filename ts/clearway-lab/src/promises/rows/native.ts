// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares native plugins with C alone, hand-written Node-API and koffi. Each case runs in a separate process.

import type { HostName } from "../../protocol/message.js";
import { median, ratio, spread } from "../../statistics/rounds.js";
import type { Collector, Given } from "../collect.js";
import type { RowContext } from "../run.js";

/** The result of the probe `native` for one subject. */
interface Timed {
  us: number[];
  copiedBytes: number;
  uncopiedBytes: number;
}

interface Figures {
  figures: Record<string, Timed>;
  /** The peers that cannot run here, with the reason. */
  without: Record<string, string>;
}

interface Compared {
  id: string;
  of: string;
  over: string;
  faster?: boolean;
}

/** The comparisons of each promise: `of` divided by `over`. With `faster`, for promises of a speed-up, `over` is divided by `of`. */
const compared = {
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
} satisfies Record<string, Compared[]>;

const megabytes = compared.megabyte.map(({ of }) => of);
const isReference = (name: string) => /^(in C|two memcpy|Node-API)/.test(name);

export async function native({ host, collect, settings, seed, nativeFiles }: RowContext): Promise<void> {
  const { files, why } = nativeFiles();
  if (why !== undefined) {
    for (const [name, all] of Object.entries<Compared[]>(compared)) {
      if (name === "megabyte")
        for (const of of megabytes) collect.unmeasured("megabyte-copied", host.name, { of }, why);
      for (const { id, of, over } of all) collect.unmeasured(id, host.name, { of, over }, why);
    }
    return;
  }
  const rounds = settings["rounds"] as number;
  for (const [name, all] of Object.entries<Compared[]>(compared)) {
    const { figures, without } = await host.probe<Figures>("native", { name, files, rounds, seed });
    const usOf = (subject: string) => figures[subject]?.us as number[];
    for (const [subject, figure] of Object.entries(figures)) enter(name, subject, figure, host.name, collect);
    for (const [peer, reason] of Object.entries(without))
      collect.absent("native", host.name, { name: peer, role: "peer" }, { operation: name }, reason);
    if (name === "megabyte") copied(figures, host.name, collect);
    for (const { id, of, over, faster } of all) {
      const about = { of, over };
      if (figures[over] === undefined) {
        collect.unmeasured(id, host.name, about, without["koffi"] ?? "it was not measured");
        continue;
      }
      const [above, below] = faster ? ([over, of] as const) : ([of, over] as const);
      const us = (subject: string) => time(median(usOf(subject)));
      const detail = `${us(above)} over ${us(below)}`;
      collect.promise(id, host.name, { ...about, detail }, ratio(usOf(above), usOf(below)));
    }
    if (figures["plugin, null, again"]) {
      const { median: apart } = ratio(usOf("plugin, null, again"), usOf("plugin, null"));
      const factor = Math.max(apart, 1 / apart);
      collect.noise("native", host.name, "plugin, null", { operation: name }, factor, rounds);
    }
  }
}

function enter(operation: string, name: string, { us, copiedBytes }: Timed, host: HostName, collect: Collector): void {
  const role = isReference(name) ? "reference" : name.startsWith("koffi") ? "peer" : "clearway";
  // The plugin's ledger does not count the copies of other subjects.
  const metrics: Record<string, Given> = { latency: { unit: "us", samples: us } };
  if (role === "clearway") metrics["copiedBytes"] = { unit: "bytes", value: copiedBytes };
  collect.measured("native", host, { name, role }, { operation }, metrics);
}

function copied(figures: Record<string, Timed>, host: HostName, collect: Collector): void {
  for (const of of megabytes) {
    const { copiedBytes, uncopiedBytes } = figures[of] as Timed;
    // The message and its answer are 2 MB together. If the ledger counted less, it missed one of them.
    if (copiedBytes + uncopiedBytes < 2 << 20)
      throw new Error(`the ledger counted too little: mechanism="${of}" bytes=${copiedBytes + uncopiedBytes}`);
    const detail = `${(uncopiedBytes / 2 ** 20).toFixed(1)} MB lent or moved`;
    collect.promise("megabyte-copied", host, { of, detail }, spread([copiedBytes]));
  }
}

const time = (us: number) =>
  us > 10_000 ? `${(us / 1000).toFixed(0)} ms` : us < 1 ? `${(us * 1000).toFixed(1)} ns` : `${us.toFixed(1)} us`;
