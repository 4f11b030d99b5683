// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { invalid } from "../error/clearway-error.js";

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown;
type Upgradable = Pick<Server, "on" | "off" | "listeners">;

// Key under which a listener of Clearway stores its path. The other listeners of Clearway on the same server read it, including
// listeners of another copy of the library.
const pathKey = Symbol.for("clearway.channel.websocketPath");

interface Ours {
  [pathKey]?: string;
}

/** Adds a listener for a server's upgrades at a path. Throws `invalid-argument` if another channel server has that path. */
export function attach(server: Upgradable, upgrade: Upgrade, path: string): void {
  for (const each of server.listeners("upgrade"))
    if ((each as Ours)[pathKey] === path) throw invalid("path", "free on this server", path);
  server.on("upgrade", Object.assign(upgrade, { [pathKey]: path }));
}

/**
 * Returns whether this listener must answer a request for a path. It must answer for its own path. If all listeners are
 * Clearway's, the first listener also answers for paths that no listener has, to refuse them. Listeners of other code may
 * handle any path.
 */
export function isFor(server: Upgradable, upgrade: Upgrade, path: string): boolean {
  if ((upgrade as Ours)[pathKey] === path) return true;
  const all = server.listeners("upgrade") as Ours[];
  return all[0] === upgrade && all.every((each) => each[pathKey] !== undefined && each[pathKey] !== path);
}
