// SPDX-License-Identifier: MIT OR Apache-2.0
// Breaks texts into lines for terminals.

/** Maximum width of a text in a terminal, in characters. */
export const WIDTH_MAX = 100;

/** Joins the digits of a number, and a number and its unit, with spaces at which no line breaks. */
export function unbroken(text: string): string {
  return text.replace(/(?<=\d) (?=\d{3}(?!\d)|%|(?:[mnuµ]?s(?:\/s)?|Hz|[KMG]?B|frames?|times)\b)/g, "\u00a0");
}

/** Breaks a text at spaces, but not within a number or before its unit. The lines after the first begin with `indent`. */
export function folded(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  const begin = /^ */.exec(text)![0];
  const [first = "", ...words] = unbroken(text.slice(begin.length)).split(" ");
  let line = begin + first;
  for (const word of words) {
    if (line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line += ` ${word}`;
  }
  return [...lines, line].map((each) => each.replaceAll("\u00a0", " "));
}
