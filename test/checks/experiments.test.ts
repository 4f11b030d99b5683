// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { pageWith, partsOf } from "../../scripts/figures/experiments.mjs";

describe("a page of the experiments", () => {
  test("gets its generated part between its marks, and keeps the rest", () => {
    const page = "# Title\n<!-- a -->\nold\n<!-- /a -->\nrest\n";
    expect(pageWith("new", page, "a")).toBe("# Title\n<!-- a -->\nnew\n<!-- /a -->\nrest\n");
  });

  test("is refused without its marks", () => {
    expect(() => pageWith("part", "# A page", "a")).toThrow("the page has no part between <!-- a --> and <!-- /a -->");
  });

  test("has one experiment, and the first page lists all", () => {
    const markdown = "A run.\n\n## 1. Rows\n\n**Why?**\n\n### A table\n\n## 2. Fills\n\n**How?**\n\ntext";
    expect(partsOf(markdown)).toEqual([
      [
        "docs/experiments.md",
        "experiments",
        "A run.\n\n- [1. Rows](experiments/1-students.md): Why?\n- [2. Fills](experiments/2-memset.md): How?",
      ],
      ["docs/experiments/1-students.md", "experiment", "**Why?**\n\n## A table"],
      ["docs/experiments/2-memset.md", "experiment", "**How?**\n\ntext"],
    ]);
  });
});
