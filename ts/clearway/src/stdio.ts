// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels to other processes, over their standard streams or any pair of streams. Node only.
 *
 * @module clearway/channel/stdio
 */

import type { ChildProcess } from "node:child_process";
import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import {
  type ChannelSink,
  type ChannelTransport,
  type CloseReason,
  checkFrame,
  closedHere,
  type TransportLimits,
  transportOptions,
} from "./channel/transport/transport.js";
import { checked, type Rules, type Test } from "./error/checked.js";
import { invalid } from "./error/clearway-error.js";
import { clearTimeout, queueMicrotask, setImmediate, setTimeout, unref } from "./globals.js";
import { inMicrotask } from "./lazy/lazy.js";
import { closeFrame, FrameReader, headerBytes, joinFrames } from "./stdio/frames.js";

export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";

/** Adds a listener and returns a function that removes it. */
function listen<Args extends unknown[]>(
  emitter: EventEmitter,
  event: string,
  listener: (...args: Args) => void,
): () => void {
  const heard = listener as (...args: unknown[]) => void;
  emitter.on(event, heard);
  return () => emitter.off(event, heard);
}

/** A pair of streams that carry bytes: one stream to read and one to write. */
export interface StdioStreams {
  readonly readable: Readable;
  readonly writable: Writable;
}

/** Watches a process, and calls `onExit` when the process ends. Returns a function that stops watching. */
type WatchExit = (onExit: (reason: CloseReason) => void) => () => void;

// The end of a process causes several separate events: an error of the writable stream, the last bytes of the readable stream,
// and the exit status of the process. After the first event, the transport waits this long for the others, in milliseconds. An
// event may never come, for example if a grandchild holds the pipe open. Without load, all events arrive within a few
// milliseconds.
const endEventsMs = 1000;
// Maximum time for sent frames to leave before the end, in milliseconds. It prevents a peer that no longer reads from delaying
// `closed` forever.
const leaveMs = 5000;

// Number of bytes of one tick that wait for its end. With more, the other end should begin to read.
const tickBytesMax = 64 << 10;

const has =
  (methods: readonly string[], what: string): Test =>
  (value) =>
    methods.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function") || what;
const streamRules: Rules = {
  readable: has(["on", "pause", "resume"], "a readable stream"),
  writable: has(["on", "write", "cork"], "a writable stream"),
};

/** Carries frames over two streams of bytes. See {@link streamTransport}. */
class StdioTransport implements ChannelTransport {
  readonly name = "stdio";
  readonly moves = false;
  readonly shares = false;
  readonly trusted: boolean;
  readonly frameBytesMax: number;
  readonly #windowBytes: number;
  readonly #readable: Readable;
  readonly #writable: Writable;
  readonly #reader: FrameReader;
  readonly #hasProcess: boolean;
  #sink: ChannelSink | undefined;
  /** Pieces of the stream that arrived before `open`, or while the sink was busy. */
  readonly #pieces: Uint8Array[] = [];
  #delivering = false;
  /** Frames of this tick, which are not written yet. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #inTick = false;
  #stops: (() => void)[];
  #full = false;
  #paused = false;
  /** The reason of the end. Once it is set, the transport delivers and sends no frames. */
  #end: CloseReason | undefined;
  #closedReported = false;
  #released = false;
  /** The best known reason for an end that the other end did not announce. */
  #loss: CloseReason | undefined;
  #readAll = false;
  #exited = false;

