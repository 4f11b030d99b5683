// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway by both carriers, the same on every host.
import { pool } from "clearway";

/** Undefined when a pool can be told which carrier to use; else why not. */
export function whyNoCarriers(source) {
  try {
    // Refused before a worker is started, where the option is known.
    void pool(source, { size: 1, carrier: "pigeon" }).terminate();
  } catch {
    return undefined;
  }
  return "this build has one carrier only, the port";
}

/** The subjects `clearway` and `clearway port`; `source` is a task module's URL, or a factory of workers. */
export function clearways(source, threads) {
  const why = whyNoCarriers(source);
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
    {
      ...subject("clearway port", { carrier: "port" }, `pool(url, { size: ${threads}, carrier: "port" })`),
      ...(why === undefined ? {} : { unavailable: why }),
    },
  ];
}
