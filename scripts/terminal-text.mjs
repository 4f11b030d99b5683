// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * What a terminal obeys or hides, except the end of a line and the tab: control characters (C0, DEL, C1), characters that change the
 * direction of text, and those that end a line or have no width.
 */
const OBEYED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/**
 * Returns a text for a terminal. Characters that a terminal would obey become their escapes, such as \u001b. In JSON, that is the same
 * text. Everything that a command prints passes through here, because a page, a record, a file or another process may have written it.
 *
 * @param {string} text
 */
export function visible(text) {
  return text.replace(OBEYED, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
