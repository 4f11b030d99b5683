// SPDX-License-Identifier: MIT OR Apache-2.0

/** Longest time of a timer of Node, in milliseconds, which is 24 days. A longer one ends after 1 ms. */
export const timerMsMax = 2 ** 31 - 1;
