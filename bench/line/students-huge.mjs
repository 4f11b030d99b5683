// SPDX-License-Identifier: MIT OR Apache-2.0
// 100 M students as records: too many for the other ways, so the figure is a stall and no ratio. Full profile only.
import { freemem } from "node:os";
import { spread } from "../statistics.mjs";
import { hasRecords, noRecords } from "../subject/records.mjs";

const wanted = 100_000_000;
/** A number and a dictionary code a row, and the worker's buffers while it fills them: twice that, and half again to spare. */
const bytesARow = 8 * 2 * 1.5;

export async function studentsHuge({ host, collect, settings }) {
  const about = { of: "clearway records", state: "1000 names" };
  if (!hasRecords) return collect.unmeasured("students-huge", host.name, about, noRecords);
  if (settings.hugeRounds === 0)
    return collect.unmeasured("students-huge", host.name, about, "in the full profile only: --profile full");
  const stalls = [];
  const rows = Math.min(wanted, Math.floor(freemem() / bytesARow / 1_000_000) * 1_000_000);
  for (let round = 0; round < settings.hugeRounds; round++) {
    const { longestStallMs } = await host.probe("students", { kind: "records", rows, names: 1000 }, 600_000);
    stalls.push(longestStallMs);
  }
  const detail = rows === wanted ? undefined : `${rows / 1_000_000} M rows: the most that the free memory holds`;
  collect.promise("students-huge", host.name, { ...about, detail }, spread(stalls));
}
