// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, move } from "clearway";
// #region first
import { offload } from "clearway/offload";
import { countPrimes } from "./primes.js";

const primes = await offload((limit: number) => countPrimes(limit), 1_000_000);
console.log(primes); // 78498
// #endregion first

// #region capture
const factor = 3;
const results = await Promise.all([1, 2, 3].map((n) => offload(() => n * factor)));
console.log(results); // [ 3, 6, 9 ]

// #endregion capture

// #region imported
import { parse } from "./orders.js";

console.log(await offload(parse, "pen,2\ncup,7")); // [ { name: 'pen', amount: 2 }, { name: 'cup', amount: 7 } ]
// #endregion imported

// #region move
const pixels = new Uint8Array(1_000_000);
const inverted = await offload((bytes: Uint8Array) => bytes.map((byte) => 255 - byte), move(pixels));
console.log(pixels.length, inverted[0]); // 0 255
// #endregion move

// #region stream
const squares = offload(function* (count: number) {
  for (let n = 1; n <= count; n++) yield n * n;
}, 3);
for await (const square of squares) console.log(square); // 1, 4, 9
// #endregion stream

// #region options
const abort = new AbortController();
const search = offload.with({ signal: abort.signal, priority: 1 })((limit: number) => countPrimes(limit), 50_000_000);
abort.abort(new Error("the user left"));
await search.catch((error: Error) => console.log(error.message)); // the user left
// #endregion options

// #region close
await offload.close();
// #endregion close

// What happens to a function that the plugin cannot see:
const hidden = { offload };
await hidden.offload(() => 1).catch((error: ClearwayError) => console.log(error.code)); // invalid-argument
