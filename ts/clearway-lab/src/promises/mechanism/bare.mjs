// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference: a hand-written id map over a worker. `send` posts a message; `listen` receives each message.

/** Makes calls over a bare `postMessage`. It has the minimum of code: no errors, no cancellation, no handling of the worker's end. */
export function bare({ send, listen, stop }) {
  const pending = new Map();
  let nextId = 0;
  listen(({ id, value }) => {
    const resolve = pending.get(id);
    pending.delete(id);
    resolve(value);
  });
  return {
    call: (value) =>
      new Promise((resolve) => {
        pending.set(++nextId, resolve);
        send({ id: nextId, value });
      }),
    stop,
  };
}
