// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading a table on the main thread: a numeric column of 10 M rows, and the rows themselves.
import { median, ratio } from "../../statistics/rounds.ts";

const rows = 10_000_000;

export async function scan({ host, collect, settings, seed }) {
  const lines = [
    ["scan-column", "column"],
    ["scan-chunk-cursors", "chunk cursors"],
    ["scan-cursor", "cursor"],
  ];
  const figures = await host.probe("scan", { rows, rounds: settings.rounds, seed });
  for (const [name, ms] of Object.entries(figures)) {
    const plain = name === "plain loop";
    const subject = { name: plain ? name : `clearway records, ${name}`, role: plain ? "reference" : "clearway" };
    collect.measured("scan", host.name, subject, { rows }, { time: { unit: "ms", value: median(ms) } });
  }
  for (const [id, way] of lines) {
    const about = { of: `clearway records, ${way}`, over: "plain loop" };
    const detail = `${median(figures[way]).toFixed(1)} ms over ${median(figures["plain loop"]).toFixed(1)}`;
    collect.promise(id, host.name, { ...about, detail }, ratio(figures[way], figures["plain loop"]));
  }
}
