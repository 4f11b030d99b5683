// SPDX-License-Identifier: MIT OR Apache-2.0
// node bench/throughput-once.mjs MECHANISM THREADS: prints tasks a second with 1000 calls in flight.
import { mechanisms } from "./mechanisms/mechanisms.mjs";

const inFlight = 1000;
const tasks = 20_000;

const [name, threads] = process.argv.slice(2);
const subject = mechanisms(Number(threads)).find((each) => each.name === name);
if (subject === undefined) throw new RangeError(`no such mechanism: ${name}`);
const { call, stop } = subject.start();

async function tasksASecond() {
  let left = tasks;
  const begin = performance.now();
  // Each of 1000 loops makes its next call when its last one is answered.
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await call(left);
    }),
  );
  return (tasks / (performance.now() - begin)) * 1000;
}

// Warm: the code is compiled, the workers are up.
await tasksASecond();
await tasksASecond();
console.log(await tasksASecond());
await stop();
process.exit(0);
