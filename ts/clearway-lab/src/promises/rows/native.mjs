// SPDX-License-Identifier: MIT OR Apache-2.0
// Native plugins compared with C alone, hand-written Node-API and koffi. Each case runs in a separate process.
import { median, ratio, spread } from "../../statistics/rounds.ts";

/** The comparisons of each promise: `of` divided by `over`, or the reverse with `faster`, for promises of a speed-up. */
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
};

const megabytes = compared.megabyte.map(({ of }) => of);
const isReference = (name) => /^(in C|two memcpy|Node-API)/.test(name);

export async function native({ host, collect, settings, seed, nativeFiles }) {
  const { files, why } = nativeFiles();
  if (why !== undefined) {
    for (const [name, all] of Object.entries(compared)) {
      if (name === "megabyte")
        for (const of of megabytes) collect.unmeasured("megabyte-copied", host.name, { of }, why);
      for (const { id, of, over } of all) collect.unmeasured(id, host.name, { of, over }, why);
    }
    return;
  }
  for (const name of Object.keys(compared)) {
    const { figures, without } = await host.probe("native", { name, files, rounds: settings.rounds, seed });
    for (const [subject, figure] of Object.entries(figures)) enter(name, subject, figure, host, collect);
    for (const [peer, reason] of Object.entries(without))
      collect.absent("native", host.name, { name: peer, role: "peer" }, { operation: name }, reason);
    if (name === "megabyte") copied(figures, host, collect);
    for (const { id, of, over, faster } of compared[name]) {
      const about = { of, over };
      if (figures[over] === undefined) {
        collect.unmeasured(id, host.name, about, without.koffi ?? "it was not measured");
        continue;
      }
      const [above, below] = faster ? [over, of] : [of, over];
      const us = (subject) => time(median(figures[subject].us));
      const detail = `${us(above)} over ${us(below)}`;
      collect.promise(id, host.name, { ...about, detail }, ratio(figures[above].us, figures[below].us));
    }
    if (figures["plugin, null, again"]) {
      const { median: apart } = ratio(figures["plugin, null, again"].us, figures["plugin, null"].us);
      const factor = Math.max(apart, 1 / apart);
      collect.noise("native", host.name, "plugin, null", { operation: name }, factor, settings.rounds);
    }
  }
}

function enter(operation, name, { us, copiedBytes }, host, collect) {
  const role = isReference(name) ? "reference" : name.startsWith("koffi") ? "peer" : "clearway";
  // The plugin's ledger does not count what other subjects copy.
  const ledger = role === "clearway" ? { copiedBytes: { unit: "bytes", value: copiedBytes } } : {};
  const metrics = { latency: { unit: "us", samples: us }, ...ledger };
  collect.measured("native", host.name, { name, role }, { operation }, metrics);
}

function copied(figures, host, collect) {
  for (const of of megabytes) {
    const { copiedBytes, uncopiedBytes } = figures[of];
    // Both ways: 2 MB. A ledger with less has missed the message.
    if (copiedBytes + uncopiedBytes < 2 << 20)
      throw new Error(`the ledger counted too little: way="${of}" bytes=${copiedBytes + uncopiedBytes}`);
    const detail = `${(uncopiedBytes / 2 ** 20).toFixed(1)} MB lent or moved`;
    collect.promise("megabyte-copied", host.name, { of, detail }, spread([copiedBytes]));
  }
}

const time = (us) =>
  us > 10_000 ? `${(us / 1000).toFixed(0)} ms` : us < 1 ? `${(us * 1000).toFixed(1)} ns` : `${us.toFixed(1)} us`;
