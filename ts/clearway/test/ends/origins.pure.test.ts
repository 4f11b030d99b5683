// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { originsOf, targetOf } from "../../src/browser/window.js";

test("origins are taken as they are: of sites, extensions and apps, and opaque ones", () => {
  const origins = ["https://example.com", "http://localhost:8080", "chrome-extension://abc", "app://main", "null"];
  expect(originsOf(origins, undefined)).toEqual(origins);
  expect(originsOf("https://example.com", false)).toEqual(["https://example.com"]);
  expect(originsOf(undefined, true)).toBeUndefined();
  expect(["https://example.com", "null"].map(targetOf)).toEqual(["https://example.com", "*"]);
});

test.for([
  ["*", 'a list of origins (dangerouslyAnyOrigin: true accepts every page of the window): origin="*"'],
  ["https://example.com/", 'an origin alone, here "https://example.com": origin="https://example.com/"'],
  ["https://example.com/a?b", 'an origin alone, here "https://example.com": origin="https://example.com/a?b"'],
  ["https://Example.com:443", 'an origin alone, here "https://example.com": origin="https://Example.com:443"'],
  ["https://me@example.com", 'an origin alone, here "https://example.com": origin="https://me@example.com"'],
  ["example.com", 'an origin such as "https://example.com": origin="example.com"'],
  ["file:///a", 'an origin such as "https://example.com": origin="file:///a"'],
  ["data:text/html,", 'an origin such as "https://example.com": origin="data:text/html,"'],
  [undefined, 'an origin such as "https://example.com": origin=undefined'],
  [7, 'an origin such as "https://example.com": origin=7'],
  [[], "at least one origin: origin=[object]"],
] as const)("the origin %s is refused, with what it must be", ([origin, message]) => {
  expect(() => originsOf(origin, undefined)).toThrow(`origin must be ${message}`);
  expect(() => originsOf(origin, undefined)).toThrowError(expect.objectContaining({ code: "invalid-argument" }));
});

test("any origin is only taken by the option that says so, and not beside a list", () => {
  expect(() => originsOf("https://example.com", true)).toThrow("origin must be left out with dangerouslyAnyOrigin");
  expect(() => originsOf(undefined, "yes")).toThrow(
    'dangerouslyAnyOrigin must be true or false: dangerouslyAnyOrigin="yes"',
  );
});
