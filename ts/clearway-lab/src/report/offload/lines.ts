// SPDX-License-Identifier: MIT OR Apache-2.0
// The lines of the family `offload` on a terminal: one per kind of work, one for the crossover, one for the call site that changes.
import type { RunRecord } from "../../run/record.js";
import type { Results } from "../../run/results.js";
import { HOST_NAMES } from "../../scenario/scenario.js";
import { hostTitle } from "../host-titles.js";
import { executorFindingLines, hasExecutors } from "../published/executor-text.js";
import { adviceOf } from "./advice.js";
import { changingSentence } from "./changing-text.js";
import { crossoverSentence, sizeLines } from "./crossover-text.js";

export interface OffloadLines {
  title: string;
  lines: string[];
}

/** Returns a block for each host that has cells of the scenarios `offload`, and one for the published experiment. */
export function offloadLines(results: Results, record: RunRecord): OffloadLines[] {
  const reference = record.scenarios.find(({ name }) => name === "sizes")?.reference ?? "direct";
  const published = hasExecutors(record)
    ? [{ title: "which executor, against the published findings", lines: executorFindingLines(record) }]
    : [];
  const found = HOST_NAMES.flatMap((host) => {
    const said = [crossoverSentence(sizeLines(record, host, reference), host), changingSentence(record, host)];
    const lines = [
      ...adviceOf(results, record, host).map(({ work, sentence }) => `${work}: ${sentence}`),
      ...said.filter((sentence) => sentence !== undefined),
    ];
    return lines.length === 0 ? [] : [{ title: `offload on ${hostTitle(host)}`, lines }];
  });
  return [...found, ...published];
}
