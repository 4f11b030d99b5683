// SPDX-License-Identifier: MIT OR Apache-2.0
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { NativeError, textOf } from "./error.js";

/**
 * The kind of view that JavaScript gets of native memory. `shared` is a SharedArrayBuffer, which other threads may have too. `detachable`
 * is an ArrayBuffer that becomes empty after its release. `copied` is an independent ArrayBuffer.
 */
export type ViewKind = "shared" | "detachable" | "copied";

/** The features of the runtime for memory that JavaScript and native code pass to each other. */
export interface NativeFeatures {
  /** The way in which native memory becomes a SharedArrayBuffer. It is Node-API, V8's own functions, or none. */
  mapping: "node-api" | "v8" | "none";
  /** Whether native code may use JavaScript's memory after a call has returned. */
  keeps: boolean;
}

/**
 * The number by which Clearway's native library (the core) knows a memory or a reply. The core refuses the numbers of released memories and
 * of answered replies.
 */
export type Handle = number;

/**
 * A message in the addon's form. `bytes` is undefined for a null message; otherwise it has the bytes or a memory's handle. `attached` has
 * the handles of the attached memories.
 */
export type AddonMessage = [bytes?: Uint8Array | Handle | undefined, attached?: Float64Array];

/** The functions of the addon (native/crates/node). They are internal, and check their arguments. A `port` is an opened plugin. */
export interface Addon {
  features(): NativeFeatures;
  /**
   * Opens a plugin, and returns its port. `drain` writes records to `heads` and `body`; `record.ts` describes them. `call` writes its
   * answer to `answerHeads` and `answerBody`. The addon calls `onWake` on this thread when there are records to drain. On failure, `open`
   * returns a status of clearway.h, and the first answer record has the error text.
   */
  open(
    path: string,
    heads: Float64Array,
    body: Uint8Array,
    answerHeads: Float64Array,
    answerBody: Uint8Array,
    onWake: () => void,
  ): object | number;
  /** Closes the plugin on a separate thread. A record of kind `closed` follows. */
  close(port: object): void;
  /** Sets whether this port keeps the process running. */
  setKeepsAlive(port: object, keep: boolean): void;
  /**
   * Prepares direct calls of a channel. Returns the number of its line (the prepared path to the handler), for `call`. The number is valid
   * as long as the port.
   */
  prepareLine(port: object, channel: string): number;
  /**
   * Calls a channel's handler at once, on this thread. Returns undefined if the answer is null. Writes any other answer to the first
   * answer record and returns 1. Returns 3 if the handler is not direct, and was not called, and 2 if it did not answer
   * during the call. With `keeps`, JavaScript keeps its reference to the memory that it sends. In this case, `call` returns true if the
   * answer is that whole memory.
   */
  call(
    line: number,
    ...message: AddonMessage | [lent: Handle, none: undefined, keeps: true]
  ): 1 | 2 | 3 | true | undefined;
  /** Sends a message. A record of kind `reply` with the id `call` follows. Returns a status. */
  send(port: object, channel: string, call: number, ...message: AddonMessage): number;
  /** Tells the plugin that the caller of `send` no longer waits. */
  cancel(port: object, call: number): void;
  /**
   * Listens to a channel's events. Records of kind `event` and one of kind `end` follow, with the id `stream`. `items` and `bytes` limit
   * the events that wait. `policy` is a number of `CLEARWAY_WHEN_FULL_...`. `credit` is the number of events that `drain` may read before
   * `grant`. `args` has the arguments for the source. Returns a status.
   */
  listen(
    port: object,
    channel: string,
    stream: number,
    items: number,
    bytes: number,
    policy: number,
    credit: number,
    args?: Uint8Array | Handle,
  ): number;
  /** Allows `drain` to read `items` more events of a stream. */
  grant(port: object, stream: number, items: number): void;
  /** Cancels a stream, and drops its waiting events. */
  unlisten(port: object, stream: number): void;
  /** Answers a message of the plugin. Returns a status. */
  answer(port: object, reply: Handle, status: 0, ...message: AddonMessage): number;
  answer(port: object, reply: Handle, status: number, text: string): number;
  /** Writes as many records as fit, and returns their number. Returns 0 if nothing waits. */
  drain(port: object): number;
  /** Allocates native memory of `size` bytes. Returns the memory's handle, or on failure the negated status. */
  allocate(port: object, size: number): Handle;
  /**
   * Lends a view's memory to native code, and returns the memory's handle. When native code has released the memory, a record of kind
   * `loanReturned` with `id` follows. Returns the negated status on failure. Returns 0 if the memory cannot be kept, because this Node
   * cannot keep memory or because the buffer is resizable and may shrink.
   */
  lend(port: object, bytes: Uint8Array, id: number): Handle;
  /** Returns the size of a memory in bytes. Returns -1 if it was released. */
  size(port: object, handle: Handle): number;
  /** Returns whether a holder has sealed the memory. Returns false if it was released. */
  isSealed(port: object, handle: Handle): boolean;
  /** Returns a buffer over the memory. Returns undefined if this runtime has no views of that kind, or if the memory was released. */
  view(port: object, handle: Handle, kind: ViewKind): ArrayBuffer | SharedArrayBuffer | undefined;
  /** Releases JavaScript's reference. Detaches `buffer` if it is an ArrayBuffer. Returns a status. */
  release(port: object, handle: Handle, buffer?: ArrayBufferLike): number;
  /** Reports to the garbage collector that native memory, which it does not count itself, has grown or shrunk by `bytes`. */
  adjust(port: object, bytes: number): void;
  stats(port: object): Record<string, number>;
}

