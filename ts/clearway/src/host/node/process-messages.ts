// SPDX-License-Identifier: MIT OR Apache-2.0
import { types } from "node:util";
import { type WireError, wireKey, withoutUncopied } from "../../error/wire.js";
import { structuredClone } from "../../globals.js";
import { bufferBytes, hasOnlyPrototype, isOfHost, isRefused, Structure, slotTag, tagOf } from "../structure.js";
import { isUntransferable } from "./transferable.js";

/** Returns how structured clone copies an object. Runs no code of the app, except the getters of an object with a prototype of the host. */
export function structureOf(value: object): Structure {
  // The traps of a proxy are foreign code, and structured clone refuses it.
  if (types.isProxy(value)) return Structure.whole;
  if (Array.isArray(value)) return Structure.array;
  if (ArrayBuffer.isView(value)) return Structure.view;
  if (types.isMap(value)) return Structure.map;
  if (types.isSet(value)) return Structure.set;
  if (types.isAnyArrayBuffer(value)) return types.isSharedArrayBuffer(value) ? Structure.shared : Structure.buffer;
  const prototype: object | null = Object.getPrototypeOf(value);
  const tag = slotTag(value);
  if (tag === "Object" && (prototype === Object.prototype || prototype === null)) return Structure.properties;
  if (isOfNode(prototype)) return hasOnlyPrototype(value) ? Structure.properties : Structure.whole;
  if (types.isNativeError(value)) return Structure.error;
  if (tag === undefined ? hasOtherSlots(value) : tag !== "Object") return Structure.whole;
  return isRefused(value) ? Structure.whole : Structure.properties;
}

function hasOtherSlots(value: object): boolean {
  return (
    types.isDate(value) || types.isRegExp(value) || types.isBoxedPrimitive(value) || types.isArgumentsObject(value)
  );
}

/** Returns whether an object with the tag "Object" is a map, a set or a buffer. */
export function hasHiddenSlots(value: object, _keys: number): boolean {
  return types.isMap(value) || types.isSet(value) || types.isAnyArrayBuffer(value);
}

/** Returns whether only `postMessage` copies or moves instances of this prototype, or nothing does. */
function isOfNode(prototype: object | null): boolean {
  return isOfHost(prototype, isMarked);
}

// Node marks the prototypes of its classes whose instances only `postMessage` copies or moves. Node 20 does not mark an error of the DOM, and
// copies its own properties.
function isMarked(prototype: object): boolean {
  return Object.getOwnPropertySymbols(prototype).some(({ description }) => description?.startsWith("messaging_"));
}

// The messages between a pool and a worker that is a child process. Each is an object with one key, so that a task module can send its own
// messages on the same channel. Its value has the bytes of V8's serialization of `[kind, content]`. Node's serialization of the channel
// itself would not do: it silently drops what it cannot copy, and views arrive as parts of a larger buffer.

/** Number of the file in a child process that is the pipe to its pool's thread. Files 0 to 2 are standard, 3 has the messages. */
export const lifePipe = 4;

/** The kinds of message. */
export enum ProcessMessage {
  /** To the child, first: its {@link ProcessOrders}. */
  Start = 0,
  /** A message of the pool or of the worker. */
  Posted = 1,
  /** Asks the child to print everything, and is its answer. */
  Flush = 2,
  /** From the child: the error that ends it, as a `WireError`. */
  Uncaught = 3,
}

/** What a child process receives first. */
export interface ProcessOrders {
  /** URL of the task module. */
  readonly url: string;
  /** Orders for a module that needs a loader. */
  readonly start: unknown;
  readonly name: string;
  readonly greeting: unknown;
  readonly workerData: unknown;
}

/** What crosses the channel between two processes. */
export interface Envelope {
  readonly clearway: Uint8Array;
}

/**
 * The key under which a child process holds its connection to its pool. `start/child.ts` writes it, and `parent()` reads it.
 */
export const parentKey: unique symbol = Symbol.for("clearway.parent");

// Node writes the length of a message in 32 bits and does not check it.
const messageBytesMax = 2 ** 31 - 1;

/**
 * Copies a message. Throws `DataCloneError` for what cannot be copied to another process, and for a message of 2 GiB or more.
 */
