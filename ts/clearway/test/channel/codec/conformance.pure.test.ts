// SPDX-License-Identifier: MIT OR Apache-2.0
import { codecErrorCodes } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { casesOf, judge } from "../../../../../conformance/cases.mjs";
import corpus from "../../../../../conformance/corpus.json" with { type: "json" };
import { answer, answerLine } from "../../../../../conformance/ts/answer.mjs";
import vectors from "../../../../../conformance/vectors.json" with { type: "json" };

describe("the vectors and the corpus of every language (conformance/)", () => {
  const cases = casesOf(vectors.vectors, corpus.messages);

  test("get the expected answers in both directions, and every truncated vector fails with a typed error and an offset", () => {
    const wrong = cases.flatMap((each) => {
      const problem = judge(each, answer(each.ask));
      return problem === undefined ? [] : [`${each.ask.id}: ${problem}`];
    });
    expect(wrong).toEqual([]);
    expect(cases.length).toBeGreaterThan(1000);
  });

  test("make the check fail, with the case's name, when an answer is wrong", () => {
    const [first] = cases;
    expect(judge(first!, { id: first!.ask.id, value: true })).toContain("expected null");
    expect(judge(first!, { id: "another", value: null })).toContain("another");
    for (const each of cases) expect(judge(each, { id: each.ask.id, hex: "5" })).toBeDefined();
  });

  test("use only error codes from the list of codes", () => {
    const named = corpus.messages.flatMap((each) => ("error" in each && each.error ? [each.error.code] : []));
    expect(codecErrorCodes).toEqual(expect.arrayContaining([...new Set(named)]));
  });
});

test("a malformed case is answered with invalid-argument", () => {
  const refused = (id: string | null) => JSON.stringify({ id, error: { code: "invalid-argument", offset: 0 } });
  expect(answerLine("{")).toBe(refused(null));
  expect(answerLine('{"id":"1","codec":"standard","op":"decode","hex":"0"}')).toBe(refused("1"));
  expect(answerLine('{"id":"1","codec":"toString","op":"decode","hex":""}')).toBe(refused("1"));
  expect(answerLine('{"id":"1","codec":"standard","op":"guess"}')).toBe(refused("1"));
});
