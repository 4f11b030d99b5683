// SPDX-License-Identifier: MIT OR Apache-2.0
// Simulates a bad network on loopback. A TCP server forwards bytes to another port and back, with delay, losses and a limited rate.
import { connect, createServer } from "node:net";
import { fair, Schedule } from "./schedule.mjs";

/** Maximum number of bytes in flight per direction: 4 MiB, Linux's usual maximum for TCP's window. With more, the sender waits. */
const windowBytes = 4 << 20;

/** Each connection may have `windowBytes` in flight in both directions. More connections are closed at once. */
const connectionsMax = 64;

/**
 * @param {number} port the target's port on 127.0.0.1
 * @param {() => number} [random]
 */
export function createLink(port, random = Math.random) {
  let weather = fair;
  /** @type {Set<{ set(weather: import("./schedule.mjs").Weather): void }>} */
  const schedules = new Set();
  /** @type {Set<import("node:net").Socket>} */
  const sockets = new Set();

  /** @param {import("node:net").Socket} from @param {import("node:net").Socket} to */
  const carry = (from, to) => {
    const schedule = new Schedule(random);
    schedule.set(weather);
    schedules.add(schedule);
    /**
     * Chunks in flight, in order of sending. One timer serves all of them, because a timer per chunk would not always keep the order.
     *
     * @type {{ dueMs: number, act: () => void }[]}
     */
    const queue = [];
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    let underWay = 0;
    const holdBack = () => (underWay > windowBytes || to.writableNeedDrain ? from.pause() : from.resume());
    const deliver = () => {
      timer = undefined;
      while (queue[0] && queue[0].dueMs <= performance.now()) queue.shift()?.act();
      // The remaining time is rounded up, because a timer may fire a fraction of a millisecond early.
      if (queue[0]) timer = setTimeout(deliver, Math.ceil(queue[0].dueMs - performance.now()));
    };
    const later = (/** @type {number} */ bytes, /** @type {() => void} */ act) => {
      queue.push({ dueMs: schedule.dueMs(performance.now(), bytes), act });
      if (timer === undefined) deliver();
    };
    from.on("data", (chunk) => {
      underWay += chunk.length;
      later(chunk.length, () => {
        underWay -= chunk.length;
        to.write(chunk);
        holdBack();
      });
      holdBack();
    });
    to.on("drain", holdBack);
    from.on("end", () => later(0, () => to.end()));
    from.on("error", () => to.destroy());
    from.on("close", () => {
      sockets.delete(from);
      schedules.delete(schedule);
      // After a regular end, bytes that were sent before it still arrive. A broken connection drops them.
      if (!from.errored) return;
      queue.length = 0;
      clearTimeout(timer);
    });
  };

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
    }
    carry(near, far);
    carry(far, near);
  });

  server.maxConnections = connectionsMax;

  return {
    /** Listens on a port of 127.0.0.1, or on a free one. @returns {Promise<number>} the port */
    listen: (near = 0) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(near, "127.0.0.1", () => {
          // The system may refuse a new connection. The others go on.
          server.off("error", reject).on("error", () => {});
          const address = server.address();
          resolve(typeof address === "object" && address ? address.port : 0);
        });
      }),
    /** @param {Partial<import("./schedule.mjs").Weather>} change applies from now on, also to open connections */
    set: (change) => {
      weather = { ...weather, ...change };
      for (const schedule of schedules) schedule.set(weather);
    },
    /** Breaks all connections and stops listening. */
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
