// SPDX-License-Identifier: MIT OR Apache-2.0
// A scenario for `npx clearway bench`: several ways to do the same work. Change `countPrimes` in bench.tasks.js to your own work,
// and the inputs below to its arguments.
import { move, pool, run } from "clearway";
import { connect, portTransport } from "clearway/channel";
import { scenario } from "clearway-lab";
import tasks from "./bench.tasks.js";

// The worker's file.
const source = new URL("./bench.tasks.js", import.meta.url);

export default scenario({
  title: "Should counting primes leave the main thread?",

  // Each way is measured with each input. Give each input a name, such as its size.
  // If a way changes its input, write a function that makes a new one: `large: () => new Float64Array(1_000_000)`.
  inputs: { small: 1_000, large: 1_000_000 },

  // Verifies the result of each way, before and after measuring.
  check: (count, limit) => count === (limit === 1_000 ? 168 : 78_498),

  // A way is a function of the input. `direct` runs on the main thread; the others are compared with it.
  direct: (limit) => tasks.countPrimes(limit),

  // A new worker for each call.
  worker: (limit) => run(source).call.countPrimes(limit),

  // A way with a setup. Only `run` is timed.
  pool: {
    setup: async () => {
      const workers = pool(source, { size: 1 });
      await workers.ready();
      return workers;
    },
    run: (limit, workers) => workers.call.countPrimes(limit),
    teardown: (workers) => workers.close(),
  },

  // Messages to a worker that stays, over a channel. Delete the ways that you do not need.
  channel: {
    setup: async () => {
      const workers = pool(source, { size: 1 });
      const { port1, port2 } = new MessageChannel();
      const [endpoint] = await Promise.all([connect(portTransport(port1)), workers.call.answer(move(port2))]);
      return { workers, primes: endpoint.methods("primes") };
    },
    run: (limit, { primes }) => primes.call("count", limit),
    teardown: ({ workers }) => workers.close(),
  },
});
