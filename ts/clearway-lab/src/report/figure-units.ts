// SPDX-License-Identifier: MIT OR Apache-2.0
// The unit of each figure that has a column in a table of the report. Tables and charts show numbers without reading their units.
import type { Unit } from "../protocol/message.js";
import { CHANNEL_FIGURES } from "./channel-tables.js";
import { COLUMNS, type Column, figuresOf, UPLOAD_FIGURES } from "./columns.js";

/** Returns the unit in which the tables of a scenario show a figure. Returns undefined if they have no column for it. */
export function columnUnit(scenario: string, figure: string): Unit | undefined {
  return columnsOf(scenario)?.find(({ metric }) => metric === figure)?.unit as Unit | undefined;
}

function columnsOf(scenario: string): readonly Pick<Column, "metric" | "unit">[] | undefined {
  if (scenario === "upload") return UPLOAD_FIGURES;
  if (scenario.startsWith("channel-")) return CHANNEL_FIGURES;
  return COLUMNS[figuresOf(scenario)];
}
