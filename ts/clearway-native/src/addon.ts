// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { NativeError } from "./error.js";

/**
 * The kind of view that JavaScript gets of native memory. `shared` is a SharedArrayBuffer, which other threads may have too. `detachable`
 * is an ArrayBuffer that becomes empty after its release. `copied` is an independent ArrayBuffer.
 */
export type ViewKind = "shared" | "detachable" | "copied";

/** The runtime's features for memory that crosses between JavaScript and native code. */
export interface NativeFeatures {
  /** How native memory becomes a SharedArrayBuffer: with Node-API, with V8's own functions, or not at all. */
  mapping: "node-api" | "v8" | "none";
  /** Whether native code may keep JavaScript's memory beyond a call. */
  keeps: boolean;
}

/** The core's number of a memory or of a reply. The core refuses a stale number. */
export type Slot = number;

/** A message in the addon's form: nothing for null, bytes, or a memory's number. The numbers of attached memories follow. */
export type Given = [bytes?: Uint8Array | Slot | undefined, attached?: Float64Array];

/** The functions of the addon, native/crates/node. All are internal, and all refuse wrong arguments. */
export interface Addon {
  features(): NativeFeatures;
  /**
   * Loads a plugin. The addon writes later records to `heads` and `body` (see `record.ts`), and answers of direct calls to `answerHeads`
   * and `answerBody`. It calls `onWake` on this thread when there are records to drain. A returned number is a status of clearway.h. The
   * first record of the answer buffers then has the error text.
   */
  open(
    path: string,
    heads: Float64Array,
    body: Uint8Array,
    answerHeads: Float64Array,
    answerBody: Uint8Array,
    onWake: () => void,
  ): object | number;
  /** Closes the plugin on a separate thread. A closed record follows. */
  close(port: object): void;
  /** Sets whether this port keeps the process running. */
  hold(port: object, keep: boolean): void;
  /** Returns the number of a channel's line, for `call`. The number is valid as long as the port. */
  direct(port: object, channel: string): number;
  /**
   * Calls a channel's handler at once, on this thread. Returns undefined for a null answer, and 1 after writing the answer as the first
   * record. With `keeps`, JavaScript keeps the memory that it sends, and the result is true if the answer is that whole memory.
   */
  call(line: number, ...given: Given | [lent: Slot, none: undefined, keeps: true]): 1 | true | undefined;
  /** Sends to the plugin's own threads. A reply record with this `call` follows. Returns a status. */
  send(port: object, channel: string, call: number, ...given: Given): number;
  cancel(port: object, call: number): void;
  listen(
    port: object,
    channel: string,
    stream: number,
    items: number,
    bytes: number,
    policy: number,
    credit: number,
    told?: Uint8Array | Slot,
  ): number;
  grant(port: object, stream: number, items: number): void;
  unlisten(port: object, stream: number): void;
  /** Answers a message of the plugin. Returns a status. */
  answer(port: object, reply: Slot, status: 0, ...given: Given): number;
  answer(port: object, reply: Slot, status: number, text: string): number;
  /** Writes as many waiting records as fit, and returns their number. */
  drain(port: object): number;
  /** Allocates native memory of `size` bytes. Returns a negative number, the negated status, on failure. */
  allocate(port: object, size: number): Slot;
  /**
   * Keeps the memory of a view while native code may use it. A returned record with `id` follows. A negative result is a negated status.
   * The result is 0 if the memory cannot be kept: this Node cannot do it, or the buffer is resizable and may shrink.
   */
  lend(port: object, bytes: Uint8Array, id: number): Slot;
  size(port: object, slot: Slot): number;
  /** Returns a buffer over the memory. Returns undefined if this runtime has no views of that kind. */
  view(port: object, slot: Slot, kind: ViewKind): ArrayBuffer | SharedArrayBuffer | undefined;
  /** Releases this side's reference. Empties `buffer` if it is an ArrayBuffer over the memory. Returns a status. */
  release(port: object, slot: Slot, buffer?: ArrayBufferLike): number;
  /** Reports to the garbage collector a change of memory that it does not count. */
  adjust(port: object, bytes: number): void;
  stats(port: object): Record<string, number>;
}

const place = (): string =>
  process.env["CLEARWAY_NATIVE_ADDON"] ?? fileURLToPath(new URL("./clearway.node", import.meta.url));

let loaded: Addon | undefined;

/** Returns the addon, and loads it on first use. Throws `addon-missing` if the addon was not built. */
export function addon(): Addon {
  if (loaded) return loaded;
  const path = place();
  if (!existsSync(path)) {
    throw new NativeError(
      "addon-missing",
      `clearway-native: the addon was not built (${path} is not there). It is built from source and needs Rust 1.88 or ` +
        "newer: install a toolchain (https://rustup.rs), then run: npm run build -w clearway-native",
    );
  }
  try {
    loaded = createRequire(import.meta.url)(path) as Addon;
  } catch (cause) {
    throw new NativeError("addon-missing", `clearway-native: the addon does not load in this Node: ${path}`, { cause });
  }
  return loaded;
}
