// SPDX-License-Identifier: MIT OR Apache-2.0
import { listClasses, type NumberList } from "./read-numbers.js";
import type { Reader } from "./reader.js";
import { refusal } from "./refusal.js";
import { Tag } from "./tags.js";

/** Reads what stands for a list that came beside the message. The list is the attachment's memory, not a copy of it. */
export function readAttached(reader: Reader, attached: readonly Uint8Array[]): NumberList {
  const from = reader.at;
  const tag = reader.byte();
  const index = reader.size();
  const bytes = attached[index];
  reader.attachedLeft -= bytes?.length ?? 0;
  if (reader.attachedLeft < 0) throw refusal("too-large", "attachments that are named too often to be put back", from);
  if (bytes === undefined) throw refusal("malformed", `no attachment ${index} of ${attached.length}`, from);
  if (tag === Tag.uint8List) return bytes;
  const List = listClasses[tag];
  if (List === undefined) throw refusal("malformed", `an attachment is no list of type ${tag}`, from);
  const { buffer, byteLength, byteOffset } = bytes;
  const size = List.BYTES_PER_ELEMENT;
  if (byteLength % size !== 0) throw refusal("malformed", `${byteLength} bytes are no elements of ${size}`, from);
  if (byteOffset % size === 0) return new List(buffer as ArrayBuffer, byteOffset, byteLength / size);
  // One memory, as often as it is named.
  reader.aligned[index] ??= new Uint8Array(bytes);
  return new List(reader.aligned[index].buffer as ArrayBuffer);
}
