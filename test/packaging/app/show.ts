// SPDX-License-Identifier: MIT OR Apache-2.0
// Leaves the outcome where the test, which drives the page, can read it.
export async function show(outcome: Promise<unknown>): Promise<void> {
  document.body.textContent = await outcome.then(
    (value) => JSON.stringify(value),
    (error: unknown) => JSON.stringify({ failed: String(error) }),
  );
  document.title = "done";
}
