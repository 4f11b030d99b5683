// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage } from "node:http";
import { ClearwayError } from "../error/clearway-error.js";

type OnError = (error: unknown, request: IncomingMessage) => void;

// Errors that a client can cause at will must not fill this machine's log.
const clientCodes = ["transport-closed", "deadline", "protocol"];

/** Passes an error of the function for connections to `onError`, or to the console. Never throws. */
export function reportError(onError: OnError | undefined, error: unknown, request: IncomingMessage): void {
  try {
    if (onError) return onError(error, request);
    if (error instanceof ClearwayError && clientCodes.includes(error.code)) return;
    console.error("clearway/channel/websocket-server:", error);
  } catch (thrown) {
    console.error("clearway/channel/websocket-server, onError threw:", thrown);
  }
}
