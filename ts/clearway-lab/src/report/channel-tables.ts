// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of the channel scenarios. Each direction has five tables, one per figure. A table has a row per payload and a column per
// mechanism.
import type { HostName } from "../protocol/message.js";
import type { RecordedCell, RecordedScenario, RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import type { Column } from "./columns.js";
import { coresText } from "./load-text.js";
import { clockStepUsOf, metricsFor, sameRow, type Table, tableCell } from "./table.js";

/** The figures of a round trip, one table each. The first table is open. The report collapses the others, and a terminal omits them. */
export const CHANNEL_FIGURES: (Omit<Column, "label"> & { what: string })[] = [
  { what: "round trip, one at a time, median", unit: "us", metric: "roundTrip", quantile: "p50" },
  { what: "three in flight, time per message", unit: "us", metric: "perMessageOfThree" },
  { what: "bytes copied per round trip", unit: "bytes", metric: "copiedBytes" },
  { what: "bytes allocated per round trip", unit: "bytes", metric: "allocatedBytes" },
  { what: "allocations per round trip on the calling thread", unit: "count", metric: "allocations" },
];

const LEAD = ["channel", "codec", "payload", "reply"] as const;

export function channelTables(
  results: Results,
  record: RunRecord,
  scenario: RecordedScenario,
  host: HostName,
  cells: RecordedCell[],
): Table[] {
  const own = cells.filter(({ control }) => !control);
  const directions = [...new Set(own.map(directionText))];
  return directions.flatMap((direction) => {
    const going = own.filter((cell) => directionText(cell) === direction);
    return CHANNEL_FIGURES.flatMap(({ what, ...figure }, at): Table[] => {
      const known = going.filter((cell) => figure.metric in metricsFor(results, record, cell));
      if (known.length === 0) return [];
      // The order of the mechanisms in the scenario. All recorded cells count, measured or not.
      const order = [
        ...new Set(record.cells.filter((cell) => cell.scenario === scenario.name).map(({ mechanism }) => mechanism)),
      ];
      const ways = [...new Map(going.map((cell) => [cell.mechanism, cell])).values()].sort(
        (a, b) => order.indexOf(a.mechanism) - order.indexOf(b.mechanism),
      );
      const rows = sameRow(going).map((group) => ({
        mechanism: rowName(group[0]!),
        title: rowName(group[0]!),
        role: "reference" as const,
        lead: LEAD.map((name) => String(group[0]!.params[name])),
        cells: ways.map(({ mechanism }) => {
          const cell = group.find((each) => each.mechanism === mechanism);
          const metric = cell && metricsFor(results, record, cell)[figure.metric];
          return tableCell(metric, figure.quantile, cell ? clockStepUsOf(record, cell, figure.metric) : 0);
        }),
      }));
      const columns = ways.map(({ mechanism, title, role }) => ({ label: mechanism, unit: figure.unit, title, role }));
      const load = `${direction}: ${what}`;
      return [{ scenario: scenario.name, host, load, lead: [...LEAD], columns, rows, folded: at > 0 }];
    });
  });
}

/** Returns the direction of the calls, and the cores of the threads if they were pinned. */
function directionText({ params }: RecordedCell): string {
  return [String(params["direction"]), coresText(params)].filter((text) => text !== "").join(", ");
}

/** Returns a short name of a row, for a terminal. Leaves out the channel kind "message". */
function rowName({ params }: RecordedCell): string {
  const { channel, codec, payload } = params;
  return `${channel === "method" ? "method, " : ""}${codec} ${payload}`;
}
