// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses a JSON body, given as text or as an address, and posts the objects.
import { parent } from "#lab-host";
import { fetchStudents } from "../isolate/fetch-json.js";

const main = parent();

main.listen(async (message) => {
  const { text, url } = message as { text?: string; url?: string };
  main.post(text === undefined ? await fetchStudents(url!) : JSON.parse(text));
});
