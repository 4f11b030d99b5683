// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions that a probe needs of its host, for a page. The runner provides `labStandApart` and `labCpuMs`, because a page can
// neither pin threads nor read its processor time.

import { mechanisms } from "../mechanism/page.mjs";
import { call } from "../probe/call.mjs";
import { flight } from "../probe/flight.mjs";
import { idle } from "../probe/idle.mjs";
import { list } from "../probe/list.mjs";
import { scan } from "../probe/scan.mjs";
import { start } from "../probe/start.mjs";
import { stream } from "../probe/stream.mjs";
import { streamValues } from "../probe/stream-values.mjs";
import { students } from "../probe/students.mjs";

const host = {
  name: "chromium",
  mechanisms,
  // In a page, a timer that is set inside another timer's callback is up to 4 ms late. A task with a delay is not.
  sleep: (ms) => scheduler.postTask(() => {}, { delay: ms }),
  workerUrl: (name) => new URL(`./promises-worker-${name}.js`, import.meta.url),
  openWorker(url) {
    const worker = new Worker(url, { type: "module" });
    return {
      post: (message) => worker.postMessage(message),
      listen: (receive) => worker.addEventListener("message", ({ data }) => receive(data)),
      end: () => worker.terminate(),
    };
  },
  async threadsStartedBy(use) {
    await use();
    return [];
  },
  watchCores: () => () => null,
  pinToTwoCores: () => globalThis.labStandApart(),
  async cpuPercentOf(use) {
    const before = await globalThis.labCpuMs();
    const begin = performance.now();
    await use();
    const elapsed = performance.now() - begin;
    return (((await globalThis.labCpuMs()) - before) / elapsed) * 100;
  },
};

const probes = { call, flight, idle, list, scan, start, stream, "stream-values": streamValues, students };

globalThis.labProbe = (name, params) => probes[name](params, host);
