// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's mechanisms: a pool that chooses its carrier, and a pool that uses a message port only. They are the same
// on every host.
import { pool } from "clearway";

/** Returns the mechanisms `clearway` and `clearway port`. `source` is a task module's URL, or a factory of workers. */
export function clearways(source, threads) {
  const mechanism = (name, options, settings) => ({
    name,
    role: "clearway",
    settings,
    start: () => {
      const workers = pool(source, { size: threads, ...options });
      return { call: workers.call.double, stop: () => workers.close(), pool: workers };
    },
  });
  return [
    mechanism("clearway", {}, `pool(url, { size: ${threads} })`),
    mechanism("clearway port", { carrier: "port" }, `pool(url, { size: ${threads}, carrier: "port" })`),
  ];
}
