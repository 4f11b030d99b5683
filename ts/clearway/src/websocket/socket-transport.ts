// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  type ChannelSink,
  type ChannelTransport,
  type CloseReason,
  checkFrame,
  closedHere,
  frameTooLarge,
  isShared,
  messageBytes,
  type TransportLimits,
  windowBytesOf,
} from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import { clearTimeout, queueMicrotask, setTimeout } from "../globals.js";
import { timeLimit } from "../lazy/lazy.js";
import {
  closeStatus,
  connecting,
  isClosed,
  isOpen,
  listen,
  MarkedWindow,
  markText,
  type NodeSocket,
  readMark,
  readStatus,
  type SocketEvents,
  subprotocol,
} from "./socket.js";

// Maximum duration of a close, in milliseconds. An end that does not finish it must not delay `closed` forever.
const closeMs = 5000;
// Interval of polling the socket's `bufferedAmount`, in milliseconds. If the other end is not Clearway's, only the bytes that
// wait on this machine are known, and no event reports them. At 1 MiB per poll, this interval allows 100 MiB/s, which is more
// than a page takes.
const pollMs = 10;

/** Carries frames as binary messages of one socket, which is connecting or open. See {@link webSocketTransport}. */
export class SocketTransport implements ChannelTransport {
  readonly name = "websocket";
  readonly moves = false;
  readonly shares = false;
  readonly frameBytesMax: number;
  readonly #windowBytes: number;
  readonly #socket: NodeSocket;
  readonly #window: MarkedWindow;
  #sink: ChannelSink | undefined;
  /** Frames and marks that arrived before `open`, or while the sink was paused. */
  #early: (Uint8Array | string)[] = [];
  #earlyBytes = 0;
  /** Frames that were sent before the socket was open. */
  #waiting: Uint8Array[] = [];
  #received = 0;
  #polledFull = false;
  /** Whether the socket is paused. */
  #paused = false;
  /** Whether {@link pause} has stopped delivery to the sink. */
  #held = false;
  /** Total of the last mark that was echoed. A mark with the same total is a protocol error. */
  #marked = 0;
  /** Total of the mark that is echoed when there is room. */
  #echoDue: number | undefined;
  #opened: boolean;
  /** The reason of the end. Set once the transport has ended or will end. */
  #end: CloseReason | undefined;
  /** Whether this end has closed or failed. It then delivers no more messages. */
  #deliveryStopped = false;
  #ended = false;
  /** Whether the duration of the close is limited. */
  #closing = false;
  #closedReported = false;
  #stops: (() => void)[];
  /** Stops the time limit for opening the socket. */
  #stopOpenTimer: (() => void) | undefined;

