// SPDX-License-Identifier: MIT OR Apache-2.0

/** An argument that stays connected with the caller: a stream or a callback. */
export interface TaskInput {
  /** Handles a value of the stream, or the answer to a call of the callback. */
  arrived(value: unknown, bytes: number): unknown;
  /** Ends the input, because its call is over or its stream has ended. */
  ended(value: unknown): void;
  failed(reason: unknown): void;
  /** Handles a message that could not be sent. Undefined for a stream, because a stream's reader sends only numbers. */
  refused?(message: unknown, reason: unknown): void;
  /** Refuses further calls. Returns a promise that settles when the calls before were sent. Returns undefined if all were sent. */
  finish?(): Promise<void> | undefined;
}
