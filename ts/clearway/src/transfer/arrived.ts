// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CrossesAs } from "./crossing.js";
import type { Moved } from "./move.js";

// What structured clone makes of a value, as a type. It exists for the compiler only.

/** Names at compile time why a value cannot cross. No value has this type. */
export interface CannotCross<Reason extends string> {
  readonly cannotCross: Reason;
  // The symbol is not exported, so that no code can make such a value.
  readonly [cannot]: never;
}
declare const cannot: unique symbol;

type Fn = (...args: never[]) => unknown;
type Primitive = string | number | bigint | boolean | undefined | null;

/** Objects of the platform that arrive as they were, by the name of their class. A host without the class has nothing of this type. */
type PlatformClass =
  | "ArrayBuffer"
  | "AudioData"
  | "Blob"
  | "CryptoKey"
  | "DOMException"
  | "DOMMatrix"
  | "DOMMatrixReadOnly"
  | "DOMPoint"
  | "DOMPointReadOnly"
  | "DOMQuad"
  | "DOMRect"
  | "DOMRectReadOnly"
  | "DataView"
  | "Date"
  | "File"
  | "FileList"
  | "FileSystemDirectoryHandle"
  | "FileSystemFileHandle"
  | "ImageBitmap"
  | "ImageData"
  | "MessagePort"
  | "OffscreenCanvas"
  | "RTCCertificate"
  | "RTCDataChannel"
  | "ReadableStream"
  | "RegExp"
  | "SharedArrayBuffer"
  | "TransformStream"
  | "VideoFrame"
  | "WritableStream";
type Platform = {
  [Name in PlatformClass]: typeof globalThis extends Record<Name, { readonly prototype: infer Instance }>
    ? unknown extends Instance
      ? never
      : Instance
    : never;
}[PlatformClass];

// Node's classes are recognized by their form, because the package does not need Node's types.
interface NodeBuffer extends Uint8Array {
  toJSON(): { type: "Buffer"; data: number[] };
  readUInt8(offset?: number): number;
}
interface FileHandle {
  readonly fd: number;
  datasync(): Promise<void>;
}
interface KeyObject {
  readonly type: "secret" | "public" | "private";
  export(...options: never[]): unknown;
  equals(...other: never[]): boolean;
}
interface X509Certificate {
  readonly fingerprint512: string;
  checkHost(...name: never[]): unknown;
}

// An element type written with brackets is worked out when it is needed, so that a type may contain arrays of itself.
type List<T extends readonly unknown[]> = T[number][] extends T
  ? T extends unknown[]
    ? Arrived<T[number]>[]
    : readonly Arrived<T[number]>[]
  : { [At in keyof T]: Arrived<T[At]> };

type IsMethod<T> = [NonNullable<T>] extends [never] ? false : NonNullable<T> extends Fn ? true : false;

/** The data of an object: its properties without methods and symbols, which structured clone drops. */
type Data<T> = {
  [Name in keyof T as Name extends symbol ? never : true extends IsMethod<T[Name]> ? never : Name]: Arrived<T[Name]>;
};

/**
 * The type of a value as the other side receives it: what structured clone makes of it. A value under `move()` arrives as the value itself, a
 * table's writer as a table, a `Buffer` as a `Uint8Array`, and an instance of a class as its data, without methods. An instance of a class
 * with a transfer handler arrives as it was if the class says so: `declare readonly [crossesAs]: Money`.
 */
export type Arrived<T> = 0 extends 1 & T
  ? T
  : T extends CannotCross<string>
    ? T
    : T extends Moved<infer Inner>
      ? Arrived<Inner>
      : T extends CrossesAs<infer Other>
        ? Other
        : T extends Primitive
          ? T
          : T extends symbol
            ? CannotCross<"a symbol cannot cross threads">
            : T extends Fn
              ? CannotCross<"a function cannot cross threads: take a Callback, and pass callback(fn)">
              : T extends NodeBuffer
                ? Uint8Array<T["buffer"]>
                : T extends Platform | ArrayBufferView | FileHandle | KeyObject | X509Certificate
                  ? T
                  : T extends Promise<unknown>
                    ? CannotCross<"a promise cannot cross threads: await it first">
                    : T extends Error
                      ? Error & Data<T>
                      : T extends Map<infer Key, infer Value>
                        ? Map<Arrived<Key>, Arrived<Value>>
                        : T extends Set<infer Each>
                          ? Set<Arrived<Each>>
                          : T extends readonly unknown[]
                            ? List<T>
                            : T extends object
                              ? Data<T>
                              : T;

/**
 * The values that a caller may pass for a parameter of type `T`: `T` itself if a value of this type arrives as the parameter says, otherwise
 * the reason why it does not.
 */
export type Sendable<T> = 0 extends 1 & T
  ? T
  : T extends unknown
    ? [Arrived<T>] extends [T]
      ? T
      : Arrived<T> extends CannotCross<string>
        ? Arrived<T>
        : CannotCross<"declare the parameter as what arrives: data without methods, and a Uint8Array for a Buffer">
    : never;
