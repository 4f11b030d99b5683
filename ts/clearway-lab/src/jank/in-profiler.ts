// SPDX-License-Identifier: MIT OR Apache-2.0
// The profiler's thread in the process of a measured script. It profiles the script's thread from outside, which works while that thread
// blocks, and sends what was measured.
import { Session } from "node:inspector";
import { Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import type { StallReport } from "clearway/meter";
import { bounded, CHANNEL_FD, FINISH, PROCESS_HANDLE, type ProcessMessage, type ThreadMessage } from "./message.js";
import type { CpuProfile } from "./profile.js";

/** Time between two samples, in microseconds. */
const SAMPLE_US = 500;
/** How long a script's thread that does not answer is asked, in milliseconds. It answers unless it runs native code. */
const ANSWER_MS_MAX = 3_000;

const shared = workerData as Int32Array;
const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
const session = new Session();
let ended = false;
let beginUs = 0;

function send(message: ProcessMessage): Promise<void> {
  return new Promise((sent) => channel.write(`${JSON.stringify(message)}\n`, () => sent()));
}

function ask<R>(method: string, params: object = {}): Promise<R> {
  return new Promise((resolve, reject) =>
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result as R))),
  );
}

async function begin(): Promise<void> {
  let problem: string | undefined;
  try {
    session.connectToMainThread();
    await ask("Profiler.enable");
    await ask("Profiler.setSamplingInterval", { interval: SAMPLE_US });
    await ask("Profiler.start");
  } catch (error) {
    problem = `no profile: ${(error as Error).message}`;
  }
  const ready: ThreadMessage = { type: "profiling", ...(problem === undefined ? {} : { problem }) };
  parentPort!.postMessage(ready);
}

/** Sends the profile and the report. Without a report, asks the script's thread for it, on top of the code that it runs. */
async function end(given: StallReport | undefined): Promise<void> {
  if (ended) return;
  ended = true;
  // Before the script begins, nothing is known of it. It may begin while its thread is asked for the report.
  const silent =
    beginUs > 0
      ? {
          answeredMs: Atomics.load(shared, 1),
          endMs: (Number(process.hrtime.bigint() / 1000n) - beginUs) / 1000,
        }
      : undefined;
  const report = given ?? (await askReport());
  const stopped = await bounded(ask<{ profile: CpuProfile }>("Profiler.stop"), ANSWER_MS_MAX);
  const message: ProcessMessage = {
    type: "end",
    ...(report !== undefined ? { report } : silent !== undefined ? { silent } : {}),
    ...(stopped === undefined ? { problem: "the script's thread gave no profile" } : { profile: stopped.profile }),
  };
  await send(message);
  // Node waits at its end for the inspector's sessions.
  session.disconnect();
  Atomics.store(shared, 0, 1);
  Atomics.notify(shared, 0);
}

async function askReport(): Promise<StallReport | undefined> {
  const expression = `globalThis[Symbol.for(${JSON.stringify(PROCESS_HANDLE)})]()`;
  const answer = await bounded(
    ask<{ result: { value?: unknown } }>("Runtime.evaluate", { expression, silent: true, returnByValue: true }),
    ANSWER_MS_MAX,
  );
  return typeof answer?.result.value === "string" ? (JSON.parse(answer.result.value) as StallReport) : undefined;
}

parentPort!.on("message", (message: ThreadMessage) => {
  if (message.type === "begin") beginUs = message.beginUs;
  if (message.type === "begin" || message.type === "stall") void send(message);
  if (message.type === "exit") void end(message.report);
});
channel.on("error", () => {});
channel.setEncoding("utf8").on("data", (text: string) => {
  if (text.includes(FINISH.trim())) void end(undefined);
});
await begin();
