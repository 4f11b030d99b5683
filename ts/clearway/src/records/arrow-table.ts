// SPDX-License-Identifier: MIT OR Apache-2.0

// Applications' code must compile against this type even if the optional package is not installed.
/** A table of the optional package `apache-arrow`. The type is `any` if that package is not installed. */
// biome-ignore lint/suspicious/noTsIgnore: only an error where the package is missing
/** @ts-ignore: an optional peer */
export type ArrowTable = import("apache-arrow").Table;
