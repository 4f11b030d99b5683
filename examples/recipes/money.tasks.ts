// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";
import { Money } from "./money.js";

export default expose({
  // #region transfer-task
  split(total: Money, parts: number) {
    const each = Math.floor(total.cents / parts);
    return Array.from({ length: parts }, (_, at) => new Money(at === 0 ? total.cents - each * (parts - 1) : each));
  },
  // #endregion transfer-task
});
