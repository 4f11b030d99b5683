// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the outcome into the page. The test reads it there.
import { exercise } from "./functions.js";

const text = await exercise().then(
  (value) => JSON.stringify(value),
  (error: unknown) => JSON.stringify({ failed: String(error) }),
);
document.body.textContent = text;
document.title = "done";
