// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference: a hand-written id map over a worker. `send` posts a message; `listen` receives each message.

/** Makes calls over a bare `postMessage`. It has the minimum of code: no errors, no cancellation, no handling of the worker's end. */
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
