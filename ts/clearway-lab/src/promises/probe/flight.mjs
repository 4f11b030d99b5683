// SPDX-License-Identifier: MIT OR Apache-2.0
// Measured on the host: tasks per second with many calls in flight. One subject per process (or page): pools in one process share a heap,
// and one pool's garbage would be collected in another one's time.

// Calls that the optimising compiler needs to have seen. When it compiles depends on the load of the machine: after 150 ms on a busy one,
// the fastest mechanisms, which have the most code of their own, were still a third slower.
const warmCalls = 200_000;

/**
 * Runs `inFlight` loops, each of which makes its next call when the last one is answered. Returns tasks per second, after a warm-up of at
 * least `warmMsMin` that ends with enough calls for the compiler, or after `warmMsMax`.
 */
export async function flight({ name, threads, inFlight, warmMsMin, warmMsMax, measuredMs }, host) {
  const subject = host.subjects(threads).find((each) => each.name === name);
  if (subject === undefined) throw new RangeError(`no such mechanism on this host: name=${name} threads=${threads}`);
  const { call, stop } = await subject.start();
  await tasksASecond(call, inFlight, warmMsMax, (done, forMs) => done >= warmCalls && forMs >= warmMsMin);
  const figure = await tasksASecond(call, inFlight, measuredMs);
  // Does not wait for `stop`: how long a pool waits for its workers to end is not measured here.
  void Promise.resolve(stop()).catch(() => {});
  return figure;
}

async function tasksASecond(call, inFlight, lastsMs, enough = () => false) {
  let done = 0;
  const begin = performance.now();
  let over = false;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (!over) {
        await call(done);
        done++;
        // Reads the clock for every 64th answer only: a reading costs as much as a small part of a call.
        if (done % 64 !== 0) continue;
        const forMs = performance.now() - begin;
        over = forMs >= lastsMs || enough(done, forMs);
      }
    }),
  );
  return (done / (performance.now() - begin)) * 1000;
}
