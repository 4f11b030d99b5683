// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { copyValue } from "../transfer/copy-value.js";
import { unknownHandler } from "../transfer/unknown-handler.js";
import { contentOf } from "./message.js";
import type { Registered, Registry } from "./registry.js";

/**
 * Makes the value of a content, with the instances that the handlers return.
 *
 * Throws `protocol` for a content of another form, `unknown-handler` for a name that is not registered on this thread, and `message-error`
 * if a handler throws or returns no object.
 */
export function decode(content: unknown, registry: Registry): unknown {
  const { root, parts } = contentOf(content);
  const instances = new Map<object, object>();
  const withInstances = (value: unknown): unknown =>
    instances.size === 0 ? value : copyValue(value, (object) => instances.get(object));
  for (const [place, name, wire] of parts) {
    const handler = registry.named(name);
    if (handler === undefined) throw unknownHandler(name, registry.names);
    instances.set(place, deserialized(handler, withInstances(wire)));
  }
  return withInstances(root);
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
