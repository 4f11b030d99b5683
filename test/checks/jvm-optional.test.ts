// SPDX-License-Identifier: MIT OR Apache-2.0
// The optional libraries of the JVM's artifacts: only the packages for them may need them, and the docs name the versions that are tested.
import { expect, test } from "vitest";
import { files as sources } from "../../scripts/sources.mjs";

const files = sources as (pattern: RegExp) => { path: string; text: string }[];

test("a class of an artifact imports coroutines, RxJava or Micrometer only in the package for them", () => {
  const classes = files(/^jvm\/(channel|executor|meter|native)\/src\/main\/.*\.(kt|java)$/);
  const needs = classes
    .filter(({ text }) => /^import (?:kotlinx\.coroutines|io\.reactivex|io\.micrometer)\b/m.test(text))
    .map(({ path }) => path);
  expect(needs.length).toBeGreaterThan(3);
  expect(needs.filter((path) => !/\/(?:coroutines|rxjava3|micrometer|metrics)\//.test(path))).toEqual([]);
});

test("the docs and examples name the versions of the optional libraries that the tests use", () => {
  const poms = files(/^jvm\/(executor\/)?pom\.xml$/).map(({ text }) => text);
  const versions = new Map([...poms.join("").matchAll(/<(\w+)\.version>([\d.]+)<\//g)].map((m) => [m[1], m[2]]));
  const pages = files(/^docs\/jvm.*\.md$|^examples\/jvm-[\w-]+\/pom\.xml$/);
  for (const [name, pattern] of [
    ["coroutines", /kotlinx-coroutines-[\w-]+(?::|<\/artifactId>\s*<version>)([\d.]*\d)/g],
    ["rxjava", /rxjava:([\d.]*\d)/g],
    ["micrometer", /micrometer-core:([\d.]*\d)/g],
  ] as const) {
    const found = pages.flatMap(({ path, text }) => [...text.matchAll(pattern)].map((m) => `${path}: ${m[1]}`));
    expect(found.length, name).toBeGreaterThan(0);
    expect(found.filter((each) => !each.endsWith(`: ${versions.get(name)}`))).toEqual([]);
  }
});
