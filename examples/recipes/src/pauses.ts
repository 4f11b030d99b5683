// SPDX-License-Identifier: MIT OR Apache-2.0
// #region pauses
/** Returns a function that lets the thread handle its messages, at most once every `everyMs` milliseconds. */
export function pauses(everyMs = 8): () => Promise<void> {
  let startMs = performance.now();
  return async () => {
    if (performance.now() - startMs < everyMs) return;
    const { port1, port2 } = new MessageChannel(); // setTimeout would take 4 ms in browsers
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
    port1.close();
    startMs = performance.now();
  };
}
// #endregion pauses
