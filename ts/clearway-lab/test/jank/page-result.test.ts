// SPDX-License-Identifier: MIT OR Apache-2.0
// The record of a run in a browser without a trace, whose page did not answer at the end.
import { expect, test } from "vitest";
import type { PageDocument } from "../../src/jank/document-log.js";
import { pageRun } from "../../src/jank/page-result.js";

const document = (id: string, wallMs: number): PageDocument => ({
  ...{ id, url: `http://a.test/${id}`, beginMs: 5, wallMs, stalls: [], scripts: [], report: undefined, heardMs: 0 },
});

const unanswered = (silentMs: [number, number]) =>
  pageRun({
    end: { outcome: "timeout", message: "the limit of 30 s was reached" },
    documents: [document("first", 100_000), document("second", 101_000)],
    ...{ starts: [], events: [], isTraced: false, silentMs, loaded: new Set<string>(), local: false, notes: [] },
  });

test("a page's silence until the end is an open stall of its last document", async () => {
  const { stalls, figures, notes } = await unanswered([101_500, 105_500]);
  expect(stalls).toMatchObject([{ startMs: 1500, lengthMs: 4000, open: true, cause: { kind: "unknown" } }]);
  expect(figures.longestMs).toBe(4000);
  expect(notes).toContain(
    "2 of 2 documents ended without a report: their last stall is unknown, or known from the page's silence alone",
  );
});

test("the time since the last answer of a page that answers is no stall", async () => {
  expect((await unanswered([105_480, 105_500])).stalls).toEqual([]);
});
