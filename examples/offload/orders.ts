// SPDX-License-Identifier: MIT OR Apache-2.0
/** Parses lines of `name,amount`. */
export const parse = (text: string): { name: string; amount: number }[] =>
  text.split("\n").map((line) => {
    const [name = "", amount] = line.split(",");
    return { name, amount: Number(amount) };
  });
