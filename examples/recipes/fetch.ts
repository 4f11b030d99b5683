// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes.md for data that workers fetch. A server of its own has the data: a list, an image, and an answer that never ends.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pool } from "clearway";

const people = JSON.stringify(
  Array.from({ length: 100_000 }, (_, n) => ({ name: `person ${n}`, city: n === 7 ? "Turin" : "Oslo" })),
);
const server = createServer((request, response) => {
  if (request.url === "/people.json") response.end(people);
  else if (request.url === "/photo.grey") response.end(new Uint8Array(8_000_000));
  else {
    server.emit("waiting");
    response.on("close", () => server.emit("left"));
  }
});
await once(server.listen(0, "127.0.0.1"), "listening");
const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

await using work = pool<typeof import("./fetch.tasks.js")>(new URL("./fetch.tasks.js", import.meta.url));

// #region fetch
console.log(await work.call.peopleOf(`${site}/people.json`, "Turin")); // [ { name: 'person 7', city: 'Turin' } ]

const small = await work.call.thumbnail(`${site}/photo.grey`);
const { movedBytes, copiedBytes } = work.stats().ledger.fromWorkers;
console.log(small.length, movedBytes, copiedBytes); // 2000000 2000000 0
// #endregion fetch

const [waiting, left] = [once(server, "waiting"), once(server, "left")];
// #region fetch-cancel
const leaving = new AbortController();
const slow = work.with({ signal: leaving.signal }).call.thumbnail(`${site}/endless`);
await waiting;
leaving.abort(new Error("the user left"));
await slow.catch((error) => console.log(error.message)); // the user left
await left; // the server, too, sees that the request has ended
// #endregion fetch-cancel

server.closeAllConnections();
server.close();
