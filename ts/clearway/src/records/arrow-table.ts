// SPDX-License-Identifier: MIT OR Apache-2.0

// Whoever has not installed the optional package must be able to compile against this all the same.
/** A table of the optional package `apache-arrow`; where that is not installed, anything. */
// biome-ignore lint/suspicious/noTsIgnore: only an error where the package is missing
/** @ts-ignore: an optional peer */
export type ArrowTable = import("apache-arrow").Table;
