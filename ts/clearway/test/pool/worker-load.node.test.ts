// SPDX-License-Identifier: MIT OR Apache-2.0
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { PoolCall } from "../../src/pool/call/call.js";
import type { Input } from "../../src/pool/call/input.js";
import { Engine } from "../../src/pool/engine.js";
import { freeId } from "../../src/pool/lifecycle/messages.js";
import { callSettingsOf, settingsOf } from "../../src/pool/options.js";
import { Estimate, mayGoAhead, PoolTask } from "../../src/pool/schedule/scheduler.js";
import { PoolWorker, unmeasuredUs } from "../../src/pool/worker/worker.js";
import { Op } from "../../src/transport/protocol.js";
import type { CallerRingPort } from "../../src/transport/ring/caller-ring-port.js";

const settings = settingsOf({ size: 1 });

// A worker without a module, whose results go to `result`.
function workerWith(result: Engine["result"], more: Partial<Engine> = {}): PoolWorker {
  const source = () => new Worker("process.on('message', () => {})", { eval: true });
  const engine = { source, settings, result, loadDropped: () => {}, workers: { neverReady: () => {} }, ...more };
  const worker = new PoolWorker(0, engine as unknown as Engine);
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
  const task = new PoolTask("add");
  task.kind = "function";
  task.index = 0;
  const calls = [1, 2].map((id) => new PoolCall(id, task, [1, 2], callSettingsOf({}, settings), ""));
  for (const call of calls) {
    call.enqueue();
    worker.post(call);
  }
  expect(worker.busyUs).toBe(2 * unmeasuredUs);
  const short = new Estimate();
  // Meanwhile, the task becomes known as a short one.
  for (let run = 0; run < 8; run++) for (const estimate of [short, task.estimate]) estimate.add(1);
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
  const task = new PoolTask("add");
  task.kind = "function";
  task.index = 0;
  const call = new PoolCall(1, task, [1, 2], callSettingsOf({}, settings), "");
  call.enqueue();
  worker.post(call);
  expect(loads).toEqual([1]);
  expect([worker.load, worker.busyUs, worker.calls.size, call.counted]).toEqual([0, 0, 0, 0]);
});

test("ids are 1 to 2^31 - 1, and repeat", () => {
  const engine = { idCount: 0x7fff_fffd };
  const next = () => Engine.prototype.nextId.call(engine as Engine);
  expect([next(), next(), next(), next()]).toEqual([0x7fff_fffe, 0x7fff_ffff, 1, 2]);
});

test("when ids repeat, a call does not get the id of an open call, of an input or of a cancelled call", () => {
  const answered: [call: PoolCall, value: unknown][] = [];
  let last = 5;
  const worker = workerWith(
    (from, call, value) => {
      answered.push([call, value]);
      from.remove(call);
    },
    { idCount: 2 ** 31, nextId: () => ++last, lifecycle: { freeId } as Engine["lifecycle"] & {} },
  );
  const task = new PoolTask("add");
  task.kind = "function";
  task.index = 0;
  const [old, young] = [0, 1].map(() => new PoolCall(5, task, [1, 2], callSettingsOf({}, settings), ""));
  old!.enqueue();
  worker.post(old!);
  worker.inputs.set(6, {} as Input);
  worker.cells![7] = 7;
  young!.enqueue();
  worker.post(young!);
  expect([old!.id, young!.id]).toEqual([5, 8]);
  worker.frame(Op.Result, 8, "young", 1);
  worker.frame(Op.Result, 5, "old", 1);
  expect(answered).toEqual([
    [young, "young"],
    [old, "old"],
  ]);
});
