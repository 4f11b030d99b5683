// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ChildProcess } from "node:child_process";
import type { TransportLimits } from "../channel/transport/limits.js";
import type { ChannelTransport, CloseReason } from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import { queueMicrotask } from "../globals.js";
import { listen } from "./listen.js";
import { type StdioStreams, StdioTransport } from "./stdio-transport.js";

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