export function encodeMessage(kind: ProcessMessage, content: unknown, bytesMax = messageBytesMax): Envelope {
  refuseHostObjects(content);
  const { Serializer } = process.getBuiltinModule("node:v8");
  const serializer = new Serializer();
  serializer.writeHeader();
  serializer.writeValue([kind, content]);
  const bytes = serializer.releaseBuffer();
  if (bytes.byteLength > bytesMax)
    throw refusal(`A message of ${bytes.byteLength} bytes is too long for another process (at most ${bytesMax}).`);
  return { clearway: bytes };
}

/** Reads a message. Returns undefined for one that is not Clearway's. Throws for one that cannot be read. */
export function decodeMessage(message: unknown): [kind: ProcessMessage, content: unknown] | undefined {
  const bytes = (message as Partial<Envelope> | null | undefined)?.clearway;
  if (!(bytes instanceof Uint8Array)) return undefined;
  const { Deserializer } = process.getBuiltinModule("node:v8");
  const deserializer = new Deserializer(bytes);
  deserializer.readHeader();
  const read: unknown = deserializer.readValue();
  if (!Array.isArray(read) || typeof read[0] !== "number") throw new TypeError("a message of another form");
  return [read[0], read[1]];
}

/**
 * Posts a copy of a message, and takes the buffers in `transfer` away from this thread, as a move does. Throws `DataCloneError` for other
 * objects in `transfer`, which only threads can exchange. In that case nothing was sent, and nothing taken.
 */
export function postCopy(send: (envelope: Envelope) => void, message: unknown, transfer: readonly object[]): void {
  for (const object of transfer)
    if (bufferBytes(object) === undefined) throw refusal(`${nameOf(object)} cannot cross to another process.`);
  const envelope = encodePosted(message);
  for (const buffer of transfer) detach(buffer as ArrayBuffer);
  send(envelope);
}

// An error must arrive, although a thread could receive more of it than a process.
function encodePosted(message: unknown): Envelope {
  try {
    return encodeMessage(ProcessMessage.Posted, message);
  } catch (reason) {
    const other = withCopiedErrors(message);
    if (other === message) throw reason;
    return encodeMessage(ProcessMessage.Posted, other);
  }
}

// Searches the slots of frames. The answer to a callback has its error in a list.
function withCopiedErrors(slot: unknown, depth = 0): unknown {
  if (slot === null || typeof slot !== "object") return slot;
  if (wireKey in slot)
    return withoutUncopied(slot as unknown as WireError, (each) => encodeMessage(ProcessMessage.Posted, each));
  if (depth > 1 || !Array.isArray(slot)) return slot;
  const slots = slot.map((each) => withCopiedErrors(each, depth + 1));
  return slots.some((each, at) => each !== slot[at]) ? slots : slot;
}

// Memory that cannot be moved, such as WebAssembly's, stays with its owner. Its copy is sent in any case.
function detach(buffer: ArrayBuffer): void {
  try {
    if (!isUntransferable(buffer)) structuredClone(undefined, { transfer: [buffer] });
  } catch {
    // It stays.
  }
}

/**
 * Throws for what another process cannot read: objects of the host, such as a Blob, a port, a stream or a WebAssembly.Module. V8's
 * serialization writes an empty object or nothing for some of them, and the other process could then not read the whole message.
 */
function refuseHostObjects(root: unknown): void {
  const nodes = new Set<object>();
  const add = (value: unknown): void => {
    if (value !== null && typeof value === "object") nodes.add(value);
  };
  add(root);
  // An iteration over a set includes the entries that its loop adds.
  for (const node of nodes) {
    switch (structureOf(node)) {
      case Structure.array:
      case Structure.properties:
        for (const value of Object.values(node)) add(value);
        break;
      case Structure.map:
        Map.prototype.forEach.call(node, (value, key) => {
          add(key);
          add(value);
        });
        break;
      case Structure.set:
        Set.prototype.forEach.call(node, add);
        break;
      case Structure.error:
        add(Object.getOwnPropertyDescriptor(node, "cause")?.value);
        break;
      case Structure.shared:
        throw refusal("Shared memory cannot cross to another process.");
      case Structure.whole:
        if (!types.isDate(node) && !types.isRegExp(node) && !types.isBoxedPrimitive(node))
          throw refusal(`${nameOf(node)} cannot cross to another process.`);
    }
  }
}

const refusal = (message: string): DOMException => new DOMException(message, "DataCloneError");

function nameOf(object: object): string {
  try {
    const name: unknown = (object.constructor as { name?: unknown } | undefined)?.name;
    return typeof name === "string" && name !== "" ? name : tagOf(object);
  } catch {
    // The object is foreign, such as a revoked proxy.
    return "An object";
  }
}
