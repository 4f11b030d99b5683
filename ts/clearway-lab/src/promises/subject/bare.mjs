// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference: a worker and an id map, hand-written. `send` posts; `listen` receives each message.

/** Calls over a bare `postMessage`. This is the minimum of code, without errors, cancellation or handling of the worker's end. */
export function bare({ send, listen, stop }) {
  const waiting = new Map();
  let next = 0;
  listen(({ id, value }) => {
    const resolve = waiting.get(id);
    waiting.delete(id);
    resolve(value);
  });
  return {
    call: (value) =>
      new Promise((resolve) => {
        waiting.set(++next, resolve);
        send({ id: next, value });
      }),
    stop,
  };
}
