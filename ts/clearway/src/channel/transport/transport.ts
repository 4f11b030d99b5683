// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Carries a channel's frames between two ends, without knowing their contents. The suite `test/channel/transports/contract.ts` tests this
 * contract with each transport:
 *
 * - **Order.** In each direction, frames arrive whole, once, and in the order they were sent.
 * - **Nothing before `open`.** Frames that arrive earlier wait in the transport, within its back-pressure.
 * - **Never from within.** `open`, `send` and `close` never call the sink; the sink may call any of them.
 * - **One end.** `closed` is called once, last, whichever end closed. Frames sent before `close()` still arrive.
 * - **Bounded.** A frame over `frameBytesMax` never leaves. If one arrives, the transport closes (`too-large`) before it allocates memory
 *   for it.
 */
export interface ChannelTransport {
  /** The transport's kind, for messages and statistics: "memory", "port", "stdio". */
  readonly name: string;
  /** Largest frame in both directions, in bytes. */
  readonly frameBytesMax: number;
  /** Whether it takes attachments: memory that changes owner next to the frame. If false, their bytes are part of the frame. */
  readonly moves: boolean;
  /** Whether an attachment may be a view of a SharedArrayBuffer, which both ends then share. Implies `moves`. */
  readonly shares: boolean;

  /**
   * Whether the other end is part of the same program, as workers and child processes are. A handler's error crosses to it in full, with
   * stack, properties and causes. To other ends only its code and message cross, unless the endpoint's `exposeErrors` says otherwise.
   * Default: false.
   */
  readonly trusted?: boolean;

  /** Starts to deliver to the sink. Called once; throws `invalid-argument` the second time. */
  open(sink: ChannelSink): void;

  /**
   * Takes a frame and returns at once. Takes ownership of `frame`, even if it throws: no code may write to its memory any more, and the
   * transport may move a frame that fills its buffer. Takes ownership of `attachments`: each covers its whole buffer, which is moved, or
   * is a view of shared memory; no buffer occurs twice in the list.
   *
   * Returns true while there is room. False means that too much waits to leave. The frame was taken all the same; the sender then sends
   * no more until `drained` is called. A closed transport drops the frame and returns false. Throws `too-large`, and `invalid-argument`
   * for attachments that it cannot carry; then nothing has left or moved.
   */
  send(frame: Uint8Array, attachments?: readonly Uint8Array[]): boolean;

  /**
   * Stops delivery: the sink receives no frames until `resume`, except those already read. Frames wait in the transport, within its
   * back-pressure; `drained` and `closed` are still called. Without this method an endpoint cannot slow down a peer that calls and never
   * reads, and disconnects it sooner.
   */
  pause?(): void;
  /** Continues delivery after `pause`. */
  resume?(): void;

  /**
   * Closes the transport once all sent frames have left. The other end receives the reason if the transport can send it; a second reason
   * is ignored. Frames that arrive from now on are dropped.
   */
  close(reason?: CloseReason): void;
}

/** Receives a transport's frames and events. Its methods must not throw. */
export interface ChannelSink {
  /**
   * A frame arrived. The receiver owns its memory and that of its attachments. The frame may share its buffer with other frames. An
   * attachment shares its buffer with no other, or with the other end if it is shared memory.
   */
  frame(frame: Uint8Array, attachments: readonly Uint8Array[]): void;
  /** There is room again, after a `send` that returned false. */
  drained(): void;
  /** The transport has closed. No method is called after this one. */
  closed(reason: CloseReason): void;
}

/** Why a transport closed. */
export interface CloseReason {
  readonly code: CloseCode;
  /** A description for people. */
  readonly message: string;
  /** Details from the host or the protocol: an exit code, a signal, a WebSocket's close code. */
  readonly detail?: Readonly<Record<string, string | number>>;
  /** The error thrown at this end. It does not cross. */
  readonly cause?: unknown;
}

/** The kinds of {@link CloseReason}. */
export type CloseCode =
  /** One of the ends closed it. */
  | "closed"
  /** The other end disappeared without a reason: it exited, was killed, or the connection broke. */
  | "lost"
  /** The other end broke the protocol. */
  | "protocol"
  /** A frame was over the limit. */
  | "too-large"
  /** The other end refused this one: origin, token, number of connections. */
  | "refused"
  /** The other end did not answer in time. */
  | "timeout"
  /** The host's own error, which is the cause. */
  | "failed";

/** All codes, to validate the ones that arrive. */
export const closeCodes: readonly CloseCode[] = [
  "closed",
  "lost",
  "protocol",
  "too-large",
  "refused",
  "timeout",
  "failed",
];

/** The reason of `close()` when the caller gives none. */
export const closedHere: CloseReason = { code: "closed", message: "closed" };

/** Reads a reason from the other end, which may be hostile. Cuts long texts; anything invalid becomes `closed`. */
export function readReason(given: unknown): CloseReason {
  const { code, message, detail } = (given ?? {}) as Partial<CloseReason>;
  return {
    code: closeCodes.find((each) => each === code) ?? "closed",
    message: typeof message === "string" ? message.slice(0, 1000) : "closed",
    ...(typeof detail === "object" && detail !== null && { detail: readDetail(detail) }),
  };
}

function readDetail(detail: object): Record<string, string | number> {
  const entries = Object.entries(detail).slice(0, 16);
  return Object.fromEntries(entries.filter(([, value]) => typeof value === "string" || typeof value === "number"));
}
