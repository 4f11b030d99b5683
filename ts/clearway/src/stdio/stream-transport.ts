// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ChildProcess } from "node:child_process";
import type { TransportLimits } from "../channel/transport/limits.js";
import type { ChannelTransport, CloseReason } from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import { listen } from "./listen.js";
import { type StdioStreams, StdioTransport } from "./stdio-transport.js";

/**
 * A transport over two streams of bytes, such as a pipe or a socket: frames with their sizes in front (spec/stdio.md).
 * Copies each frame that arrives once, and none that leaves. The streams are the transport's from now on: nobody else reads
 * or writes there, and when it closes it destroys what comes and ends what goes.
 *
 * Where the streams lead is not known: of errors code and message cross, unless the endpoint's `exposeErrors` is true. Nothing is read
 * before `open`. Backpressure is the streams' own: `send` returns false when more than `windowBytes` wait.
 * Something that is no frame closes it with `protocol`, a frame over the limit with `too-large` before memory is taken for
 * it, the streams' end without a last word with `lost`. Throws `invalid-argument`.
 */
export function streamTransport(streams: StdioStreams, limits: TransportLimits = {}): ChannelTransport {
  return new StdioTransport(streams, limits, false);
}

/**
 * The parent's end of a channel to a child process, over the child's standard input and output; they must be pipes, and what
 * the child prints there is no frame. The child's death closes it with `lost`, and says how it died: `detail` is
 * `{ exitCode }` or `{ signal }`; a child that cannot be started closes it with `failed`. The process stays the caller's: it
 * is not killed. See {@link streamTransport}. Throws `invalid-argument`.
 */
export function childTransport(child: ChildProcess, limits: TransportLimits = {}): ChannelTransport {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null)
    throw invalid(
      "child",
      'started with stdio: ["pipe", "pipe", "inherit"]',
      stdin === null ? "no stdin" : "no stdout",
    );
  return new StdioTransport({ readable: stdout, writable: stdin }, limits, true, (onExit) => {
    const exited = (code: number | null, signal: NodeJS.Signals | null): void => onExit(exitReason(code, signal));
    // A child that runs also says `error` where a signal could not be sent to it.
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
 * The child's end of a channel to the process that started it, over its own standard input and output. Nothing else may be
 * printed to `process.stdout` meanwhile (`console.error` goes elsewhere); on POSIX it is written to synchronously, so that a
 * parent that does not read holds this thread up. The parent's end closes it; nothing of it keeps the process alive then.
 * See {@link streamTransport}. Throws `invalid-argument`.
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
