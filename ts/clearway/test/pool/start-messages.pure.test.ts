// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { startFailure } from "../../src/pool/worker/worker.js";

test.each(["there is no file a.js", "a policy refused it."])(
  "the message for %s has one full stop before the hint",
  (why) => {
    expect(startFailure(why).message).toMatch(/[a-z]\. Is the URL right/);
  },
);
