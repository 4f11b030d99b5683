// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { isBuffer } from "../host/tag.js";
import type { CopyReason } from "./find.js";

/** The typed error for what structured clone refused. */
export function notCloneable(what: string, reason: unknown): ClearwayError {
  return caused("not-cloneable", `${what} cannot cross a thread: ${messageOf(reason)}`, reason);
}

/** Whether memory among these objects has moved away before. */
export function movedBefore(objects: readonly object[]): boolean {
  return objects.some((each) => {
    if (!isBuffer(each) || each.byteLength > 0) return false;
    try {
      return !new Uint8Array(each);
    } catch {
      return true;
    }
  });
}

/** The typed error for a copy that `strict` forbids. */
export function wouldCopy(reason: CopyReason, bytes: number): ClearwayError {
  return new ClearwayError("would-copy", `strict: ${bytes} bytes would have been copied (${reason})`);
}
