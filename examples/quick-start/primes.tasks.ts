// SPDX-License-Identifier: MIT OR Apache-2.0
// #region tasks
import { expose } from "clearway/worker";
import { countPrimes } from "./primes.js";

export default expose({ countPrimes });
// #endregion tasks
