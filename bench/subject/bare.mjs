// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference: a worker and an id map, by hand. `send` posts, `listen` is told of each message.

/** Calls over a bare `postMessage`: the least that can be written, with no errors, no cancel, no end of the worker. */
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
