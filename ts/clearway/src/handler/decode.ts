// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { compact } from "../transfer/compact.js";
import { unknownHandler } from "../transfer/unknown-handler.js";
import { partsOf } from "./message.js";
import type { Registered, Registry } from "./registry.js";

/**
 * Makes the value of a message, with the instances that the handlers return.
 *
 * Throws `protocol` for a message of another form, `unknown-handler` for a name that is not registered on this thread, and `message-error`
 * if a handler throws or returns no object.
 */
export function decode(message: object, registry: Registry): unknown {
  const { root, parts } = partsOf(message);
  const instances = new Map<object, object>();
  for (const [place, name, wire] of parts) {
    const handler = registry.named(name);
    if (handler === undefined) throw unknownHandler(name, registry.names);
    instances.set(place, deserialized(handler, instances.size === 0 ? wire : compact(wire, instances)));
  }
  return compact(root, instances);
}

function deserialized(handler: Registered, wire: unknown): object {
  let instance: unknown;
  try {
    instance = handler.deserialize(wire);
  } catch (reason) {
    throw failed(handler, `failed: ${messageOf(reason)}`, reason);
  }
  if (instance !== null && typeof instance === "object") return instance;
  throw failed(handler, "returned no object");
}

function failed({ name }: Registered, how: string, cause?: unknown): ClearwayError {
  return caused("message-error", `the deserialize() of the transfer handler "${name}" ${how}`, cause);
}
