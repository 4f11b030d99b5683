// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CloseReason } from "../channel/transport/transport.js";
import { clearInterval, setInterval, unref } from "../globals.js";
import { isOpen, listen, type NodeSocket } from "./socket-like.js";

/**
 * Pings the other end of a client's socket every `pingMs` milliseconds. Calls `abort` if nothing has arrived for one interval after a ping, not
 * even the answer. A broken network reports nothing: without this, a client that waits for events would wait for ever. Does nothing for a
 * socket that cannot ping, such as a browser's.
 */
export function keepAlive(socket: NodeSocket, pingMs: number, abort: (reason: CloseReason) => void): void {
  if (typeof socket.ping !== "function" || typeof socket.on !== "function") return;
  let alive = true;
  const heard = (): void => {
    alive = true;
  };
  socket.on("ping", heard);
  socket.on("pong", heard);
  const timer = setInterval(() => {
    // A socket that is paused reads no answer.
    if (!alive && socket.isPaused !== true) {
      stop();
      return abort({ code: "lost", message: `no answer to a ping within ${pingMs} ms` });
    }
    alive = false;
    if (socket.readyState === isOpen) socket.ping?.();
    else alive = true;
  }, pingMs);
  unref(timer);
  const stops = [listen(socket, "message", heard), listen(socket, "close", () => stop())];
  const stop = (): void => {
    clearInterval(timer);
    for (const each of stops) each();
  };
}
