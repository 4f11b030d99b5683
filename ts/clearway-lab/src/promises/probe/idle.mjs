// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures a warm, idle pool.

/**
 * Warms a mechanism, waits until the heap is quiet, then measures the processor time while it sleeps. Returns the result of `host.cpuOver`:
 * a share of one core, in percent.
 */
export async function idle({ name, calls, settleMs, idleMs }, host) {
  const subject = host.subjects(1).find((each) => each.name === name);
  const running = subject && (await subject.start());
  if (running) for (let at = 0; at < calls; at++) await running.call(at);
  await host.sleep(settleMs);
  const figure = await host.cpuOver(() => host.sleep(idleMs));
  await running?.stop();
  return figure;
}
