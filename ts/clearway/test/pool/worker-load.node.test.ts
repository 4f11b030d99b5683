// SPDX-License-Identifier: MIT OR Apache-2.0
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { PoolCall } from "../../src/pool/call/call.js";
import { callSettingsOf, settingsOf } from "../../src/pool/options.js";
import { Estimate, mayGoAhead, TaskRecord } from "../../src/pool/schedule/task-stats.js";
import { PoolWorker, unmeasuredUs, type WorkerSink } from "../../src/pool/worker/worker.js";
import { emptySide } from "../../src/transfer/ledger.js";
import { Op } from "../../src/transport/protocol.js";
import type { CallerRingPort } from "../../src/transport/ring/open-ring.js";

const settings = settingsOf({ size: 1 });

// A worker without a module, whose results go to `result`.
function workerWith(result: WorkerSink<PoolCall>["tracker"]["result"]): PoolWorker<PoolCall> {
  const source = () => new Worker("process.on('message', () => {})", { eval: true });
  const sink: WorkerSink<PoolCall> = {
    settings,
    toWorkers: emptySide(),
    fromWorkers: emptySide(),
    tracker: { result },
    lifecycle: undefined,
    loadLifecycle: () => Promise.reject(new Error("not needed")),
    loadDropped: () => {},
    startFailed: () => {},
    neverReady: () => {},
  };
  const worker = new PoolWorker<PoolCall>(0, source, sink);
  onTestFinished(() => {
    clearTimeout(worker.startTimer);
    return worker.handle.terminate();
  });
  // The hello leaves before there is a ring.
  worker.transport.flush();
  return worker;
}

test("a worker with a call of an unmeasured task counts as busy for the whole budget, until the call ends", () => {
  const worker = workerWith(() => {});
  const record = new TaskRecord("add");
  record.kind = "function";
  record.index = 0;
  const calls = [1, 2].map((id) => new PoolCall(id, record, [1, 2], callSettingsOf({}, settings), ""));
  for (const call of calls) {
    call.enqueue();
    worker.post(call);
  }
  expect(worker.busyUs).toBe(2 * unmeasuredUs);
  const short = new Estimate();
  // Meanwhile, the task becomes known as a short one.
  for (let run = 0; run < 8; run++) for (const estimate of [short, record.estimate]) estimate.add(1);
  worker.remove(calls[0]!);
  expect(worker.busyUs).toBe(unmeasuredUs);
  expect(mayGoAhead(short, worker.busyUs)).toBe(false);
  worker.remove(calls[1]!);
  expect(worker.busyUs).toBe(0);
});

test("a call whose result arrives during its send counts in its worker's load until then, and no longer", () => {
  const loads: number[] = [];
  const worker = workerWith((from, call) => {
    loads.push(from.load);
    from.remove(call);
  });
  // As a ring whose poller finds the result at once.
  const ring: Pick<CallerRingPort, "send" | "wake" | "owesWake"> = {
    owesWake: false,
    send: (op, id) => {
      if (op === Op.Call) worker.frame(Op.Result, id, 3, 1);
      return true;
    },
    wake: () => {},
  };
  worker.transport.ring = ring as CallerRingPort;
  const record = new TaskRecord("add");
  record.kind = "function";
  record.index = 0;
  const call = new PoolCall(1, record, [1, 2], callSettingsOf({}, settings), "");
  call.enqueue();
  worker.post(call);
  expect(loads).toEqual([1]);
  expect([worker.load, worker.busyUs, worker.calls.size, call.counted]).toEqual([0, 0, 0, 0]);
});
