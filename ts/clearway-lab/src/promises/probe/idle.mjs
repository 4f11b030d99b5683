// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures a warm, idle pool.

/**
 * Warms a mechanism, waits until the heap is quiet, then measures the processor time while it sleeps. Returns the result of
 * `host.cpuPercentOf`: a share of one core, in percent.
 */
export async function idle({ name, calls, settleMs, idleMs }, host) {
  const mechanism = host.mechanisms(1).find((each) => each.name === name);
  const instance = mechanism && (await mechanism.start());
  if (instance) for (let at = 0; at < calls; at++) await instance.call(at);
  await host.sleep(settleMs);
  const figure = await host.cpuPercentOf(() => host.sleep(idleMs));
  await instance?.stop();
  return figure;
}
