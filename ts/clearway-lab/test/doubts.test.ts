// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the short lines about the doubts of a run.
import { describe, expect, test } from "vitest";
import { DOUBT_LINES_MAX, doubtLines } from "../src/report/doubts.js";
import { WARNING_CODES, type Warning } from "../src/run/warning.js";

const warning = (code: Warning["code"], message: string): Warning => ({ code, message, next: "do something" });

describe("the lines about doubts", () => {
  test("are none without warnings", () => {
    expect(doubtLines([])).toEqual([]);
  });

  test("leave out the details behind the colon", () => {
    expect(doubtLines([warning("few-cores", "2 cores: a worker and the main thread share them.")])).toEqual([
      "2 cores.",
    ]);
  });

  test("count the warnings of one kind", () => {
    const noisy = (host: string) => warning("clock-coarse", `The clock of ${host} steps by 100 us: that is much.`);
    expect(doubtLines([noisy("node"), noisy("jvm")])).toEqual([
      "The clock of node steps by 100 us (and 1 more like this).",
    ]);
    const note = warning("mechanism-note", "pool/x on node: it did not close.");
    expect(doubtLines([note, note, note])).toEqual(["3 notes about mechanisms."]);
  });

  test("keep the reason why a host could not run", () => {
    const message = "jvm could not run: there is no JDK: install one.";
    expect(doubtLines([warning("host-unavailable", message)])).toEqual([message]);
  });

  test("are five at most, the last of which counts the other kinds", () => {
    const lines = doubtLines(WARNING_CODES.map((code) => warning(code, `${code}: more.`)));
    expect(lines).toHaveLength(DOUBT_LINES_MAX);
    expect(lines.at(-1)).toBe(`${WARNING_CODES.length - 4} more kinds of doubt, listed in report.html.`);
  });
});
