// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's subjects (measured mechanisms): a pool that chooses its carrier, and a pool that uses a message port only. They are the same
// on every host.
import { pool } from "clearway";

/** Returns the subjects `clearway` and `clearway port`. `source` is a task module's URL, or a factory of workers. */
export function clearways(source, threads) {
  const subject = (name, options, settings) => ({
    name,
    role: "clearway",
    settings,
    start: () => {
      const made = pool(source, { size: threads, ...options });
      return { call: made.call.double, stop: () => made.close(), pool: made };
    },
  });
  return [
    subject("clearway", {}, `pool(url, { size: ${threads} })`),
    subject("clearway port", { carrier: "port" }, `pool(url, { size: ${threads}, carrier: "port" })`),
  ];
}