  constructor(socket: NodeSocket, { frameBytesMax, windowBytes }: Required<TransportLimits>, openMs?: number) {
    this.frameBytesMax = frameBytesMax;
    this.#windowBytes = windowBytes;
    this.#window = new MarkedWindow(windowBytes);
    this.#socket = socket;
    this.#opened = socket.readyState === isOpen;
    socket.binaryType = "arraybuffer";
    this.#stops = [
      listen(socket, "open", () => this.#open()),
      listen(socket, "message", ({ data }) => this.#message(data)),
      listen(socket, "error", (event) => this.#error(event)),
      listen(socket, "close", ({ code, reason }) => this.#closed(code, reason)),
    ];
    if (socket.readyState === isClosed) this.#over({ code: "lost", message: "the socket was closed before" });
    if (!this.#opened && openMs !== undefined) {
      const timer = timeLimit(openMs, () => {
        if (!this.#opened) this.abort(notOpened(openMs));
      });
      this.#stopOpenTimer = () => clearTimeout(timer);
      this.#stops.push(this.#stopOpenTimer);
    }
  }

  open(sink: ChannelSink): void {
    if (this.#sink !== undefined) throw invalid("sink", "given once", "open() was called before");
    this.#sink = sink;
    queueMicrotask(() => this.#deliver());
  }

  pause(): void {
    // After the end, there is no sender to slow down, and `closed` must still be delivered.
    this.#held = !this.#ended;
  }

  resume(): void {
    this.#held = false;
    if (this.#sink !== undefined) queueMicrotask(() => this.#deliver());
  }

  send(frame: Uint8Array, attachments: readonly Uint8Array[] = []): boolean {
    checkFrame(frame, attachments, this);
    if (this.#end !== undefined) return false;
    if (this.#opened) this.#post(frame);
    else this.#waiting.push(frame);
    const mark = this.#window.sent(windowBytesOf(frame, attachments));
    if (!this.#marks) return this.#room();
    if (mark !== undefined && this.#opened) this.#post(markText("mark", mark));
    return !this.#window.full;
  }

  close(reason: CloseReason = closedHere): void {
    const over = this.#end !== undefined;
    this.#fail(reason);
    if (over) return;
    // Sent frames leave first. If frames wait for a connecting socket, the close waits too.
    if (this.#socket.readyState === connecting && this.#waiting.length > 0) return;
    this.#hangUp();
  }

  /** Ends the connection at once, without waiting for the other end. Use it for an end that does not answer. */
  abort(reason: CloseReason): void {
    this.close(reason);
    this.#waiting = [];
    if (this.#socket.terminate) this.#socket.terminate();
    else this.#hangUp();
    this.#over(reason);
  }

  #hangUp(): void {
    const [status, text] = closeStatus(this.#end ?? closedHere);
    this.#listen(true); // the other end's answer must be read
    this.#socket.close(status, text);
    this.limitClose();
  }

  /** Ends the connection if its close, which has begun, takes too long. */
  limitClose(): void {
    if (this.#closing || this.#ended) return;
    this.#closing = true;
    this.#after(closeMs, () => {
      this.#socket.terminate?.();
      this.#closed(1006, ""); // broken, unless this end has a reason
    });
  }

  /** Whether the other end is Clearway's. True until the socket is open, because the answer is not known before. */
  get #marks(): boolean {
    return !this.#opened || this.#socket.protocol === subprotocol;
  }

  #open(): void {
    this.#opened = true;
    this.#stopOpenTimer?.();
    const waiting = this.#waiting.splice(0);
    for (const frame of waiting) this.#post(frame);
    if (waiting.length > 0 && this.#marks) this.#post(markText("mark", this.#window.markAll()));
    if (!this.#marks) this.#poll(this.#window.full);
    if (this.#end !== undefined) this.#hangUp();
  }

  #post(message: Uint8Array | string): void {
    if (this.#socket.readyState !== isOpen) return this.limitClose(); // the other end has begun to close
    // Copies a frame in shared memory, because a socket does not send shared memory.
    const bytes = typeof message !== "string" && isShared(message.buffer) ? message.slice() : message;
    this.#socket.send(bytes as Uint8Array<ArrayBuffer> | string);
  }

  #room(): boolean {
    this.#poll(this.#socket.bufferedAmount >= this.#windowBytes);
    return !this.#polledFull;
  }

  /** Polls while too many bytes wait on this machine. Calls `drained` when at most half of the window waits. */
  #poll(full: boolean): void {
    if (!full || this.#polledFull) return;
    this.#polledFull = true;
    const poll = (): void => {
      if (this.#end !== undefined) return;
      if (this.#socket.bufferedAmount * 2 > this.#windowBytes) return void this.#after(pollMs, poll);
      this.#polledFull = false;
      this.#sink?.drained();
    };
    this.#after(pollMs, poll);
  }

  #message(data: unknown): void {
    if (this.#deliveryStopped) return;
    const message = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
    if (typeof message !== "string" && !(message instanceof Uint8Array))
      return this.close({ code: "protocol", message: "a message that is neither bytes nor text" });
    if (message.length > this.frameBytesMax && typeof message !== "string")
      return this.close({ code: "too-large", message: frameTooLarge(message.length, this.frameBytesMax).message });
    if (this.#sink !== undefined && this.#early.length === 0 && !this.#held) return this.#take(message);
    // An echoed mark is handled while the sink is paused, because it makes room for frames to send. Its order among received
    // frames is irrelevant.
    if (this.#held && typeof message === "string" && readMark(message)?.kind === "taken") return this.#take(message);
    this.#early.push(message);
    this.#earlyBytes += messageBytes + message.length;
    // A sender with Clearway's window stops when its window is full. Empty frames take the most memory then: each counts 8 bytes for the
    // window. TCP slows down any other sender, if the socket can be paused. If the socket cannot be paused, the transport closes when more
    // than twice the sum of the largest frame and the memory of a full window waits.
    const most = this.frameBytesMax + (messageBytes / 8) * this.#windowBytes;
    if (this.#earlyBytes >= (this.#held ? most : this.#windowBytes)) this.#listen(false);
    if (this.#earlyBytes > 2 * most)
      this.close({ code: "too-large", message: `${this.#earlyBytes} bytes arrived before the endpoint was opened` });
  }

  /** Delivers waiting messages to the sink, then the end if the transport has ended. */
  #deliver(): void {
    const early = this.#early;
    let at = 0;
    while (at < early.length && !this.#held && !this.#deliveryStopped) {
      const message = early[at++]!;
      this.#earlyBytes -= messageBytes + message.length;
      this.#take(message);
    }
    if (this.#deliveryStopped) this.#early = [];
    else if (at > 0) this.#early = early.slice(at);
    if (!this.#held || this.#earlyBytes < this.#windowBytes) this.#listen(true);
    this.#reportClosed();
  }

  #listen(on: boolean): void {
    if (on !== this.#paused) return;
    this.#paused = !on;
    if (on) this.#socket.resume?.();
    else this.#socket.pause?.();
  }

  #take(message: Uint8Array | string): void {
    if (this.#deliveryStopped) return;
    if (typeof message === "string") return this.#control(message);
    this.#received += windowBytesOf(message, []);
    this.#sink?.frame(message, []);
  }

  #control(text: string): void {
    const mark = this.#marks ? readMark(text) : undefined;
    if (mark?.kind === "mark" && mark.total === this.#received && mark.total > this.#marked) {
      this.#marked = mark.total;
      return this.#echo(mark.total);
    }
    const drained = mark?.kind === "taken" ? this.#window.taken(mark.total) : undefined;
    if (drained === undefined)
      return this.close({
        code: "protocol",
        message: `text where bytes were expected: ${JSON.stringify(text.slice(0, 80))}`,
      });
    if (drained) this.#sink?.drained();
  }

  // Echoes a mark, at once or when there is room. At most one echo waits, so that an end that sends marks and never reads
  // cannot fill the memory. The last echo includes the earlier ones.
  #echo(total: number): void {
    if (this.#echoDue === undefined && this.#socket.bufferedAmount < this.#windowBytes)
      return this.#post(markText("taken", total));
    const waits = this.#echoDue !== undefined;
    this.#echoDue = total;
    if (!waits) this.#echoWhenRoom();
  }

  #echoWhenRoom(): void {
    this.#after(pollMs, () => {
      if (this.#end !== undefined || this.#echoDue === undefined) return;
      if (this.#socket.bufferedAmount * 2 > this.#windowBytes) return this.#echoWhenRoom();
      this.#post(markText("taken", this.#echoDue));
      this.#echoDue = undefined;
    });
  }

  #error({ error, message }: SocketEvents["error"]): void {
    const words = error?.message ?? message;
    const code = error?.code ?? "";
    if (code.startsWith("WS_ERR_")) {
      this.limitClose(); // `ws` has begun to close
      const [reason, message] =
        code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH"
          ? (["too-large", `a frame over ${this.frameBytesMax} bytes arrived`] as const)
          : (["protocol", words ?? code] as const);
      return this.#fail({ code: reason, message, cause: error });
    }
    if (this.#opened) return; // a close event with a status follows
    const refused = words?.startsWith("Unexpected server response") === true;
    this.#fail({
      code: refused ? "refused" : "failed",
      message: words || "the connection could not be opened: no server answers there, or it refused this end",
      ...(error !== undefined && { cause: error }),
    });
  }

  /** Sets the reason of the end, and stops delivery. After an error, the socket's own `close` event follows. */
  #fail(reason: CloseReason): void {
    this.#deliveryStopped = true;
    this.#early = [];
    this.#end ??= reason;
  }

  #closed(status: number, text: string): void {
    this.#over(readStatus(status, text));
  }

  #over(reason: CloseReason): void {
    this.#end ??= reason;
    this.#ended = true;
    for (const stop of this.#stops.splice(0)) stop();
    // An aborted socket may still emit an error, and `ws` throws an error without a listener.
    if (this.#socket.readyState !== isClosed) ignoreErrors(this.#socket);
    this.#held = false;
    if (!this.#closedReported) queueMicrotask(() => (this.#sink === undefined ? undefined : this.#deliver()));
  }

  #reportClosed(): void {
    if (
      !this.#ended ||
      this.#closedReported ||
      this.#sink === undefined ||
      this.#end === undefined ||
      this.#early.length > 0
    )
      return;
    this.#closedReported = true;
    this.#sink.closed(this.#end);
  }

  /** Calls `act` after `ms` milliseconds. Returns a function that stops the timer. */
  #after(ms: number, act: () => void): () => void {
    const stop = (): void => {
      clearTimeout(timer);
      this.#stops = this.#stops.filter((each) => each !== stop);
    };
    const timer = setTimeout(() => {
      stop();
      act();
    }, ms);
    this.#stops.push(stop);
    return stop;
  }
}

function notOpened(ms: number): CloseReason {
  return { code: "timeout", message: `the connection was not open after ${ms} ms` };
}

function ignoreErrors(socket: NodeSocket): void {
  const stopErrors = listen(socket, "error", () => {});
  const stop = listen(socket, "close", () => {
    stopErrors();
    stop();
  });
}
