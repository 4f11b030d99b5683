import { C as CrossesAs } from './types-crossing.js';
import { M as Moved } from './types-move.js';

/** Names at compile time why a value cannot cross. No value has this type. */
interface CannotCross<Reason extends string> {
    readonly cannotCross: Reason;
    readonly [cannot]: never;
}
declare const cannot: unique symbol;
type Fn$1 = (...args: never[]) => unknown;
type Primitive = string | number | bigint | boolean | undefined | null;
/** Objects of the platform that arrive as they were, by the name of their class. A host without the class has nothing of this type. */
type PlatformClass = "ArrayBuffer" | "AudioData" | "Blob" | "CryptoKey" | "DOMException" | "DOMMatrix" | "DOMMatrixReadOnly" | "DOMPoint" | "DOMPointReadOnly" | "DOMQuad" | "DOMRect" | "DOMRectReadOnly" | "DataView" | "Date" | "File" | "FileList" | "FileSystemDirectoryHandle" | "FileSystemFileHandle" | "ImageBitmap" | "ImageData" | "MessagePort" | "OffscreenCanvas" | "RTCCertificate" | "RTCDataChannel" | "ReadableStream" | "RegExp" | "SharedArrayBuffer" | "TransformStream" | "VideoFrame" | "WritableStream";
type Platform = {
    [Name in PlatformClass]: typeof globalThis extends Record<Name, {
        readonly prototype: infer Instance;
    }> ? unknown extends Instance ? never : Instance : never;
}[PlatformClass];
interface NodeBuffer extends Uint8Array {
    toJSON(): {
        type: "Buffer";
        data: number[];
    };
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
type List<T extends readonly unknown[]> = T[number][] extends T ? T extends unknown[] ? Arrived<T[number]>[] : readonly Arrived<T[number]>[] : {
    [At in keyof T]: Arrived<T[At]>;
};
type IsMethod<T> = [NonNullable<T>] extends [never] ? false : NonNullable<T> extends Fn$1 ? true : false;
/** The data of an object: its properties without methods and symbols, which structured clone drops. */
type Data<T> = {
    [Name in keyof T as Name extends symbol ? never : true extends IsMethod<T[Name]> ? never : Name]: Arrived<T[Name]>;
};
/**
 * The type of a value as the other side receives it: what structured clone makes of it. A value under `move()` arrives as the value itself, a
 * table's writer as a table, a `Buffer` as a `Uint8Array`, and an instance of a class as its data, without methods. An instance of a class
 * with a transfer handler arrives as it was if the class says so: `declare readonly [crossesAs]: Money`.
 */
type Arrived<T> = 0 extends 1 & T ? T : T extends CannotCross<string> ? T : T extends Moved<infer Inner> ? Arrived<Inner> : T extends CrossesAs<infer Other> ? Other : T extends Primitive ? T : T extends symbol ? CannotCross<"a symbol cannot cross threads"> : T extends Fn$1 ? CannotCross<"a function cannot cross threads: take a Callback, and pass callback(fn)"> : T extends NodeBuffer ? Uint8Array<T["buffer"]> : T extends Platform | ArrayBufferView | FileHandle | KeyObject | X509Certificate ? T : T extends Promise<unknown> ? CannotCross<"a promise cannot cross threads: await it first"> : T extends Error ? Error & Data<T> : T extends Map<infer Key, infer Value> ? Map<Arrived<Key>, Arrived<Value>> : T extends Set<infer Each> ? Set<Arrived<Each>> : T extends readonly unknown[] ? List<T> : T extends object ? Data<T> : T;
/**
 * The values that a caller may pass for a parameter of type `T`: `T` itself if a value of this type arrives as the parameter says, otherwise
 * the reason why it does not.
 */
type Sendable<T> = 0 extends 1 & T ? T : T extends unknown ? [Arrived<T>] extends [T] ? T : Arrived<T> extends CannotCross<string> ? Arrived<T> : CannotCross<"declare the parameter as what arrives: data without methods, and a Uint8Array for a Buffer"> : never;

declare const callbackBrand: unique symbol;
/** A function under `callback()`: an argument of a call, which the task receives as a {@link Callback}. */
interface CallbackArgument<Fn> {
    readonly [callbackBrand]: Fn;
}
type Fn = (...args: never[]) => unknown;
type Sent<Args extends unknown[]> = {
    [At in keyof Args]: Sendable<Args[At]> | Moved<Sendable<Args[At]>>;
};
type Received<Args extends unknown[]> = {
    [At in keyof Args]: Arrived<Args[At]>;
};
/**
 * A function of the caller, as a task receives it. It runs on the caller's thread. The promise settles with its value or its error.
 *
 * Copies the arguments, and moves those under `move()`. In a unit test, pass any function that returns a promise.
 */
type Callback<F extends Fn> = {
    /** Calls the function on the caller's thread. Rejects with its error, or with `callback-ended` after the end of the call. */
    call(...args: Sent<Parameters<F>>): Promise<Arrived<Awaited<ReturnType<F>>>>;
}["call"];
/** What the function of a callback may return for a task that expects a value of type `T`. For a task that expects nothing: anything. */
type Returned<T> = [T] extends [void] ? unknown : T | Moved<T> | PromiseLike<T | Moved<T>>;
declare const remoteBrand: unique symbol;
/** An object under `proxy()`: an argument of a call, which the task receives as a {@link Remote}. */
interface ProxyArgument<T> {
    readonly [callbackBrand]: T;
}
/** The names of the methods of an object that a proxy may have. */
type MethodNames<T> = {
    [Name in keyof T]-?: T[Name] extends Fn ? Name extends "then" | "toJSON" | "toString" | "valueOf" | symbol | number ? never : Name : never;
}[keyof T] & string;
/**
 * An object of the caller, as a task receives it: its methods, which are asynchronous and run on the caller's thread. See {@link Callback}.
 *
 * In a unit test, pass any object whose methods return promises.
 */
type Remote<T> = {
    readonly [Name in MethodNames<T>]: T[Name] extends Fn ? Callback<T[Name]> : never;
} & {
    readonly [remoteBrand]?: never;
};
/** The object whose proxy a task expects. */
type Proxied<T> = {
    [Name in keyof T & string]: T[Name] extends (...args: infer Args) => infer Result ? (...args: Received<Args>) => Returned<Awaited<Result>> : never;
};
/** The argument for a task's parameter that is a {@link Callback} or a {@link Remote}. */
type CallbackFor<T> = T extends (...args: infer Args) => infer Result ? CallbackArgument<(...args: Received<Args>) => Returned<Awaited<Result>>> : typeof remoteBrand extends keyof T ? ProxyArgument<Proxied<T>> : never;

export type { Arrived as A, CallbackArgument as C, MethodNames as M, ProxyArgument as P, Remote as R, Sendable as S, Callback as a, CallbackFor as b, CannotCross as c };
