// SPDX-License-Identifier: MIT OR Apache-2.0
// The table that the profile `promises` prints. It uses only the cells, so promises.json contains everything.
import type { Value } from "../protocol/message.js";
import type { ResultCell, Results } from "../run/results.js";

/** Returns one table per host, as Markdown. */
export function promiseTable({ cells, machine, run }: Results): string {
  const promises = cells.filter(({ family }) => family === "promise");
  const hosts = [...new Set(promises.map(({ host }) => host))];
  const head = `${machine.cpu}, ${machine.cores} cores, ${machine.os}; medians over interleaved rounds, middle half in brackets.`;
  return [head, ...hosts.flatMap((host) => ["", ...section(host, run.runtimes[host] ?? host, promises)])].join("\n");
}

function section(host: string, runtime: string, promises: readonly ResultCell[]): string[] {
  const hostCells = promises.filter((cell) => cell.host === host);
  return [
    `**${runtime}**`,
    "",
    row("measurement", "target", "figure", ""),
    row("---", "---:", "---:", "---"),
    ...hostCells.map((cell) =>
      row(measurementText(cell), targetText(cell), figureText(cell), String(cell.params["verdict"] ?? cell.status)),
    ),
  ];
}

const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;

function measurementText({ mechanism, params }: ResultCell): string {
  const details = [mechanism, params["over"] && `against ${params["over"]}`, params["state"]].filter(Boolean);
  return `${params["what"]} (${details.join("; ")})`;
}

function targetText({ params: { sense, asked }, metrics }: ResultCell): string {
  return asked === undefined ? "" : `${sense} ${asked}${unitText(metrics["figure"]?.unit)}`;
}

function figureText({ status, why, params, metrics }: ResultCell): string {
  if (status !== "ok") return `${status}: ${why}`;
  const [median, p25, p75] = ["figure", "p25", "p75"].map((name) => metrics[name] as Value) as [Value, Value, Value];
  const spread = Number(params["rounds"]) > 1 && p25.value !== p75.value;
  const middle = spread ? ` (${number(p25.value)} to ${number(p75.value)})` : "";
  return `${number(median.value)}${unitText(median.unit)}${middle}${params["detail"] ? `; ${params["detail"]}` : ""}`;
}

const unitText = (unit: string | undefined) => (unit === undefined || unit === "ratio" ? "" : ` ${unit}`);

function number(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
