// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { invalid } from "../error/clearway-error.js";

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown;
type Upgradable = Pick<Server, "on" | "off" | "listeners">;

// Under which a listener of ours says its path: others of ours on the same server look for it, those of another copy of the library
// as well.
const pathKey = Symbol.for("clearway.channel.websocketPath");

interface Ours {
  [pathKey]?: string;
}

/** Listens to a server's upgrades, at a path. Throws `invalid-argument` where another server of channels has that path. */
export function attach(server: Upgradable, upgrade: Upgrade, path: string): void {
  for (const each of server.listeners("upgrade"))
    if ((each as Ours)[pathKey] === path) throw invalid("path", "free on this server", path);
  server.on("upgrade", Object.assign(upgrade, { [pathKey]: path }));
}

/**
 * Whether a listener of ours has to answer a request for a path: its own, or one that nobody has. Listeners that are not ours may have
 * any; where there are ours alone, the first of them refuses what none has.
 */
export function isFor(server: Upgradable, upgrade: Upgrade, path: string): boolean {
  if ((upgrade as Ours)[pathKey] === path) return true;
  const all = server.listeners("upgrade") as Ours[];
  return all[0] === upgrade && all.every((each) => each[pathKey] !== undefined && each[pathKey] !== path);
}