let loaded: Addon | undefined;

/** Returns the addon. The first call loads it. Throws `addon-missing` if there is no addon for this system, or if it cannot be loaded. */
export function addon(): Addon {
  if (loaded) return loaded;
  const path = addonFile();
  try {
    loaded = createRequire(import.meta.url)(path) as Addon;
  } catch (cause) {
    const why = `the addon does not load in this Node: ${path}: ${textOf(cause)}`;
    throw new NativeError("addon-missing", `clearway-native: ${why}. ${fromSource}`, { cause });
  }
  return loaded;
}

// The file of the addon: the packages `clearway-native-PLATFORM` have prebuilt addons, and npm installs the one for the system. The command
// `clearway-native build` writes an addon into this package.

/** Instructions for a system without a prebuilt addon. */
export const fromSource =
  "To build the addon from source, install Rust 1.88 or newer (https://rustup.rs) and a C++ compiler, then run: npx clearway-native build";

/** Length of the part of a program's file that names its dynamic loader, in bytes. Linkers put the name into the first 1,024 bytes. */
const headBytes = 4096;

/** Returns the start of the running program's file. Returns an empty text if it cannot be read. */
function programHead(): string {
  try {
    const file = openSync(process.execPath, "r");
    try {
      const head = Buffer.alloc(headBytes);
      return head.toString("latin1", 0, readSync(file, head, 0, headBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

/** The facts about a process that decide which addon it can load. `head` is the start of the program's file. */
export interface System {
  readonly platform: string;
  readonly arch: string;
  readonly head: string;
}

/**
 * Returns the names of the packages whose addon may load in a process, without installed packages in mind. On Linux, the dynamic loader
 * says which C library the program uses. If its name was not found, both C libraries are possible.
 */
export function packageNames({ platform, arch, head }: System): string[] {
  const name = `clearway-native-${platform}-${arch}`;
  if (platform !== "linux") return [name];
  if (head.includes("/ld-musl-")) return [`${name}-musl`];
  if (head.includes("/ld-linux")) return [`${name}-gnu`];
  return [`${name}-gnu`, `${name}-musl`];
}

/** Returns the packages with prebuilt addons that this version of clearway-native has, with their versions. In a clone it has none. */
function prebuilt(): Record<string, string> {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { optionalDependencies?: Record<string, string> }).optionalDependencies ?? {};
}

/** Returns why there is no addon, and what to do. `names` are the packages that may have it, and `known` those that exist. */
export function whyMissing(names: readonly string[], known: Readonly<Record<string, string>>): string {
  const name = names.find((each) => Object.hasOwn(known, each));
  if (name === undefined) {
    const others = Object.keys(known).map((each) => each.replace("clearway-native-", ""));
    const list = others.length > 0 ? `; there is one for ${others.join(", ")}` : "";
    return `there is no prebuilt addon for this system (${names.join(" or ").replaceAll("clearway-native-", "")})${list}. ${fromSource}`;
  }
  return (
    `the package ${name} is not installed. npm leaves it out with --omit=optional, and if node_modules or the lock file come from ` +
    `another system. Add it with: npm install ${name}@${known[name]}. ${fromSource}`
  );
}

/** Returns the path of the addon's file. Throws `addon-missing` if there is none, and says what to do. */
export function addonFile(): string {
  const named = process.env["CLEARWAY_NATIVE_ADDON"];
  if (named !== undefined && named !== "") {
    if (existsSync(named)) return named;
    throw new NativeError("addon-missing", `clearway-native: CLEARWAY_NATIVE_ADDON names no file: ${named}`);
  }
  const own = fileURLToPath(new URL("./clearway.node", import.meta.url));
  if (existsSync(own)) return own;
  const { resolve } = createRequire(import.meta.url);
  const names = packageNames({ platform: process.platform, arch: process.arch, head: programHead() });
  for (const name of names) {
    try {
      return resolve(name);
    } catch {
      // This package is not installed. The message below names it.
    }
  }
  throw new NativeError("addon-missing", `clearway-native: ${whyMissing(names, prebuilt())}`);
}
