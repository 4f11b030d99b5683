// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures tasks per second with many calls in flight. Each process (or page) measures one mechanism.
// Pools in one process would share a heap, and the collection of one pool's garbage would slow another pool's measurement.

// The number of calls after which the optimising compiler has usually run. The time of the compilation depends on the load of the machine.
// After a warm-up of only 150 ms on a busy machine, the fastest mechanisms, which have the most code to compile, were still a third slower
// than after a full warm-up.
const warmCalls = 200_000;

/**
 * Runs `inFlight` loops. Each loop makes its next call when its last call is answered. Returns tasks per second, after a warm-up. The
 * warm-up takes at least `warmMsMin` and enough calls for the compiler, but at most `warmMsMax`.
 */
export async function flight({ name, threads, inFlight, warmMsMin, warmMsMax, measuredMs }, host) {
  const mechanism = host.mechanisms(threads).find((each) => each.name === name);
  if (mechanism === undefined) throw new RangeError(`no such mechanism on this host: name=${name} threads=${threads}`);
  const { call, stop } = await mechanism.start();
  await tasksPerSecond(call, inFlight, warmMsMax, (done, elapsedMs) => done >= warmCalls && elapsedMs >= warmMsMin);
  const figure = await tasksPerSecond(call, inFlight, measuredMs);
  // Does not wait for `stop`, because the time until a pool's workers end is not measured here.
  void Promise.resolve(stop()).catch(() => {});
  return figure;
}

async function tasksPerSecond(call, inFlight, durationMs, isDone = () => false) {
  let done = 0;
  const begin = performance.now();
  let over = false;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (!over) {
        await call(done);
        done++;
        // Reads the clock only for every 64th answer, because a reading takes a noticeable part of the time of a call.
        if (done % 64 !== 0) continue;
        const elapsedMs = performance.now() - begin;
        over = elapsedMs >= durationMs || isDone(done, elapsedMs);
      }
    }),
  );
  return (done / (performance.now() - begin)) * 1000;
}
