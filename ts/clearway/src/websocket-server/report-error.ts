// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage } from "node:http";
import { ClearwayError } from "../error/clearway-error.js";

type OnError = (error: unknown, request: IncomingMessage) => void;

// Codes of errors that any client can cause. Without `onError` they are not logged, so that a client cannot fill this machine's
// log.
const clientCodes = ["transport-closed", "deadline", "protocol"];

/** Passes an error to `onError`, or to the console if `onError` is not given. Never throws. */
export function reportError(onError: OnError | undefined, error: unknown, request: IncomingMessage): void {
  try {
    if (onError) return onError(error, request);
    if (error instanceof ClearwayError && clientCodes.includes(error.code)) return;
    console.error("clearway/channel/websocket-server:", error);
  } catch (thrown) {
    console.error("clearway/channel/websocket-server, onError threw:", thrown);
  }
}
