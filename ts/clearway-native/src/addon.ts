// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { NativeError } from "./error.js";

/**
 * How JavaScript sees native memory. `shared`: a SharedArrayBuffer, which other threads may have too. `detachable`: an
 * ArrayBuffer, empty after its release. `copied`: an ArrayBuffer of its own.
 */
export type ViewKind = "shared" | "detachable" | "copied";

/** What this runtime can do with memory that crosses. */
export interface NativeFeatures {
  /** How native memory becomes a SharedArrayBuffer: by Node-API, by V8's own functions, or not at all. */
  mapping: "node-api" | "v8" | "none";
  /** Whether native code may keep JavaScript's memory beyond a call. */
  keeps: boolean;
}

/** The core's own name of a memory, or of a reply; a stale one is refused, not followed. */
export type Slot = number;

/** A message as the addon takes it: nothing for null, bytes, or a memory's number; then numbers of what goes along. */
export type Given = [bytes?: Uint8Array | Slot | undefined, attached?: Float64Array];

/** What the addon, native/crates/node, gives. None of it is public; all of it refuses wrong arguments. */
export interface Addon {
  features(): NativeFeatures;
  /**
   * Loads a plugin. What comes later is written to the first two (see `record.ts`), what a direct call answers to the other
   * two; `onWake` is called on this thread when there is something to drain. A number is a status of clearway.h, whose text
   * stands as the first record's in the latter.
   */
  open(
    path: string,
    heads: Float64Array,
    body: Uint8Array,
    answerHeads: Float64Array,
    answerBody: Uint8Array,
    onWake: () => void,
  ): object | number;
  /** Ends it on a thread of its own; a closed record follows. */
  close(port: object): void;
  /** Whether this port keeps the process running. */
  hold(port: object, keep: boolean): void;
  /** The number of a line to a channel, for `call`; until the port goes. */
  direct(port: object, channel: string): number;
  /**
   * Calls a channel's handler, here and now: gives nothing for a null answer, 1 for one that was written as the first record. With
   * `keeps`, JavaScript has the memory that it sends, and is given `keeps` where the answer is all of that memory.
   */
  call(line: number, ...given: Given | [lent: Slot, none: undefined, keeps: true]): 1 | true | undefined;
  /** Sends to the plugin's own threads; a reply record with this `call` follows. Gives a status. */
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
  /** Answers a message of the plugin's. Gives a status. */
  answer(port: object, reply: Slot, status: 0, ...given: Given): number;
  answer(port: object, reply: Slot, status: number, text: string): number;
  /** Writes records, as many as there are and fit; gives how many. */
  drain(port: object): number;
  /** Native memory of so many bytes, or a negative status. */
  allocate(port: object, size: number): Slot;
  /** Keeps the memory of a view while native code may have it; a returned record with `id` follows. Negative: a status. 0:
   * it cannot be kept, because this Node cannot, or because the buffer is resizable and may shrink. */
  lend(port: object, bytes: Uint8Array, id: number): Slot;
  size(port: object, slot: Slot): number;
  /** A buffer over the memory; undefined where this runtime has no views of that kind. */
  view(port: object, slot: Slot, kind: ViewKind): ArrayBuffer | SharedArrayBuffer | undefined;
  /** Gives this side's reference up; makes `buffer` empty, where it is an ArrayBuffer over it. Gives a status. */
  release(port: object, slot: Slot, buffer?: ArrayBufferLike): number;
  /** Tells the garbage collector of memory that it does not see. */
  adjust(port: object, bytes: number): void;
  stats(port: object): Record<string, number>;
}

const place = (): string =>
  process.env["CLEARWAY_NATIVE_ADDON"] ?? fileURLToPath(new URL("./clearway.node", import.meta.url));

let loaded: Addon | undefined;

/** The addon, loaded when first needed. Throws `addon-missing` where it was not built. */
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
