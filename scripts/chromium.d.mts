// SPDX-License-Identifier: MIT OR Apache-2.0
export function chromiumPath(): string;
export const chromiumFlags: string[];
