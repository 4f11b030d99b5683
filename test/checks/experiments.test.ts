// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { pageWith } from "../../scripts/figures/experiments.mjs";

describe("a page of the experiments", () => {
  test("gets its generated part between its marks, and keeps the rest", () => {
    const page = "# Title\n<!-- a -->\nold\n<!-- /a -->\nrest\n";
    expect(pageWith("new", page, "a")).toBe("# Title\n<!-- a -->\nnew\n<!-- /a -->\nrest\n");
  });

  test("is refused without its marks", () => {
    expect(() => pageWith("part", "# A page", "a")).toThrow("the page has no part between <!-- a --> and <!-- /a -->");
  });
});
