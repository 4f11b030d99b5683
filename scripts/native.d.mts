// SPDX-License-Identifier: MIT OR Apache-2.0
export const plugins: Record<"c" | "rust", { example: string; misbehave: string }>;
export const toolchains: { c: boolean; rust: boolean };
export const libclearway: string;