  constructor(streams: StdioStreams, limits: TransportLimits, trusted: boolean, watchExit?: WatchExit) {
    const { frameBytesMax, windowBytes } = transportOptions(limits);
    const { readable, writable } = checked(streams, streamRules, undefined, "streams");
    // `checked` leaves out what is undefined.
    if (!readable || !writable) throw invalid("streams", "an object with readable and writable", streams);
    if (readable.readableObjectMode || readable.readableEncoding !== null)
      throw invalid("readable", "a stream of bytes, without an encoding", readable.readableEncoding ?? "objects");
    this.frameBytesMax = frameBytesMax;
    this.trusted = trusted;
    this.#windowBytes = windowBytes;
    this.#readable = readable;
    this.#writable = writable;
    this.#hasProcess = watchExit !== undefined;
    this.#reader = new FrameReader(frameBytesMax, {
      frame: (frame) => this.#end === undefined && this.#sink?.frame(frame, []),
      end: (reason) => this.#finish(reason, reason.code === "protocol" || reason.code === "too-large"),
    });
    const failed = (cause: Error): void =>
      this.#lost({ code: "lost", message: `the stream failed: ${cause.message}`, cause });
    // The transport reads no bytes before `open`. If the process ends before, however, Node reads the rest of its output.
    // Without a listener, that output would be lost.
    readable.pause();
    this.#stops = [
      listen(readable, "data", (piece: Uint8Array) => this.#piece(piece)),
      listen(writable, "error", failed),
      listen(readable, "error", failed),
      listen(writable, "close", () => this.#lost({ code: "lost", message: "the other end closed its input" })),
      listen(readable, "end", () => this.#ended("the other end closed its output")),
      listen(readable, "close", () => this.#ended("the stream from the other end was closed")),
    ];
    // The last frames of a process that calls `process.exit` still leave: on POSIX, its standard output is written synchronously.
    if (isStandard(writable)) this.#stops.push(listen(process, "exit", () => this.#flush()));
    if (watchExit) this.#stops.push(watchExit((reason) => this.#exit(reason)));
  }

  open(sink: ChannelSink): void {
    if (this.#sink !== undefined) throw invalid("sink", "given once", "open() was called before");
    this.#sink = sink;
    if (this.#end !== undefined) return queueMicrotask(() => this.#reportClosed());
    queueMicrotask(() => {
      this.#deliver();
      if (this.#readable.destroyed || this.#readable.readableEnded)
        this.#ended("the stream from the other end was closed before");
      else if (!this.#paused) this.#readable.resume();
      if (this.#loss !== undefined) this.#lost(this.#loss);
    });
  }

  send(frame: Uint8Array, attachments: readonly Uint8Array[] = []): boolean {
    checkFrame(frame, attachments, this);
    if (this.#end !== undefined || !this.#writable.writable) return false;
    this.#waiting.push(frame);
    this.#waitingBytes += headerBytes + frame.byteLength;
    // The first frame of a tick leaves at once, and the others together at the end of the tick. Replies to the frames of one piece leave
    // together when the piece has been read.
    if (this.#waitingBytes >= tickBytesMax || !(this.#inTick || this.#delivering)) this.#flush();
    if (!this.#inTick && !this.#delivering) {
      this.#inTick = true;
      inMicrotask(this.#endTick);
    }
    this.#full ||= this.#waitingBytes + this.#writable.writableLength >= this.#windowBytes;
    return !this.#full;
  }

  readonly #endTick = (): void => {
    this.#inTick = false;
    this.#flush();
  };

  /** Writes the frames that wait, in one system call if the stream supports that. */
  #flush(): void {
    const frames = this.#waiting;
    if (frames.length === 0) return;
    const bytes = this.#waitingBytes;
    this.#waiting = [];
    this.#waitingBytes = 0;
    const writable = this.#writable;
    if (!writable.writable) return;
    // Only a write that may fill the window has to tell when it is done.
    const fills = this.#full || writable.writableLength + bytes >= this.#windowBytes;
    const chunks = joinFrames(frames);
    const last = chunks.pop();
    if (chunks.length > 0) writable.cork();
    for (const chunk of chunks) writable.write(chunk);
    if (fills) writable.write(last, this.#onWritten);
    else writable.write(last);
    if (chunks.length > 0) writable.uncork();
  }

  /** Stops reading. Frames that were already read are still delivered, because one piece of the stream may contain many frames. */
  pause(): void {
    this.#paused = true;
    this.#readable.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#sink !== undefined && this.#end === undefined) this.#readable.resume();
  }

  close(reason: CloseReason = closedHere): void {
    this.#finish(reason, true);
  }

  #piece(piece: Uint8Array): void {
    this.#pieces.push(piece);
    if (this.#sink === undefined) this.#readable.pause();
    else this.#deliver();
  }

  /** Delivers pieces one at a time. A stream within one process may bring the next piece while the sink handles the current one. */
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    for (let piece = this.#pieces.shift(); piece !== undefined; piece = this.#pieces.shift()) this.#reader.push(piece);
    this.#delivering = false;
    this.#flush();
  }

  /** Called when the stream has taken the frames of a tick. Its own `drain` event uses a limit of 16 KiB, not the window's limit. */
  readonly #onWritten = (): void => {
    const bytes = this.#waitingBytes + this.#writable.writableLength;
    if (!this.#full || this.#end !== undefined || bytes * 2 > this.#windowBytes) return;
    this.#full = false;
    this.#sink?.drained();
  };

  /** Ends the transport. If `sendReason` is true, sends the reason to the other end. */
  #finish(reason: CloseReason, sendReason: boolean): void {
    if (this.#end !== undefined) return;
    this.#flush();
    this.#end = reason;
    const reportClosed = (): void => queueMicrotask(() => this.#reportClosed());
    if (!this.#writable.writable) return reportClosed();
    if (sendReason) this.#writable.write(closeFrame(reason), reportClosed);
    else reportClosed();
    const timer = setTimeout(reportClosed, leaveMs);
    this.#stops.push(() => clearTimeout(timer));
    // A process must not end its own standard output: other code may still write to it.
    if (!isStandard(this.#writable)) this.#writable.end();
  }

  #ended(message: string): void {
    this.#readAll = true;
    const where = this.#reader.inside ? `${message} in the middle of a frame` : message;
    this.#lost({ code: "lost", message: where });
  }

  #exit(reason: CloseReason): void {
    this.#exited = true;
    this.#loss = reason; // a process's exit is more informative than a closed stream
    this.#lost(reason);
  }

  /** Handles an end without a close frame. Waits for the remaining events unless all have arrived. */
  #lost(reason: CloseReason): void {
    this.#loss ??= reason;
    if (this.#end !== undefined) return this.#reportClosed();
    // Before `open`, frames that arrived before the end have not been delivered. `open` calls this method again.
    if (this.#sink === undefined) return;
    if (this.#readAll && (this.#exited || !this.#hasProcess)) this.#finish(this.#loss, false);
    else this.#waitForEndEvents();
  }

  #waitForEndEvents(): void {
    // After a stall of this thread, the timer runs before the bytes that have arrived are read.
    const timer = setTimeout(() => setImmediate(() => this.#loss && this.#finish(this.#loss, false)), endEventsMs);
    this.#stops.push(() => clearTimeout(timer));
  }

  #reportClosed(): void {
    if (this.#closedReported || this.#end === undefined) return;
    // Also for a transport that is closed before it is opened.
    if (!this.#released) this.#releaseStreams();
    this.#released = true;
    if (this.#sink === undefined) return;
    this.#closedReported = true;
    this.#sink.closed(this.#end);
  }

  /**
   * Releases the streams. Reads and drops further bytes until the other end has ended too. Destroying a socket at once would discard
   * bytes that the other end has not read yet. A listener ignores further errors, because an error without a listener ends the process.
   */
  #releaseStreams(): void {
    for (const stop of this.#stops.splice(0)) stop();
    const readable = this.#readable;
    for (const stream of [readable, this.#writable]) {
      if (stream.closed || isStandard(stream)) continue;
      const ignore = listen(stream, "error", () => {});
      stream.once("close", ignore);
    }
    // Further reads would let the process's own input keep the process alive.
    if (isStandard(readable) || readable.readableEnded) return void readable.destroy();
    readable.resume();
    const timer = setTimeout(() => readable.destroy(), leaveMs);
    unref(timer);
    readable.once("close", () => clearTimeout(timer));
  }
}

function isStandard(stream: unknown): boolean {
  return stream === process.stdin || stream === process.stdout || stream === process.stderr;
}

/**
 * Returns a transport over two streams of bytes, such as a pipe or a socket. A header with the size precedes each frame
 * (spec/stdio.md). The first frame of a tick leaves at once, and the others in one write at its end. Copies an arriving frame at most once,
 * and leaving frames of up to 4 KiB that leave together. The transport owns the streams: no other code
 * may read or write them. On close, it destroys the readable stream and ends the writable stream.
 *
 * The transport does not know the streams' other end. Errors are therefore sent only with code and message, unless the endpoint's
 * `exposeErrors` is true. The transport reads nothing before `open`. Back-pressure comes from the streams: `send` returns false if
 * `windowBytes` or more wait.
 *
 * Closes with `protocol` on bytes that are not a frame, and with `lost` if the streams end without a close frame. Closes with
 * `too-large` on a frame over the limit, before it allocates memory for the frame. Throws `invalid-argument`.
 */
export function streamTransport(streams: StdioStreams, limits: TransportLimits = {}): ChannelTransport {
  return new StdioTransport(streams, limits, false);
}

/**
 * Returns the parent's end of a channel to a child process, over the child's standard input and output. Both must be pipes, and
 * the child must not print to its standard output. If the child dies, the transport closes with `lost`, and `detail` is `{
 * exitCode }` or `{ signal }`. If the child cannot be started, the transport closes with `failed`. The caller still owns the
 * process: the transport does not kill it. See {@link streamTransport}. Throws `invalid-argument`.
 */
export function childTransport(child: ChildProcess, limits: TransportLimits = {}): ChannelTransport {
  if (typeof (child as ChildProcess | null | undefined)?.on !== "function")
    throw invalid("child", "a ChildProcess", child);
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null)
    throw invalid(
      "child",
      'started with stdio: ["pipe", "pipe", "inherit"]',
      stdin === null ? "no stdin" : "no stdout",
    );
  return new StdioTransport({ readable: stdout, writable: stdin }, limits, true, (onExit) => {
    const exited = (code: number | null, signal: NodeJS.Signals | null): void => onExit(exitReason(code, signal));
    // A running child also emits `error` if a signal could not be sent to the child.
    const failed = (cause: Error): void => {
      if (child.pid === undefined)
        onExit({ code: "failed", message: `the process could not be started: ${cause.message}`, cause });
    };
    if (child.exitCode !== null || child.signalCode !== null)
      queueMicrotask(() => exited(child.exitCode, child.signalCode));
    const stops = [listen(child, "exit", exited), listen(child, "error", failed)];
    return () => {
      for (const stop of stops) stop();
    };
  });
}

/**
 * Returns the child's end of a channel to its parent process, over the process's own standard input and output. No code may
 * print to `process.stdout` meanwhile; `console.error` uses another stream. On POSIX, writing to `process.stdout` is
 * synchronous. A parent that does not read therefore blocks this thread. The parent's end closes the transport. A closed
 * transport does not keep the process alive. See {@link streamTransport}. Throws `invalid-argument`.
 */
export function parentTransport(limits: TransportLimits = {}): ChannelTransport {
  return new StdioTransport({ readable: process.stdin, writable: process.stdout }, limits, true);
}

function exitReason(exitCode: number | null, signal: string | null): CloseReason {
  if (signal !== null) return { code: "lost", message: `the process was killed by ${signal}`, detail: { signal } };
  return {
    code: "lost",
    message: `the process exited with status ${exitCode}`,
    detail: { exitCode: exitCode ?? -1 },
  };
}
