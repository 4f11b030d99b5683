// SPDX-License-Identifier: MIT OR Apache-2.0
// A runner that breaks the protocol. Its argument says how. Its environment has the file for its process numbers, which the tests expect to
// end: CLEARWAY_TEST_PIDS.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [how] = process.argv.slice(2);
const pids = process.env.CLEARWAY_TEST_PIDS;
const note = (pid) => pids && appendFileSync(pids, `${pid}\n`);
note(process.pid);

const description = {
  protocol: 1,
  host: process.env.CLEARWAY_LAB_HOST ?? "hostile",
  runtime: "Hostile 1",
  fresh: "process",
  crossOriginIsolated: true,
  clockStepUs: 1,
  mechanisms: [{ scenario: "tiny", mechanism: "fast" }],
};
const measurement = {
  samples: { work: { unit: "us", n: 3, raw: [1000, 2000, 3000] } },
  values: { total: { unit: "ms", value: 5 } },
  result: { answer: 7 },
  notes: [],
};
const changed = {
  "no measurement": null,
  "wrong result": { ...measurement, result: { answer: 8 } },
  "too few samples": { ...measurement, samples: { work: { unit: "us", n: 4, raw: [1, 2, 3] } } },
  "no histogram": { ...measurement, samples: { work: { unit: "us", n: 3, hdr: "AAAAAAAAAAAAAAAA" } } },
  "a figure that is text": { ...measurement, values: { total: { unit: "ms", value: "5" } } },
  "no compared figure": { ...measurement, samples: {} },
  "an unknown unit": { ...measurement, values: { total: { unit: "parsec", value: 5 } } },
};
const described = {
  "another version": { ...description, protocol: 2 },
  "no version": { ...description, protocol: undefined },
  "no mechanisms": { ...description, mechanisms: undefined },
  escapes: { ...description, runtime: "\u001b[2J" },
};

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const instead = {
  "exits at once": () => {
    process.stderr.write("no \u001b[31mmodule named numpy\n");
    process.exit(3);
  },
  garbage: () => process.stdout.write("Welcome to my runner!\n"),
  "endless line": () => {
    const part = "x".repeat(1 << 20);
    const more = () => process.stdout.write(part, more);
    more();
  },
  "closes its output": () => {
    process.stdout.end();
    setInterval(() => {}, 1000);
  },
};

/** Starts a process in the same group that holds the output. */
function leaveChild() {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
  child.unref();
  note(child.pid);
}

if (instead[how] !== undefined) instead[how]();
let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  text += chunk;
  const lines = text.split("\n");
  text = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
// "deaf" does not end when its input ends.
if (how === "deaf") setInterval(() => {}, 1000);

function answer({ id, op }) {
  if (how === "silent" || instead[how] !== undefined) return;
  if (how === "no request") say({ id: id + 100, ok: true, result: description });
  else if (how === "null") say(null);
  else if (how === "neither") say({ id });
  else if (how === "error without a message") say({ id, ok: false });
  else if (op === "describe") say({ id, ok: true, result: described[how] ?? description });
  else if (how === "never measures") return;
  else if (how === "leaves a child") {
    leaveChild();
    say({ id, ok: true, result: measurement });
  } else if (how === "answers twice") {
    say({ id, ok: true, result: measurement });
    say({ id, ok: true, result: measurement });
  } else say({ id, ok: true, result: how in changed ? changed[how] : measurement });
}
