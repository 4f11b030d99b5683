// SPDX-License-Identifier: MIT OR Apache-2.0
// The kinds of remote calls, by name. They are loaded on demand: a process that measures one kind has not loaded the libraries of another.
import type { RemoteKind } from "./kind.js";

const loaders = {
  "nats-request": async () => (await import("./jetstream.js")).natsRequestKind,
  jetstream: async () => (await import("./jetstream.js")).jetstreamKind,
  clearway: async () => (await import("./clearway.js")).clearwayRequestKind,
  "clearway-durable": async () => (await import("./clearway.js")).clearwayDurableKind,
} satisfies Record<string, () => Promise<RemoteKind>>;

export type RemoteKindName = keyof typeof loaders;

/** Returns a kind. Rejects with a RangeError if there is none of this name. */
export async function kindOf(name: string): Promise<RemoteKind> {
  if (!Object.hasOwn(loaders, name))
    throw new RangeError(`no such kind: kind=${name} (${Object.keys(loaders).join(", ")})`);
  return loaders[name as RemoteKindName]();
}
