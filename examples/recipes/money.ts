// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CrossesAs, type crossesAs, registerTransfer } from "clearway/transfer";

// #region transfer-class
export class Money implements CrossesAs<Money> {
  declare readonly [crossesAs]: Money; // for the compiler: callers and tasks receive a Money, not only its data
  readonly #cents: number;

  constructor(cents: number) {
    this.#cents = cents;
  }

  get cents(): number {
    return this.#cents;
  }

  toString(): string {
    return (this.#cents / 100).toFixed(2);
  }
}

registerTransfer("Money", {
  class: Money,
  serialize: (money) => [money.cents, []], // a value that can be cloned, and what moves with it
  deserialize: (cents: number) => new Money(cents),
});
// #endregion transfer-class
