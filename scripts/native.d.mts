// SPDX-License-Identifier: MIT OR Apache-2.0
export const plugins: Record<"c" | "rust", { example: string; misbehave: string }>;
/** The library with which languages other than JavaScript load plugins. */
export const libclearway: string;
export const toolchains: { c: boolean; rust: boolean };
