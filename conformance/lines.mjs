// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Yields the lines of a stream. A line ends only at a line feed. Node's readline, from version 24 on, also ends a line at U+2028 and
 * U+2029, which JSON does not escape.
 *
 * @param {import("node:stream").Readable} stream
 */
export async function* linesOf(stream) {
  stream.setEncoding("utf8");
  let rest = [];
  for await (const text of stream) {
    const [first = "", ...others] = text.split("\n");
    rest.push(first);
    if (others.length === 0) continue;
    yield rest.join("");
    rest = [others.pop() ?? ""];
    yield* others;
  }
  const last = rest.join("");
  if (last !== "") yield last;
}
