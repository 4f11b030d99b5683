// SPDX-License-Identifier: MIT OR Apache-2.0
const number = (value, digits = 2) => value.toLocaleString("en", { maximumFractionDigits: digits });
const range = ({ median, p25, p75 }, digits) =>
  `${number(median, digits)} (${number(p25, digits)} to ${number(p75, digits)})`;
const row = (...cells) => `| ${cells.join(" | ")} |`;

/** The results as Markdown: medians over rounds, with the middle half in brackets. */
export function table({ machine, rounds, latency, throughput, start, stream, search }) {
  return [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; medians of ${rounds} interleaved rounds, middle half in brackets.`,
    "",
    "One trivial call after the other, warm:",
    "",
    row("mechanism", "p50 us", "over postMessage"),
    row("---", "---:", "---:"),
    ...latency.map(({ name, p50Us, overPostMessage }) => row(name, range(p50Us, 1), range(overPostMessage))),
    "",
    `1000 calls in flight. ${throughput.bestClearway} over the best peer (${throughput.bestPeer}): ${range(throughput.clearwayOverBestPeer)}.`,
    "",
    row("mechanism, threads", "thousand tasks a second", "clearway over this"),
    row("---", "---:", "---:"),
    ...throughput.cells.map(({ name, tasksPerSecond: { median, p25, p75 }, clearwayOverThis }) =>
      row(name, range({ median: median / 1000, p25: p25 / 1000, p75: p75 / 1000 }, 0), range(clearwayOverThis)),
    ),
    "",
    "From nothing to the first result, one worker:",
    "",
    row("mechanism", "ms", "over a bare worker"),
    row("---", "---:", "---:"),
    ...start.map(({ name, firstResultMs, overBareWorker }) =>
      row(name, range(firstResultMs, 1), range(overBareWorker)),
    ),
    "",
    `Stream of ${number(stream.chunkBytes)} byte chunks: ${number(stream.chunksPerSecond.median, 0)} a second, ` +
      `${number(stream.gibPerSecond, 1)} GiB/s, ${stream.copiedBytesPerChunk} bytes copied a chunk.`,
    "",
    "Search of a result for memory to move:",
    "",
    row("result", "p50 us", "p99 us"),
    row("---", "---:", "---:"),
    ...search.map(({ name, p50Us, p99Us }) => row(name, number(p50Us, 1), number(p99Us, 1))),
  ].join("\n");
}
