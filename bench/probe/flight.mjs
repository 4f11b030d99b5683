// SPDX-License-Identifier: MIT OR Apache-2.0
// Measured on the host: tasks a second with many calls in flight. One subject a process (or page): pools in one process
// share a heap, and the garbage of one would be collected in the time of another.

// What the optimising compiler needs to have seen. How long it takes to come round to it depends on what else the machine
// does: on a busy one 150 ms left the fastest mechanisms, which have the most code of their own, a third slower.
const warmCalls = 200_000;

/**
 * Each of `inFlight` loops makes its next call when its last one is answered. Returns tasks a second, after at least
 * `warmMsMin` and either enough calls for the compiler or `warmMsMax`.
 */
export async function flight({ name, threads, inFlight, warmMsMin, warmMsMax, measuredMs }, host) {
  const subject = host.subjects(threads).find((each) => each.name === name);
  if (subject === undefined) throw new RangeError(`no such mechanism on this host: name=${name} threads=${threads}`);
  const { call, stop } = await subject.start();
  await tasksASecond(call, inFlight, warmMsMax, (done, forMs) => done >= warmCalls && forMs >= warmMsMin);
  const figure = await tasksASecond(call, inFlight, measuredMs);
  // A pool that waits for its workers' peace is not what is measured here.
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
        // The clock is read for every 64th answer only: reading it costs as much as a small part of a call.
        if (done % 64 !== 0) continue;
        const forMs = performance.now() - begin;
        over = forMs >= lastsMs || enough(done, forMs);
      }
    }),
  );
  return (done / (performance.now() - begin)) * 1000;
}
