// SPDX-License-Identifier: MIT OR Apache-2.0
// The platform's features that the library uses and that not every engine has. docs/browsers.md prints them; the tests compare them with each
// engine: ts/clearway/test/host/features.browser.test.ts.

const observes = (type) => PerformanceObserver.supportedEntryTypes.includes(type);

/** Each: its name, whether Chromium, Firefox and WebKit have it, how a page finds out, and what the library does without it. */
export const features = [
  {
    name: "web streams that can move to another thread",
    engines: { chromium: true, firefox: true, webkit: false },
    has: () => {
      const stream = new ReadableStream();
      try {
        structuredClone(stream, { transfer: [stream] });
        return true;
      } catch {
        return false;
      }
    },
    without:
      "A stream as an argument works: the pool reads it. A stream inside a value, or as a result, fails with `not-cloneable`",
  },
  {
    name: "`for await` over web streams",
    engines: { chromium: true, firefox: true, webkit: false },
    has: () => Symbol.asyncIterator in ReadableStream.prototype,
    without: "Clearway reads such a stream by its reader",
  },
  {
    name: "`Symbol.dispose` and `Symbol.asyncDispose`",
    engines: { chromium: true, firefox: true, webkit: false },
    has: () => "dispose" in Symbol && "asyncDispose" in Symbol,
    without: '`Symbol.for("Symbol.asyncDispose")` takes its place, as in compiled `using`',
  },
  {
    name: "stacks with the functions that await",
    engines: { chromium: true, firefox: false, webkit: false },
    has: async () => {
      const inner = async () => {
        await undefined;
        return new Error("frames").stack;
      };
      const awaiting = async () => (await inner()).includes("awaiting");
      return awaiting();
    },
    without:
      "The error of a call has the caller's stack only if the call is a stream, `map` or `broadcast`, or comes before the first worker is ready",
  },
  {
    name: "causes of errors in structured clones",
    engines: { chromium: true, firefox: true, webkit: false },
    has: () => structuredClone(new Error("caused", { cause: 1 })).cause === 1,
    without: "The cause of an error inside a value arrives as a text. An error that a task throws keeps its causes",
  },
  {
    name: "`performance.memory`",
    engines: { chromium: true, firefox: false, webkit: false },
    has: () => "memory" in performance,
    without: "`recycle.heapMb` has no effect",
  },
  {
    name: "long animation frames",
    engines: { chromium: true, firefox: false, webkit: false },
    has: () => observes("long-animation-frame"),
    without: "The meter finds stalls and frames, but names no scripts",
  },
  {
    name: "long tasks",
    engines: { chromium: true, firefox: false, webkit: false },
    has: () => observes("longtask"),
    without: "The meter has the edges of a stall from its watcher alone",
  },
  {
    name: "locks (secure contexts)",
    engines: { chromium: true, firefox: true, webkit: true },
    has: () => "locks" in navigator,
    without: "A worker that ends by other means than `close()` is not noticed",
  },
  {
    name: "base64 of byte arrays",
    engines: { chromium: true, firefox: true, webkit: true },
    has: () => "fromBase64" in Uint8Array,
    without: "The extension's transport uses `btoa` and `atob`",
  },
];

const mark = (has) => (has ? "yes" : "no");

/** Returns the features in the form in which docs/browsers.md prints them. */
export function featuresTable() {
  const rows = features.map(({ name, engines: { chromium, firefox, webkit }, without }) =>
    [name, mark(chromium), mark(firefox), mark(webkit), without].join(" | "),
  );
  return [
    "| | Chromium | Firefox | WebKit | without it |",
    "|---|---|---|---|---|",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}
