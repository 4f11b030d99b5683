// SPDX-License-Identifier: MIT OR Apache-2.0
// Speaks the runner protocol for the lab's tests. "fast" answers at once. "stuck" sends Ctrl-C to the lab and never answers;
// CLEARWAY_FAKE_SIGNAL names another signal, and with "none" it answers. "wrong" answers with an error. "dies" exits during the
// measurement. "garbage" writes a line that is not JSON. The probe "start" answers with one figure per round. With 13 rounds it answers
// with an error. With 14 rounds it sends Ctrl-C to the lab and never answers.
import hdr from "hdr-histogram-js";

const histogram = hdr.build({ autoResize: true, numberOfSignificantValueDigits: 3 });
for (let us = 1; us <= 100; us++) histogram.recordValue(us * 1000);

const measurement = {
  samples: { work: { unit: "us", n: 100, hdr: hdr.encodeIntoCompressedBase64(histogram) } },
  values: { total: { unit: "ms", value: 5 } },
  result: { answer: 7 },
  notes: [],
};
const description = {
  protocol: 1,
  host: "node",
  runtime: "Fake 1",
  fresh: "process",
  crossOriginIsolated: true,
  clockStepUs: 1,
  mechanisms: ["fast", "stuck", "wrong", "dies"].map((mechanism) => ({ scenario: "tiny", mechanism })),
};

let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  text += chunk;
  const lines = text.split("\n");
  text = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});

function answer({ id, op, cell }) {
  const say = (response) => process.stdout.write(JSON.stringify({ id, ...response }) + "\n");
  if (op === "describe") return say({ ok: true, result: description });
  const signal = process.env.CLEARWAY_FAKE_SIGNAL ?? "SIGINT";
  if (cell.mechanism === "stuck" && signal !== "none") return process.kill(process.ppid, signal);
  if (cell.mechanism === "wrong") return say({ ok: false, error: { message: "the work gave a wrong result" } });
  if (cell.mechanism === "dies") {
    process.stderr.write("out of luck\n");
    process.exit(3);
  }
  if (cell.mechanism === "garbage") return process.stdout.write("hello\n");
  return say({ ok: true, result: op === "verify" ? { verified: true, result: measurement.result } : measurement });
}
