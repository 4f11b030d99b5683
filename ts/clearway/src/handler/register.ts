// SPDX-License-Identifier: MIT OR Apache-2.0
import { totalBufferBytes } from "../host/tag.js";
import { Form } from "../transfer/coded.js";
import { findMemory, searchLimit } from "../transfer/find-memory.js";
import { movedKey, type PreparedValue, scope, type TransferHooks } from "../transfer/hooks.js";
import { enterCopy, type LedgerSide } from "../transfer/ledger.js";
import { MovedValue } from "../transfer/move.js";
import { preparedMove } from "../transfer/prepare-argument.js";
import { wouldCopy } from "../transfer/refusal.js";
import { decode } from "./decode.js";
import { type Encoded, encode } from "./encode.js";
import type { HandledContent } from "./message.js";
import { Registry, type TransferHandler } from "./registry.js";

/** The hooks of this thread. An app may load two copies of this entry. The second one uses the registry of the first. */
class Handlers implements TransferHooks {
  readonly registry = new Registry();

  argument(value: unknown, strict: boolean, side: LedgerSide): PreparedValue | undefined {
    const moved = value instanceof MovedValue ? value : undefined;
    const encoded = encode(moved ? moved.value : value, this.registry);
    if (encoded === undefined) return undefined;
    const content = contentOf(encoded);
    const form = Form.handled;
    if (moved) return preparedMove(movedWith(moved, encoded, content), form, strict, side);
    // The handlers list what moves. All other memory is copied.
    const found = findMemory(content, searchLimit);
    const bytes = found.copies.reduce((sum, copy) => sum + copy.bytes, found.movedBytes);
    const movedBytes = totalBufferBytes(encoded.transfer);
    const copiedBytes = Math.max(0, bytes - movedBytes);
    if (copiedBytes > 0) {
      if (strict) throw wouldCopy("argument-not-moved", copiedBytes);
      enterCopy(side, "argument-not-moved", copiedBytes);
    }
    side.movedBytes += movedBytes;
    side.sharedBytes += found.sharedBytes;
    return { form, value: found.value, transfer: encoded.transfer, bytes, deep: found.deep };
  }

  encoded(value: unknown): unknown {
    const moved = value instanceof MovedValue ? value : undefined;
    const encoded = encode(moved ? moved.value : value, this.registry);
    if (encoded === undefined) return undefined;
    // The search for memory that moves finds the handlers' objects in the content.
    return moved ? movedWith(moved, encoded, contentOf(encoded)) : contentOf(encoded);
  }

  decoded(content: unknown): unknown {
    return decode(content, this.registry);
  }
}

function contentOf({ root, parts }: Encoded): HandledContent {
  return { root, parts };
}

function movedWith({ transfer }: MovedValue, encoded: Encoded, content: HandledContent): MovedValue {
  return new MovedValue(content, transfer && [...transfer, ...encoded.transfer]);
}

/**
 * Registers how instances of a class cross threads: in arguments, results, stream values, and the arguments and values of callbacks, also
 * inside arrays, objects, maps and sets. Register the handler under the same name on both sides: in the task module, and in the module that
 * makes the pool. Calls with a handler that the other side has not registered fail with `unknown-handler`.
 *
 * Once a handler is registered, every value that leaves this thread is searched for instances. Returns a function that removes the handler.
 * Throws `invalid-argument` for an invalid handler, and for a name or a class that another handler has.
 */
export function registerTransfer<T extends object, Wire>(name: string, handler: TransferHandler<T, Wire>): () => void {
  const handlers = (scope[movedKey] as Handlers | undefined) ?? new Handlers();
  const remove = handlers.registry.add(name, handler);
  scope[movedKey] = handlers;
  return () => {
    remove();
    if (handlers.registry.size === 0 && scope[movedKey] === handlers) scope[movedKey] = undefined;
  };
}
