// SPDX-License-Identifier: MIT OR Apache-2.0
// Measured on the host: tasks a second with many calls in flight. One subject a process (or page): pools in one process
// share a heap, and the garbage of one would be collected in the time of another.

/** Each of `inFlight` loops makes its next call when its last one is answered. Returns tasks a second. */
export async function flight({ name, threads, inFlight, warmMs, measuredMs }, host) {
  const subject = host.subjects(threads).find((each) => each.name === name);
  if (subject === undefined) throw new RangeError(`no such mechanism on this host: name=${name} threads=${threads}`);
  const { call, stop } = await subject.start();
  await tasksASecond(call, inFlight, warmMs);
  const figure = await tasksASecond(call, inFlight, measuredMs);
  // A pool that waits for its workers' peace is not what is measured here.
  void Promise.resolve(stop()).catch(() => {});
  return figure;
}

async function tasksASecond(call, inFlight, lastsMs) {
  let done = 0;
  const begin = performance.now();
  const end = begin + lastsMs;
  let now = begin;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (now < end) {
        await call(done);
        done++;
        // The clock is read for every 64th answer only: reading it costs as much as a small part of a call.
        if (done % 64 === 0) now = performance.now();
      }
    }),
  );
  return (done / (performance.now() - begin)) * 1000;
}
