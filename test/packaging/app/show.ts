// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the outcome into the page. The test reads it there.
export async function show(outcome: Promise<unknown>): Promise<void> {
  document.body.textContent = await outcome.then(
    (value) => JSON.stringify(value),
    (error: unknown) => JSON.stringify({ failed: String(error) }),
  );
  document.title = "done";
}
