// SPDX-License-Identifier: MIT OR Apache-2.0
// A link in a run's folder, which another user of the folder may have made, leads no command to a foreign file.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { answered } from "./answered.js";
import { BuiltCli } from "./built-cli.js";

describe("a command", () => {
  const cli = new BuiltCli();
  afterAll(() => cli.remove());

  test("writes through no link: report", async () => {
    mkdirSync(cli.path("linked"));
    writeFileSync(cli.path("linked/results.json"), JSON.stringify(answered()));
    writeFileSync(cli.path("foreign"), "theirs");
    symlinkSync(cli.path("foreign"), cli.path("linked/report.html.part"));
    expect((await cli.run(["report", "linked"])).code).toBe(0);
    rmSync(cli.path("linked/report.html"));
    symlinkSync(cli.path("gone"), cli.path("linked/report.html"));
    expect(await cli.run(["report", "linked"])).toMatchObject({ code: 1, stderr: expect.stringContaining("ELOOP") });
    expect(existsSync(cli.path("gone"))).toBe(false);
    expect(readFileSync(cli.path("foreign"), "utf8")).toBe("theirs");
  });
});
