// SPDX-License-Identifier: MIT OR Apache-2.0
// The table that `make bench` prints. It comes only from the cells, so bench.json has everything.

/** Returns one table per host, as Markdown. */
export function table({ cells, machine, run }) {
  const promises = cells.filter(({ family }) => family === "promise");
  const hosts = [...new Set(promises.map(({ host }) => host))];
  const head = `${machine.cpu}, ${machine.cores} cores, ${machine.os}; medians over interleaved rounds, middle half in brackets.`;
  return [head, ...hosts.flatMap((host) => ["", ...section(host, run.runtimes[host] ?? host, promises)])].join("\n");
}

function section(host, runtime, promises) {
  const own = promises.filter((cell) => cell.host === host);
  return [
    `**${runtime}**`,
    "",
    row("what", "asked", "figure", ""),
    row("---", "---:", "---:", "---"),
    ...own.map((cell) => row(what(cell), wanted(cell), figure(cell), cell.params.verdict ?? cell.status)),
  ];
}

const row = (...cells) => `| ${cells.join(" | ")} |`;

function what({ mechanism, params }) {
  const about = [mechanism, params.over && `against ${params.over}`, params.state].filter(Boolean);
  return `${params.what} (${about.join("; ")})`;
}

function wanted({ params: { sense, asked }, metrics }) {
  return asked === undefined ? "" : `${sense} ${asked}${unitText(metrics.figure?.unit)}`;
}

function figure({ status, why, params, metrics }) {
  if (status !== "ok") return `${status}: ${why}`;
  const { figure, p25, p75 } = metrics;
  const middle = params.rounds > 1 && p25.value !== p75.value ? ` (${number(p25.value)} to ${number(p75.value)})` : "";
  return `${number(figure.value)}${unitText(figure.unit)}${middle}${params.detail ? `; ${params.detail}` : ""}`;
}

const unitText = (unit) => (unit === undefined || unit === "ratio" ? "" : ` ${unit}`);

function number(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
