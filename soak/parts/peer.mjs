// SPDX-License-Identifier: MIT OR Apache-2.0
// The other end of the part `channels`: in a worker, in a child process, or behind a WebSocket server.
import { isMainThread, parentPort } from "node:worker_threads";
import { connect, portTransport } from "clearway/channel";
import { replaceGlobals } from "../faults.mjs";

/** Number of channels of each kind of events. A second listener of a channel takes the place of the first one. */
export const channelsEach = 8;

/** Serves the methods and events of the part at an endpoint. `isAlone` says whether nothing else runs in this thread. */
export function serve(endpoint, isAlone = false) {
  endpoint.methods("soak").handle({
    same: (value) => value,
    throws() {
      throw new RangeError("on purpose");
    },
    replaces() {
      if (isAlone) replaceGlobals();
    },
    hold: (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
  });
  for (let at = 1; at <= channelsEach; at++) {
    endpoint.events(`soak/numbers/${at}`).serve(async (count, sink) => {
      for (let value = 0; value < count && !sink.signal.aborted; value++) await sink.send(value);
    });
    endpoint.events(`soak/chunks/${at}`).serve(async (bytes, sink) => {
      while (!sink.signal.aborted) await sink.send(new Uint8Array(bytes));
    });
  }
}

if (!isMainThread && parentPort !== null) serve(await connect(portTransport(parentPort)), true);
else if (process.argv[2] === "child") {
  const { parentTransport } = await import("clearway/channel/stdio");
  serve(await connect(parentTransport()), true);
}
