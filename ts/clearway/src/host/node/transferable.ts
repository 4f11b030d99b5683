// SPDX-License-Identifier: MIT OR Apache-2.0
import * as threads from "node:worker_threads";
import { structuredClone } from "../../globals.js";
import { bufferBytes } from "../structure.js";

const transferables = new Set(["MessagePort", "ReadableStream", "WritableStream", "TransformStream"]);

/** Returns whether structured clone can move this object. Other functions handle buffers. */
export function isTransferable(value: object): boolean {
  // Compares names first. Access to these globals would load Node's web streams, which takes 2 ms of every worker's start.
  const type = value.constructor as { name?: string } | null | undefined;
  if (type?.name === undefined) return false;
  if (transferables.has(type.name)) return type === (globalThis as Record<string, unknown>)[type.name];
  // FileHandle is not a global. Its class name and its file descriptor identify it.
  return type.name === "FileHandle" && "fd" in value;
}

// Not by `threads.isMarked…`: webpack makes an import of such a name, and Node 20, which has no such export, then refuses the whole bundle.
const marked = /* @__PURE__ */ Reflect.get(threads, "isMarkedAsUntransferable") as
  | ((value: object) => boolean)
  | undefined;

/** Whether a failed post of any message may lose the objects that it moves. Node refuses a value before it moves anything. */
export const losesMoved = false;

/**
 * Returns whether a failed post of this object may lose other objects. The port transport posts a frame with such an object alone.
 *
 * Node throws on a locked stream and on a file handle in use only after it has moved the other objects, buffers included.
 */
export function mayLoseOthers(object: object): boolean {
  return bufferBytes(object) === undefined;
}

const wasmPageBytes = 65_536;

/**
 * Returns whether this buffer cannot be moved. True for Node's buffer pool, for buffers marked as untransferable, and in Node 20 for
 * WebAssembly memory.
 */
export function isUntransferable(buffer: ArrayBuffer): boolean {
  if (marked) return marked(buffer);
  // Node 20 has no `isMarkedAsUntransferable`. Node 20 silently copies such a buffer instead of moving it. The code below recognises Node's
  // current buffer pool and WebAssembly memory. WebAssembly memory comes in whole pages, so the test, which takes 2.5 us, runs only for
  // buffers of whole pages.
  if (buffer === Buffer.allocUnsafe(1).buffer) return true;
  return buffer.byteLength > 0 && buffer.byteLength % wasmPageBytes === 0 && staysInNode20(buffer);
}

// Returns whether Node 20 would copy this buffer instead of moving it. The test lists the buffer twice. Node 20 throws on a duplicate in
// the list before it moves anything. But first it drops the objects that it does not move, so for such a buffer it finds no duplicate.
// Newer versions reject WebAssembly memory themselves. Remove this function with Node 20.
function staysInNode20(buffer: ArrayBuffer): boolean {
  const { stackTraceLimit } = Error;
  // Capturing the stack would double the time of the test.
  Error.stackTraceLimit = 0;
  try {
    structuredClone(null, { transfer: [buffer, buffer] });
    return true;
  } catch {
    return false;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Throws `DataCloneError` for a buffer that was moved before.
 *
 * Node 20 posts such a buffer without an error, but the receiver gets a `messageerror` for the whole message. Newer versions throw when the
 * buffer is posted. Remove this function with Node 20.
 */
export function refuseDetached(object: object): void {
  if (bufferBytes(object) !== 0) return;
  try {
    new Uint8Array(object as ArrayBuffer);
  } catch {
    throw new DOMException("An ArrayBuffer was moved before and could not be moved again.", "DataCloneError");
  }
}
