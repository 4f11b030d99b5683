// SPDX-License-Identifier: MIT OR Apache-2.0
// A Rollup plugin for declaration files: they compile in an app with an older `lib`, without optional packages, and without skipLibCheck.

const DISPOSABLE = /\b(Async)?Disposable\b|\bSymbol\.(asyncD|d)ispose\b/;

export const declarations = {
  name: "declarations",
  renderChunk(code) {
    // The bundler moves the import to the top of the file, away from the comment that the source has.
    const text = code
      .replace(/^import \* as apache_arrow /m, "/** @ts-ignore: an optional peer */\n$&")
      // The comment of a whole entry, which would stand before the entry's first declaration.
      .replace(/^\/\*\*\n(?: \*(?!\/).*\n)*? \* @module .*\n \*\/\n+/gm, "");
    return DISPOSABLE.test(text) ? `/// <reference lib="esnext.disposable" />\n${text}` : text;
  },
};
