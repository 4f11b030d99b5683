// SPDX-License-Identifier: MIT OR Apache-2.0
// #region tasks
import { expose } from "clearway/worker";

function countPrimes(limit: number) {
  let count = 0;
  for (let n = 2; n < limit; n++) {
    let d = 2;
    while (d * d <= n && n % d !== 0) d++;
    if (d * d > n) count++;
  }
  return count;
}

export default expose({ countPrimes });
// #endregion tasks
